package notification

import (
	"context"
	"crypto/ecdh"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/SherClockHolmes/webpush-go"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/webpage"
)

// PushKeys are the keys of a browser's subscription, in base64 for URLs: messages are
// encrypted with them, so that the push service cannot read them (RFC 8291).
type PushKeys struct {
	P256dh string `json:"p256dh"` // public key of the browser
	Auth   string `json:"auth"`
}

// valid reports whether the keys are a point of P-256 and 16 bytes (RFC 8291, 3).
func (k PushKeys) valid() bool {
	point, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(k.P256dh, "="))
	if err != nil {
		return false
	}
	if _, err := ecdh.P256().NewPublicKey(point); err != nil {
		return false
	}
	auth, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(k.Auth, "="))
	return err == nil && len(auth) == 16
}

// PushKeyStore stores the key pair by which push services recognize this installation
// (VAPID, RFC 8292). Subscriptions of browsers are bound to it.
type PushKeyStore interface {
	// PushKey returns the stored key pair, or stores the given one if there is none. A nil
	// pair only reads; then public is empty if there is none.
	PushKey(ctx context.Context, create *SealedPushKey) (SealedPushKey, error)
}

// SealedPushKey is a key pair with its private key sealed.
type SealedPushKey struct {
	Public string
	Sealed []byte
}

// pushSecret binds the sealed private key to its purpose.
const pushSecret = "push-key"

// Push sends notifications to browsers.
type Push struct {
	Store  PushKeyStore
	Sealer *secret.Sealer
	// PublicURL is the contact that push services are given (RFC 8292 section 2.1).
	PublicURL string
}

// PublicKey returns the public key that browsers subscribe with.
func (p *Push) PublicKey(ctx context.Context) (string, error) {
	stored, err := p.key(ctx)
	return stored.Public, err
}

// key returns the key pair, which is created once.
func (p *Push) key(ctx context.Context) (SealedPushKey, error) {
	stored, err := p.Store.PushKey(ctx, nil)
	if err != nil || stored.Public != "" {
		return stored, err
	}
	private, public, err := webpush.GenerateVAPIDKeys()
	if err != nil {
		return stored, err
	}
	sealed, err := p.Sealer.Seal(secret.NewText(private), pushSecret)
	if err != nil {
		return stored, err
	}
	return p.Store.PushKey(ctx, &SealedPushKey{public, sealed})
}

// subject is the contact of the operator (RFC 8292, 2.1).
func (p *Push) subject() string {
	u, err := url.Parse(p.PublicURL)
	if err != nil || u.Scheme == "https" {
		return p.PublicURL
	}
	return "dateline@" + u.Hostname() // the library makes it a mailto URI
}

const (
	pushTTL     = 24 * 60 * 60 // seconds that a push service stores a message for a browser that is offline
	maxPushText = 1000         // characters; a message has at most 4,096 bytes (RFC 8291, 4)
)

// sending returns what encrypts a message and sends it to the push service of a browser.
func (p *Push) sending(
	ctx context.Context, d Destination, text []byte,
) (send func(*http.Client) (*http.Response, error), err error) {
	stored, err := p.key(ctx)
	if err != nil {
		return nil, err
	}
	private, err := p.Sealer.Open(stored.Sealed, pushSecret)
	if err != nil {
		return nil, err
	}
	return func(client *http.Client) (*http.Response, error) {
		return webpush.SendNotificationWithContext(ctx, text, &webpush.Subscription{
			Endpoint: d.URL, Keys: webpush.Keys{P256dh: d.Keys.P256dh, Auth: d.Keys.Auth},
		},
			&webpush.Options{
				HTTPClient: client, Subscriber: p.subject(), TTL: pushTTL, Urgency: webpush.UrgencyHigh,
				VAPIDPublicKey: stored.Public, VAPIDPrivateKey: private.Reveal(),
			})
	}, nil
}

// pushAction is a button of a notification in a browser.
type pushAction struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// asPush renders a message as web/push.js shows it. Its ID replaces a repeated one.
func (o outgoing) asPush(
	language webpage.Language, base string, decide func(item int64) (published, absent string, err error),
) ([]byte, error) {
	look := webpage.Preferences{Language: language}
	out := struct {
		ID      string       `json:"id"`
		Title   string       `json:"title"`
		Body    string       `json:"body"`
		URL     string       `json:"url"`
		Actions []pushAction `json:"actions,omitempty"`
	}{ID: o.id.String(), Title: cut(o.message.Title, maxExcerpt), URL: strings.TrimSuffix(base, "/") + "/app/"}
	var lines []string
	for _, l := range o.lines {
		if !l.url && l.text != "" {
			lines = append(lines, l.text)
		}
	}
	if len(o.message.Entries) == 1 {
		e := o.message.Entries[0]
		lines = e.Lines
		if e.URL != "" {
			out.URL = e.URL
		}
		if e.Item != 0 {
			published, absent, err := decide(e.Item)
			if err != nil {
				return nil, err
			}
			out.Actions = []pushAction{
				{look.Translate(webpage.Text{EN: "Published", VI: "Đã đăng"}), published},
				{look.Translate(webpage.Text{EN: "Send again", VI: "Gửi lại"}), absent},
			}
		}
	}
	out.Body = cut(strings.Join(lines, "\n"), maxPushText)
	return json.Marshal(out)
}
