// Package facebook publishes on Pages of Facebook.
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

// Name is how this network is called in the API and the database.
const Name = "facebook"

// title is how people call it.
const title = "Facebook"

// Options are what an operator may set. The zero value works, with no account
// connected.
type Options struct {
	ClientID     string      `json:"client_id"`
	ClientSecret secret.Text `json:"-"`
	Sandbox      string      `json:"-"` // base address of Facebook's copy in the sandbox; empty: none

	Version   string `json:"version"`    // of the Graph API; default v25.0
	WebHost   string `json:"web_host"`   // of the dialog and of posts; default https://www.facebook.com
	GraphHost string `json:"graph_host"` // default https://graph.facebook.com
	VideoHost string `json:"video_host"` // default https://graph-video.facebook.com

	Characters        int   `json:"characters"`         // of a post; default 63,206
	CommentCharacters int   `json:"comment_characters"` // default 8,000
	Photos            int   `json:"photos"`             // of a post; default 10
	PhotoBytes        int64 `json:"photo_bytes"`        // default 4 MiB
	VideoBytes        int64 `json:"video_bytes"`        // default 10 GiB
	VideoSeconds      int   `json:"video_seconds"`      // default 4 h
	// Fold and FoldLines are after how many characters or lines the feed hides the
	// rest behind "See more". Facebook does not publish them; default 480 and 5.
	Fold      int `json:"fold"`
	FoldLines int `json:"fold_lines"`
	// PhotoHours is for how long unpublished photos are relied on; default 23.
	PhotoHours int `json:"photo_hours"`
	// AccessDays is after how many days Facebook wants the person to allow access
	// anew (data access expiration); default 90.
	AccessDays int `json:"access_days"`

	CreateTimeout time.Duration `json:"-"` // for the publishing call; 0: 4 min
	ReadTimeout   time.Duration `json:"-"` // for calls that may be repeated; 0: 30 s
	UploadTimeout time.Duration `json:"-"` // for a photo, or a part of a video; 0: 5 min
}

func (o *Options) fill() {
	o.Version = cmp.Or(o.Version, "v25.0")
	o.WebHost = cmp.Or(o.WebHost, "https://www.facebook.com")
	o.GraphHost = cmp.Or(o.GraphHost, "https://graph.facebook.com")
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
	o.AccessDays = cmp.Or(o.AccessDays, 90)
	o.UploadTimeout = cmp.Or(o.UploadTimeout, 5*time.Minute)
}

// Facebook implements network.Network and the way to connect Pages.
//
// It is no network.Revoker: what a person takes back, they take back for all of
// their Pages. Nor a network.Refresher: tokens of Pages do not expire.
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
)

// New makes the adapter. client should refuse private addresses (see
// call.NewClient).
func New(client *http.Client, options Options) *Facebook {
	options.fill()
	return &Facebook{
		api: graph.New(client, graph.Options{
			CreateTimeout: options.CreateTimeout, ReadTimeout: options.ReadTimeout, Refine: refine,
		}),
		options: options,
		service: graph.Service{Network: title, ClientID: options.ClientID, ClientSecret: options.ClientSecret, Sandbox: options.Sandbox},
	}
}

// Name gives "facebook".
func (*Facebook) Name() string { return Name }

// do makes a call in the name of an account: c.URL is the path below the version.
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

func (f *Facebook) get(ctx context.Context, account network.Account, path string, query url.Values, answer any) (*call.Response, error) {
	res, err := f.do(ctx, account, f.options.GraphHost, graph.Call{Method: http.MethodGet, URL: path, Query: query})
	if err != nil {
		return nil, err
	}
	return res, res.Decode(answer)
}

// permalink is where people find a post, comment or video of a Page. The ids of
// posts and comments have an underscore: page_post, post_comment.
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

// refine corrects what the codes mean for Pages.
// https://developers.facebook.com/docs/graph-api/guides/error-handling
func refine(failure graph.ErrorObject, create bool, e *network.Error) {
	is := func(code int) bool { return failure.Matches(code, 0) || failure.Matches(0, code) }
	switch {
	case is(1363047), is(1609010): // temporarily unavailable
		e.Class = network.Transient
		if create {
			e.Class = network.Ambiguous
		}
	case is(1366051): // the photos are in a post already: an earlier send made it
		e.Class = network.Duplicate
	case is(1404078):
		e.Class, e.Message = network.Rejected, "Facebook wants somebody of the Page to complete its Page Publishing Authorization first."
	case is(1609005), is(1366046), is(1346003):
		e.Class = network.Rejected
	}
}
