// Package bluesky publishes to Bluesky and to other servers of the AT Protocol
// that host its posts.
//
// The protocol is documented at https://atproto.com/specs/ and its calls, by
// name, at https://docs.bsky.app/docs/category/http-reference. Undocumented
// behavior is cited from the reference server's source by file.
package bluesky

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Name is the network's name in the API and the database.
const Name = "bluesky"

// postCollection is the collection of an account's posts.
const postCollection = "app.bsky.feed.post"

// Options configures the adapter. The zero value works.
type Options struct {
	Entryway  string `json:"entryway"`  // server that resolves all handles; default https://bsky.social
	Directory string `json:"directory"` // of did:plc identities; default https://plc.directory
	Web       string `json:"web"`       // public pages; default https://bsky.app
	AppView   string `json:"app_view"`  // service that counts likes and replies; default https://public.api.bsky.app
	Video     string `json:"video"`     // video service; default https://video.bsky.app
	// VideoDirect uploads videos unprocessed to the account's own server. The
	// network then transcodes a video when it is first watched.
	VideoDirect bool `json:"video_direct"`
	// DisableLinkCard omits the card for the first link of a post.
	DisableLinkCard bool `json:"disable_link_card"`
	// PlainHTTP lists host:port of servers that can be called without TLS, in
	// addition to loopback addresses.
	PlainHTTP []string `json:"plain_http"`

	MaxGraphemes    int   `json:"max_graphemes"`     // default 300
	MaxTextBytes    int   `json:"max_text_bytes"`    // default 3000
	MaxImages       int   `json:"max_images"`        // default 10; a gallery has at most 20
	MaxImageBytes   int64 `json:"max_image_bytes"`   // default 2,000,000
	MaxVideoBytes   int64 `json:"max_video_bytes"`   // default 300,000,000
	MaxVideoSeconds int   `json:"max_video_seconds"` // default 180
	MaxAltText      int   `json:"max_alt_text"`      // default 2000, as in the app
	BlobSeconds     int   `json:"blob_seconds"`      // how long an upload can wait for its post; default 3000

	CallsPer5Min  int `json:"calls_per_5_min"` // default 3000
	WritesPerHour int `json:"writes_per_hour"` // points, of which a post costs 3; default 5000
	WritesPerDay  int `json:"writes_per_day"`  // default 35000
	UploadsPerDay int `json:"uploads_per_day"` // default 1000

	Sandbox       string        `json:"-"` // base URL of the fake network (sandbox); empty: none
	CreateTimeout time.Duration `json:"-"` // timeout of the publishing call; 0: 4 min
	ReadTimeout   time.Duration `json:"-"` // timeout of calls that can be repeated; 0: 30 s
	UploadTimeout time.Duration `json:"-"` // timeout of one upload; 0: 15 min
	EnrichTimeout time.Duration `json:"-"` // timeout of optional reads, such as names and cards; 0: 5 s
}

// setDefaults sets the defaults of fields that are zero.
func (o *Options) setDefaults() {
	setDefault(&o.Entryway, "https://bsky.social")
	setDefault(&o.Directory, "https://plc.directory")
	setDefault(&o.Web, "https://bsky.app")
	setDefault(&o.AppView, "https://public.api.bsky.app")
	setDefault(&o.Video, "https://video.bsky.app")
	// The limits of the lexicons app.bsky.feed.post, app.bsky.embed.images and
	// app.bsky.embed.video.
	setDefault(&o.MaxGraphemes, 300)
	setDefault(&o.MaxTextBytes, 3000)
	setDefault(&o.MaxImages, 10)
	setDefault(&o.MaxImageBytes, 2_000_000)
	setDefault(&o.MaxVideoBytes, 300_000_000)
	setDefault(&o.MaxVideoSeconds, 180)
	setDefault(&o.MaxAltText, 2000)
	// Servers keep an upload without a post for about an hour and guarantee
	// minutes. https://atproto.com/guides/blob-lifecycle
	setDefault(&o.BlobSeconds, 3000)
	// https://docs.bsky.app/docs/advanced-guides/rate-limits
	setDefault(&o.CallsPer5Min, 3000)
	setDefault(&o.WritesPerHour, 5000)
	setDefault(&o.WritesPerDay, 35_000)
	setDefault(&o.UploadsPerDay, 1000)
	setDefault(&o.UploadTimeout, 15*time.Minute)
	setDefault(&o.EnrichTimeout, 5*time.Second)
}

func setDefault[T comparable](value *T, instead T) {
	if *value == *new(T) {
		*value = instead
	}
}

// Bluesky implements network.Network, and connects accounts with an app password.
type Bluesky struct {
	calls   *call.Caller
	options Options
	tids    *tidClock
}

var (
	_ network.Network       = (*Bluesky)(nil)
	_ network.Preparer      = (*Bluesky)(nil)
	_ network.Previewer     = (*Bluesky)(nil)
	_ network.Federated     = (*Bluesky)(nil)
	_ network.Identifier    = (*Bluesky)(nil)
	_ network.FormConnector = (*Bluesky)(nil)
	_ network.Refresher     = (*Bluesky)(nil)
	_ network.Revoker       = (*Bluesky)(nil)
	_ network.Measurer      = (*Bluesky)(nil)
)

// New returns the adapter. client should refuse private addresses
// (call.NewClient), because users enter servers and links.
func New(client *http.Client, options Options) *Bluesky {
	options.setDefaults()
	return &Bluesky{calls: call.New(client), options: options, tids: &tidClock{now: time.Now}}
}

// Name returns "bluesky".
func (b *Bluesky) Name() string { return Name }

// do makes one call of the protocol to a server and returns every refusal as a
// *network.Error.
func (b *Bluesky) do(
	ctx context.Context, server, method string, query url.Values, request call.Request,
) (*call.Response, error) {
	root, err := b.base(server)
	if err != nil {
		if request.Body != nil && request.Body.Closer != nil {
			_ = request.Body.Closer.Close()
		}
		return nil, err
	}
	request.URL = root + "/xrpc/" + method
	if len(query) > 0 {
		request.URL += "?" + query.Encode()
	}
	if request.Method == "" {
		request.Method = http.MethodGet
	}
	if request.Timeout == 0 {
		request.Timeout = b.options.ReadTimeout
		if request.Create {
			request.Timeout = b.options.CreateTimeout
		}
	}
	res, err := b.calls.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	if !res.OK() {
		return res, refusal(res, method)
	}
	return res, nil
}

// base validates a server's address and returns it without a trailing slash.
func (b *Bluesky) base(address string) (string, error) {
	address = strings.TrimSpace(address)
	if b.isSandbox(address) {
		return address, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		strings.Trim(u.Path, "/") != "" {
		return "", badAddress("Enter the server's address as https://host, for example https://bsky.social.")
	}
	// A token that is sent without TLS is compromised.
	if u.Scheme != "https" && (u.Scheme != "http" || !b.allowsHTTP(u)) {
		return "", badAddress("The server's address must begin with https://.")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// isSandbox reports whether an account belongs to the fake network, which serves
// all services at one address.
func (b *Bluesky) isSandbox(address string) bool {
	return b.options.Sandbox != "" && address == b.options.Sandbox
}

func (b *Bluesky) allowsHTTP(u *url.URL) bool {
	for _, allowed := range b.options.PlainHTTP {
		if strings.EqualFold(allowed, u.Host) {
			return true
		}
	}
	if addr, err := netip.ParseAddr(u.Hostname()); err == nil {
		return addr.IsLoopback()
	}
	return strings.EqualFold(u.Hostname(), "localhost")
}

func badAddress(message string) *network.Error {
	return &network.Error{Class: network.Rejected, Code: "bad_address", Field: fieldServer, Message: message}
}

// permalink returns the page of a post. Pages are usually named by handle, which
// can change; the DID works too and does not change.
func (b *Bluesky) permalink(account network.Account, key string) string {
	root := b.options.Web
	if b.isSandbox(account.BaseURL) {
		root = account.BaseURL
	}
	who := strings.TrimPrefix(account.Handle, "@")
	if who == "" || who == invalidHandle {
		who = account.RemoteID
	}
	return root + "/profile/" + url.PathEscape(who) + "/post/" + url.PathEscape(key)
}

func notSent(err error) *network.Error {
	return &network.Error{Class: network.NotSent, Code: "bad_request", Message: "The request could not be built: " +
		err.Error(), Err: err}
}
