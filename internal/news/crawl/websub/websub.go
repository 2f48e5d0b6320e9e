// Package websub subscribes to the hubs that feeds name (W3C WebSub, the subscriber's
// side), so that new articles are known as soon as they are published. Polling continues:
// a hub only makes the crawl faster.
//
// The crawler notes hubs (Subscriptions), a schedule requests and renews subscriptions
// (Subscriber), and the API serves the callback (Callback). All state is a row per feed in
// the database. Everything may be repeated: a request renews the same subscription, and a
// delivery only adds addresses of the feed's own site to the frontier, where the crawler
// fetches them under its usual rules.
package websub

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/ssrf"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
)

// CallbackPath is the path of callbacks; a token follows.
const CallbackPath = "/websub/"

// Subscription is that of a feed to a hub.
type Subscription struct {
	crawl.PushedFeed
	SubscriptionID uuid.UUID
	Domain         string
	Sealed         []byte // the key
	CallbackHash   []byte // of the callback's token
	Failures       int    // in a row
}

// sealName binds a sealed key to its row.
func sealName(id uuid.UUID) string { return "websub/" + id.String() }

// key is random. The callback's token and the secret of signatures are derived from it, so
// that a renewal sends the same ones.
type key []byte

func newKey() key {
	k := make(key, 32)
	_, _ = rand.Read(k) // never fails, see crypto/rand
	return k
}

func (k key) derive(purpose string) []byte {
	mac := hmac.New(sha256.New, k)
	_, _ = mac.Write([]byte(purpose))
	return mac.Sum(nil)
}

// token is the last part of the callback's path.
func (k key) token() string { return base64.RawURLEncoding.EncodeToString(k.derive("callback")) }

// secret signs deliveries. A hub accepts less than 200 bytes (W3C WebSub, section 5.1).
func (k key) secret() string { return hex.EncodeToString(k.derive("secret")) }

// hashOf returns what is stored of a token.
func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

func openKey(sealer *secret.Sealer, s Subscription) (key, error) {
	plain, err := sealer.Open(s.Sealed, sealName(s.SubscriptionID))
	if err != nil {
		return nil, err
	}
	return hex.DecodeString(plain.Reveal())
}

// FeedStore stores which feeds name hubs.
type FeedStore interface {
	PushedFeeds(ctx context.Context, domain int, limit int) ([]crawl.PushedFeed, error)
	// UpsertHubSubscription stores a new subscription, which replaces one to another hub or
	// topic.
	UpsertHubSubscription(ctx context.Context, s Subscription) error
	DeleteHubSubscription(ctx context.Context, feed crawl.URLKey) error
	DistrustHub(ctx context.Context, feed crawl.URLKey) error
}

// Subscriptions are those that the crawler finds in feeds.
type Subscriptions struct {
	Store  FeedStore
	Sealer *secret.Sealer
	Guard  *ssrf.Guard
}

// maxFeeds bounds the subscriptions of a domain that are loaded.
const maxFeeds = 1000

// PushedFeeds returns the feeds of a domain with a subscription.
func (s *Subscriptions) PushedFeeds(ctx context.Context, domain int) ([]crawl.PushedFeed, error) {
	return s.Store.PushedFeeds(ctx, domain, maxFeeds)
}

// NoteHubs subscribes to a hub of a feed, or ends the subscription of a feed that names no
// acceptable hub any more: its deliveries are then refused.
func (s *Subscriptions) NoteHubs(
	ctx context.Context, feed crawl.URLKey, address string, links discover.HubLinks,
) error {
	hubs := acceptable(s.Guard, links)
	if len(hubs) == 0 {
		return s.Store.DeleteHubSubscription(ctx, feed)
	}
	return s.subscribe(ctx, feed, address, hubs[0], links.Self)
}

func (s *Subscriptions) subscribe(ctx context.Context, feed crawl.URLKey, address, hub, topic string) error {
	id, k := uuid.Must(uuid.NewV7()), newKey()
	sealed, err := s.Sealer.Seal(secret.NewText(hex.EncodeToString(k)), sealName(id))
	if err != nil {
		return err
	}
	return s.Store.UpsertHubSubscription(ctx,
		Subscription{
			SubscriptionID: id, Sealed: sealed, CallbackHash: hashOf(k.token()),
			PushedFeed: crawl.PushedFeed{URLKey: feed, FeedURL: address, Hub: hub, Topic: topic},
		})
}

// Distrust polls a feed at its normal pace again.
func (s *Subscriptions) Distrust(ctx context.Context, feed crawl.URLKey) error {
	return s.Store.DistrustHub(ctx, feed)
}

// acceptable returns the hubs of a feed to which a secret may be sent: those with HTTPS
// (W3C WebSub, section 5.1) in public networks, and those that the operator trusts. The
// hub fetches the topic, so it must be public as well.
func acceptable(guard *ssrf.Guard, links discover.HubLinks) []string {
	if !isPublic(guard, links.Self, "http", "https") {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(links.Hubs), func(hub string) bool { return !isPublic(guard, hub, "https") })
}

const maxAddress = 2000

func isPublic(guard *ssrf.Guard, address string, schemes ...string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.User != nil || len(address) > maxAddress {
		return false
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if guard.Trusts(net.JoinHostPort(u.Hostname(), port)) {
		return u.Scheme == "http" || u.Scheme == "https"
	}
	return slices.Contains(schemes, u.Scheme) && (port == "80" || port == "443") && guard.CheckHost(u.Hostname()) == nil
}

// Leases.
const (
	requestedLease = 10 * 24 * time.Hour
	minLease       = time.Minute
	maxLease       = 30 * 24 * time.Hour
	minRenewal     = 5 * time.Minute    // between two requests, however short the lease is
	verifyWithin   = 24 * time.Hour     // after a request
	repeatWithin   = 5 * time.Minute    // after a verification, for a hub that did not get the answer
	retryDenied    = 7 * 24 * time.Hour // a hub may change its mind
	deliveringFor  = 24 * time.Hour     // after a delivery, the feed is polled less often
	maxLastError   = 300                // characters
)

// renewAfter is when a subscription is renewed: after two thirds of its lease.
func renewAfter(lease time.Duration) time.Duration { return max(lease/3*2, minRenewal) }
