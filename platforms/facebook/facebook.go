// Package facebook publishes to Facebook Pages.
//
// https://developers.facebook.com/docs/pages-api
package facebook

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/network"
)

// Name is the network's name in the API and the database.
const Name = "facebook"

// title is the network's display name.
const title = "Facebook"

// Options configures the adapter. The zero value works if no account is
// connected.
type Options struct {
	ClientID     string      `json:"client_id"`
	ClientSecret secret.Text `json:"-"`
	Sandbox      string      `json:"-"` // base URL of the fake Facebook (sandbox); empty: none

	Version    string `json:"version"`     // of the Graph API; default v25.0
	WebHost    string `json:"web_host"`    // host of the dialog and of posts; default https://www.facebook.com
	GraphHost  string `json:"graph_host"`  // default https://graph.facebook.com
	VideoHost  string `json:"video_host"`  // default https://graph-video.facebook.com
	UploadHost string `json:"upload_host"` // of reels and stories; default https://rupload.facebook.com

	Characters        int   `json:"characters"`         // per post; default 63,206
	CommentCharacters int   `json:"comment_characters"` // default 8,000
	Photos            int   `json:"photos"`             // per post; default 10
	PhotoBytes        int64 `json:"photo_bytes"`        // default 4 MiB
	VideoBytes        int64 `json:"video_bytes"`        // default 10 GiB
	VideoSeconds      int   `json:"video_seconds"`      // default 4 h
	// Fold and FoldLines are the number of characters or lines after which the
	// feed hides the rest behind "See more". Facebook does not publish them;
	// default 480 and 5.
	Fold      int `json:"fold"`
	FoldLines int `json:"fold_lines"`
	// PhotoHours is how long unpublished photos can be used; default 23.
	PhotoHours int `json:"photo_hours"`
	// DataAccessDays is the number of days after which Facebook requires the user
	// to grant access again (data access expiration); default 90.
	DataAccessDays int `json:"access_days"`
	// Metrics are the names of insights; ReadsPerHour is the number of calls per Page
	// that read metrics, default 200.
	Metrics      Metrics `json:"metrics"`
	ReadsPerHour int     `json:"reads_per_hour"`

	CreateTimeout time.Duration `json:"-"` // timeout of the publishing call; 0: 4 min
	ReadTimeout   time.Duration `json:"-"` // timeout of calls that can be repeated; 0: 30 s
	UploadTimeout time.Duration `json:"-"` // timeout of a photo or a part of a video; 0: 5 min
}

func (o *Options) setDefaults() {
	o.Version = cmp.Or(o.Version, "v25.0")
	o.WebHost = cmp.Or(o.WebHost, "https://www.facebook.com")
	o.GraphHost = cmp.Or(o.GraphHost, "https://graph.facebook.com")
	o.UploadHost = cmp.Or(o.UploadHost, "https://rupload.facebook.com")
	o.VideoHost = cmp.Or(o.VideoHost, "https://graph-video.facebook.com")
	o.Characters = cmp.Or(o.Characters, 63_206)
	o.CommentCharacters = cmp.Or(o.CommentCharacters, 8000)
	o.Photos = cmp.Or(o.Photos, 10)
	o.PhotoBytes = cmp.Or(o.PhotoBytes, 4<<20)
	o.VideoBytes = cmp.Or(o.VideoBytes, 10<<30)
	o.VideoSeconds = cmp.Or(o.VideoSeconds, 4*60*60)
	o.Fold = cmp.Or(o.Fold, 480)
	o.FoldLines = cmp.Or(o.FoldLines, 5)
	o.PhotoHours = cmp.Or(o.PhotoHours, 23)
	o.DataAccessDays = cmp.Or(o.DataAccessDays, 90)
	o.Metrics.setDefaults()
	o.ReadsPerHour = cmp.Or(o.ReadsPerHour, 200)
	o.UploadTimeout = cmp.Or(o.UploadTimeout, 5*time.Minute)
}

// Facebook implements network.Network, and connects Pages with OAuth.
//
// It does not implement network.Revoker, because revoking one Page's token
// revokes the user's access for all of their Pages, and not network.Refresher,
// because Page tokens do not expire.
type Facebook struct {
	api     *graph.API
	options Options
	service graph.Service
}

var (
	_ network.Network    = (*Facebook)(nil)
	_ network.Identifier = (*Facebook)(nil)
	_ network.Connector  = (*Facebook)(nil)
	_ network.Previewer  = (*Facebook)(nil)
	_ network.Measurer   = (*Facebook)(nil)
)

// New returns the adapter. client should refuse private addresses
// (call.NewClient).
func New(client *http.Client, options Options) *Facebook {
	options.setDefaults()
	return &Facebook{
		api: graph.New(client, graph.Options{
			CreateTimeout: options.CreateTimeout, ReadTimeout: options.ReadTimeout, Refine: refine,
		}),
		options: options,
		service: graph.Service{
			Network: title, ClientID: options.ClientID, ClientSecret: options.ClientSecret,
			Sandbox: options.Sandbox,
		},
	}
}

// Name returns "facebook".
func (*Facebook) Name() string { return Name }

// do makes a call as an account: c.URL is the path after the version.
func (f *Facebook) do(ctx context.Context, account network.Account, host string, c graph.Call) (*call.Response, error) {
	root, err := f.service.Host(account.BaseURL, host)
	if err != nil {
		if c.Body != nil && c.Body.Closer != nil {
			_ = c.Body.Closer.Close()
		}
		return nil, err
	}
	c.URL = root + "/" + f.options.Version + c.URL
	c.Token, c.AppSecret = account.Token, f.options.ClientSecret
	if account.BaseURL != "" {
		c.AppSecret = network.SandboxApp("", "").ClientSecret
	}
	return f.api.Do(ctx, c)
}

func (f *Facebook) get(
	ctx context.Context, account network.Account, path string, query url.Values, body any,
) (*call.Response, error) {
	res, err := f.do(ctx, account, f.options.GraphHost, graph.Call{Method: http.MethodGet, URL: path, Query: query})
	if err != nil {
		return nil, err
	}
	return res, res.Decode(body)
}

// permalink returns the public address of a post, comment or video of a Page. The
// ids of posts and comments contain an underscore: page_post, post_comment.
func (f *Facebook) permalink(account network.Account, id, replyTo string) string {
	host, _ := f.service.Host(account.BaseURL, f.options.WebHost)
	first, second, two := strings.Cut(id, "_")
	switch {
	case replyTo != "":
		post := replyTo[strings.LastIndexByte(replyTo, '_')+1:]
		if !two {
			second = first
		}
		return host + "/" + account.RemoteID + "/posts/" + post + "?comment_id=" + second
	case two:
		return host + "/" + first + "/posts/" + second
	default:
		return host + "/" + account.RemoteID + "/videos/" + id
	}
}

// refine corrects the meaning of error codes for Pages.
// https://developers.facebook.com/docs/graph-api/guides/error-handling
func refine(failure graph.ErrorObject, create bool, e *network.Error) {
	is := func(code int) bool { return failure.Matches(code, 0) || failure.Matches(0, code) }
	switch {
	case is(1363047), is(1609010): // temporarily unavailable
		e.Class = network.Transient
		if create {
			e.Class = network.Ambiguous
		}
	case is(1366051): // the photos are part of a post already, which an earlier send published
		e.Class = network.Duplicate
	case is(1404078):
		e.Class, e.Message = network.Rejected, "Facebook requires that someone who manages the Page completes its "+
			"Page Publishing Authorization first."
	case is(1609005), is(1366046), is(1346003):
		e.Class = network.Rejected
	}
}
