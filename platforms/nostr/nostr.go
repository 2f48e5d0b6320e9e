// Package nostr publishes notes and articles to Nostr relays, and files to Blossom servers.
//
// The protocol is documented at https://github.com/nostr-protocol/nips, Blossom at
// https://github.com/hzrd149/blossom. What relays answer beyond that was observed on khatru
// (eventstore 0.16.2), rust-nostr's relay (nostr-sdk 0.45.1) and nostr-relay 1.14.
//
// A post is one signed event. Its id is the hash of its content and is known before anything
// is sent, so that relays can be asked for it, and sending it again makes no second post.
package nostr

import (
	"cmp"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// Name is the network's name in the API and the database.
const Name = "nostr"

const title = "Nostr"

// Options configures the adapter. The zero value works.
type Options struct {
	// Relays are those of accounts that name none, and of the search for an account's own
	// list; default relay.damus.io, nos.lol and relay.primal.net.
	Relays      []string `json:"relays"`
	MediaServer string   `json:"media_server"` // a Blossom server; default https://blossom.primal.net
	Web         string   `json:"web"`          // permalinks begin with it; default https://njump.me/
	// PlainHTTP lists host:port of relays and media servers that can be called without
	// TLS, in addition to loopback addresses.
	PlainHTTP []string `json:"plain_http"`

	MaxCharacters int   `json:"max_characters"`  // default 20,000
	MaxEventBytes int   `json:"max_event_bytes"` // of a post with all that belongs to it; default 60,000
	MaxMedia      int   `json:"max_media"`       // default 20
	MaxImageBytes int64 `json:"max_image_bytes"` // default 20 MiB
	MaxVideoBytes int64 `json:"max_video_bytes"` // default 100 MiB

	Sandbox       string          `json:"-"` // base URL of the fake network (sandbox); empty: none
	AnswerTimeout time.Duration   `json:"-"` // of a relay, from connecting to its answer; 0: 15 s
	UploadTimeout time.Duration   `json:"-"` // timeout of one upload; 0: 15 min
	Pauses        []time.Duration `json:"-"` // before relays are tried again; nil: 1 s, 4 s
}

func (o *Options) setDefaults() {
	if len(o.Relays) == 0 {
		o.Relays = []string{"wss://relay.damus.io", "wss://nos.lol", "wss://relay.primal.net"}
	}
	o.MediaServer = cmp.Or(o.MediaServer, "https://blossom.primal.net")
	o.Web = cmp.Or(o.Web, "https://njump.me/")
	// Relays accept events of 64 KiB and more (nostr-sdk 0.45.1: 65,536 bytes).
	o.MaxCharacters, o.MaxEventBytes = cmp.Or(o.MaxCharacters, 20_000), cmp.Or(o.MaxEventBytes, 60_000)
	o.MaxMedia = cmp.Or(o.MaxMedia, 20)
	o.MaxImageBytes, o.MaxVideoBytes = cmp.Or(o.MaxImageBytes, 20<<20), cmp.Or(o.MaxVideoBytes, 100<<20)
	o.AnswerTimeout = cmp.Or(o.AnswerTimeout, 15*time.Second)
	o.UploadTimeout = cmp.Or(o.UploadTimeout, 15*time.Minute)
	if o.Pauses == nil {
		o.Pauses = []time.Duration{time.Second, 4 * time.Second}
	}
}

// Nostr implements network.Network, and connects accounts with a private key or the address
// of a signer that has it.
type Nostr struct {
	client  *http.Client
	calls   *call.Caller
	options Options
}

var (
	_ network.Network         = (*Nostr)(nil)
	_ network.Preparer        = (*Nostr)(nil)
	_ network.FormConnector   = (*Nostr)(nil)
	_ network.Identifier      = (*Nostr)(nil)
	_ network.LimitsDefaulter = (*Nostr)(nil)
	_ network.Measurer        = (*Nostr)(nil)
	_ network.OptionParser    = (*Nostr)(nil)
	_ network.Previewer       = (*Nostr)(nil)
)

// New returns the adapter. client should refuse private addresses (call.NewClient), because
// users enter relays and media servers.
func New(client *http.Client, options Options) *Nostr {
	options.setDefaults()
	own := *client
	own.Timeout = 0 // also ends connections to relays
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Nostr{client: &own, calls: call.New(client), options: options}
}

// Name returns "nostr".
func (*Nostr) Name() string { return Name }

// The settings of an account.
const (
	settingRelays      = "relays"       // addresses, separated by spaces
	settingMediaServer = "media_server" // address of a Blossom server
)

const maxRelays = 10

// relaysOf returns the relays of an account.
func (n *Nostr) relaysOf(account network.Account) ([]string, error) {
	if account.BaseURL != "" && account.BaseURL == n.options.Sandbox {
		return []string{"ws" + strings.TrimPrefix(account.BaseURL, "http") + "/relay"}, nil
	}
	list := addressesIn(account.Settings[settingRelays])
	if len(list) == 0 {
		list = n.options.Relays
	}
	return n.parseRelays(list)
}

// addressesIn splits what users enter.
func addressesIn(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,;\t\r\n", r) })
}

func (n *Nostr) parseRelays(list []string) (relays []string, err error) {
	for _, address := range list {
		if !strings.Contains(address, "://") {
			address = "wss://" + address
		}
		relay, err := n.parseAddress(address, "wss", fieldRelays)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(relays, relay) {
			relays = append(relays, relay)
		}
	}
	if len(relays) > maxRelays {
		return nil, rejected(fieldRelays, "too_many_relays", "Enter at most 10 relays.")
	}
	return relays, nil
}

// mediaServerOf returns the Blossom server of an account, without a slash at its end.
func (n *Nostr) mediaServerOf(account network.Account) (string, error) {
	if account.BaseURL != "" && account.BaseURL == n.options.Sandbox {
		return account.BaseURL, nil
	}
	server := cmp.Or(account.Settings[settingMediaServer], n.options.MediaServer)
	return n.parseAddress(server, "https", fieldMediaServer)
}

// parseAddress validates the address of a relay (scheme wss) or a media server (https).
// Plain ws and http are allowed on the same hosts as for other networks.
func (n *Nostr) parseAddress(address, scheme, field string) (string, error) {
	tail, isPlain := strings.CutPrefix(address, strings.TrimSuffix(scheme, "s")+"://")
	if !isPlain {
		var ok bool
		if tail, ok = strings.CutPrefix(address, scheme+"://"); !ok {
			return "", rejected(field, "bad_address", "The address must begin with "+scheme+"://.")
		}
	}
	web := map[bool]string{true: "http://", false: "https://"}[isPlain] + tail
	u, err := article.Sites{PlainHTTP: n.options.PlainHTTP, Sandbox: n.options.Sandbox}.Parse(web)
	if err == nil && !isPlain {
		u.Host = strings.TrimSuffix(u.Host, ":443")
	}
	if err != nil || u.RawQuery != "" {
		return "", rejected(field, "bad_address", "Enter a complete address that begins with "+scheme+"://.")
	}
	return strings.TrimSuffix(scheme, "s") + strings.TrimPrefix(u.String(), "http"), nil
}

func rejected(field, code, text string) *network.Error {
	return &network.Error{Class: network.Rejected, Code: code, Field: field, Message: text}
}

// hostOf names a relay in messages.
func hostOf(relay string) string {
	u, err := url.Parse(relay)
	if err != nil {
		return relay
	}
	if host, port, err := net.SplitHostPort(u.Host); err == nil && (port == "443" || port == "80") {
		return host + u.Path
	}
	return u.Host + u.Path
}

// Limits are the same for all accounts: relays differ, and few say what they accept.
func (n *Nostr) Limits(context.Context, network.Account) (network.Limits, error) {
	return n.DefaultLimits(), nil
}

// finishesWithin is how long a relay may take to store an event whose connection is gone. One
// that is stored later would be a second post, if another one was signed meanwhile.
const finishesWithin = time.Minute

// DefaultLimits does no I/O.
func (n *Nostr) DefaultLimits() network.Limits {
	return network.Limits{
		AllowedBy: title, MaxCharacters: n.options.MaxCharacters, MaxMedia: n.options.MaxMedia,
		MIMETypes: []string{
			"image/jpeg", "image/png", "image/gif", "image/webp", "video/mp4", "video/webm", "audio/mpeg",
		},
		MaxImageBytes: n.options.MaxImageBytes, MaxVideoBytes: n.options.MaxVideoBytes, MaxAltText: 1000,
		MixedMedia: true, SupportsReply: true, FinishesWithin: finishesWithin, RepeatsHarmlessly: true,
	}
}

// Count counts characters.
func (*Nostr) Count(text string, _ network.Limits) int { return len([]rune(text)) }

const (
	// attachmentBytes is what an attachment adds to an event beside its description: its
	// address twice, its type, hash and dimensions.
	attachmentBytes = 700
	otherBytes      = 1000 // ids, signature, and tags of fixed size
)

// Check returns what relays would refuse.
func (n *Nostr) Check(content network.Content, limits network.Limits) []network.Violation {
	options, _ := content.Options.(PostOptions)
	problems := rules.Check(title, content, limits, n.Count(content.Text, limits))
	e := event{Content: clean(content.Text), Tags: [][]string{{options.Title, options.Summary, options.ContentWarning}}}
	e.addMentions()
	e.addHashtags()
	for _, m := range content.Media {
		e.Tags = append(e.Tags, []string{m.AltText, m.AltText})
	}
	size := len(rawJSON(e)) + len(content.Media)*attachmentBytes + otherBytes
	if size > n.options.MaxEventBytes && len(problems) == 0 {
		problems = append(problems, network.NewViolation("content", "event_too_large",
			"The post has {used_bytes} with its attachments; most relays accept {limit_bytes}. Shorten it.",
			network.Bytes(size), network.Bytes(n.options.MaxEventBytes)))
	}
	return append(problems, options.problems(content)...)
}

// Preview shows the text; of an article, also its title and Markdown.
func (*Nostr) Preview(content network.Content, _ network.Limits) network.Preview {
	options, _ := content.Options.(PostOptions)
	if options.Kind == kindArticle {
		return article.Preview(options.Title, content)
	}
	text := clean(content.Text)
	return network.Preview{Text: text, Spans: rules.Spans(text)}
}

// handle is the signed event of a post, which Publish and Reconcile share, and the relays that
// the account had then.
type handle struct {
	event

	Relays []string `json:"relays,omitempty"`
}

func parseHandle(text string) (h handle, ok bool) {
	err := json.Unmarshal([]byte(text), &h)
	return h, err == nil && h.ID == h.hash()
}

func (n *Nostr) permalink(account network.Account, e event, relays []string) string {
	if account.BaseURL != "" && account.BaseURL == n.options.Sandbox {
		return account.BaseURL + "/" + e.ID
	}
	return n.options.Web + e.address(relays)
}
