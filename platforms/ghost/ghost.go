// Package ghost publishes articles to sites that run Ghost, by its Admin API and the key of a
// custom integration.
//
// The API is documented at https://docs.ghost.org/admin-api. Behavior that is not documented
// was observed on Ghost 6.65.
package ghost

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Name is the network's name in the API and the database.
const Name = "ghost"

const title = "Ghost"

// Options configures the adapter. The zero value works.
type Options struct {
	// PlainHTTP lists host:port of sites that can be called without TLS, in addition to
	// loopback addresses.
	PlainHTTP []string `json:"plain_http"`

	MaxCharacters int   `json:"max_characters"`  // default 100,000
	MaxMedia      int   `json:"max_media"`       // default 20
	MaxImageBytes int64 `json:"max_image_bytes"` // default 20 MiB; the site's web server may allow less
	FinishSeconds int   `json:"finish_seconds"`  // how long a site works on a call at most; default 120

	Sandbox       string        `json:"-"` // base URL of the fake network (sandbox); empty: none
	CreateTimeout time.Duration `json:"-"` // timeout of the calls that create and publish; 0: 4 min
	ReadTimeout   time.Duration `json:"-"` // timeout of calls that can be repeated; 0: 30 s
	UploadTimeout time.Duration `json:"-"` // timeout of one upload; 0: 15 min
	Finish        time.Duration `json:"-"` // FinishSeconds, for tests
}

func (o *Options) setDefaults() {
	o.MaxCharacters, o.MaxMedia = cmp.Or(o.MaxCharacters, 100_000), cmp.Or(o.MaxMedia, 20)
	o.MaxImageBytes = cmp.Or(o.MaxImageBytes, 20<<20)
	o.UploadTimeout = cmp.Or(o.UploadTimeout, 15*time.Minute)
	o.Finish = cmp.Or(o.Finish, time.Duration(o.FinishSeconds)*time.Second, network.UsualFinish)
}

// Ghost implements network.Network, and connects accounts with an Admin API key.
type Ghost struct {
	calls   *call.Caller
	options Options
	sites   article.Sites
	creator article.Creator
}

var (
	_ network.Network         = (*Ghost)(nil)
	_ network.Preparer        = (*Ghost)(nil)
	_ network.FormConnector   = (*Ghost)(nil)
	_ network.Identifier      = (*Ghost)(nil)
	_ network.LimitsDefaulter = (*Ghost)(nil)
	_ network.OptionParser    = (*Ghost)(nil)
	_ network.Previewer       = (*Ghost)(nil)
)

// New returns the adapter. client should refuse private addresses (call.NewClient), because
// users enter the sites.
func New(client *http.Client, options Options) *Ghost {
	options.setDefaults()
	return &Ghost{
		calls: call.New(client), options: options, creator: article.Creator{Finish: options.Finish},
		sites: article.Sites{PlainHTTP: options.PlainHTTP, Sandbox: options.Sandbox},
	}
}

// Name returns "ghost".
func (*Ghost) Name() string { return Name }

// adminAPI is the path of the API below the address of a site.
const adminAPI = "/ghost/api/admin"

// base validates the address of a site, and returns it without a slash at its end. It may be
// that of the page on which editors work.
func (g *Ghost) base(address string) (string, error) {
	address, _, _ = strings.Cut(strings.TrimSpace(address), "#")
	u, err := g.sites.Parse(address)
	if err != nil {
		return "", err
	}
	if u.RawQuery != "" {
		return "", article.BadAddress()
	}
	return strings.TrimSuffix(u.String(), "/ghost"), nil
}

// do makes one call to a site and returns every refusal as a *network.Error.
func (g *Ghost) do(
	ctx context.Context, account network.Account, path string, query url.Values, request call.Request,
) (*call.Response, error) {
	root, err := g.base(account.BaseURL)
	var login signature
	if err == nil {
		login, err = sign(account.Token, time.Now())
	}
	if err != nil {
		if request.Body != nil && request.Body.Closer != nil {
			_ = request.Body.Closer.Close()
		}
		return nil, err
	}
	request.URL = root + adminAPI + path
	if len(query) > 0 {
		request.URL += "?" + query.Encode()
	}
	request.Header = http.Header{"Authorization": {"Ghost " + login.token.Reveal()}, "Accept-Version": {"v5.0"}}
	request.Secrets = login.secrets
	request.Method = cmp.Or(request.Method, http.MethodGet)
	if request.Timeout == 0 {
		request.Timeout = g.options.ReadTimeout
		if request.Create {
			request.Timeout = g.options.CreateTimeout
		}
	}
	res, err := g.calls.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	if !res.OK() {
		return res, refusal(res)
	}
	return res, nil
}

// write sends one object of a kind, such as posts, and returns the one in the response.
func write[T any](
	ctx context.Context, g *Ghost, account network.Account, path string, request call.Request, kind string, value any,
) (made T, res *call.Response, err error) {
	if request.Body, err = call.JSON(map[string]any{kind: []any{value}}); err != nil {
		return made, nil, &network.Error{Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err}
	}
	var query url.Values
	if kind == posts {
		query = url.Values{"formats": {"html"}}
		if request.Method == http.MethodPost {
			query.Set("source", "html") // html is ignored without it
		}
	}
	if res, err = g.do(ctx, account, path, query, request); err != nil {
		return made, res, err
	}
	made, err = one[T](res, kind)
	return made, res, err
}

// list returns the objects of a kind in a response.
func list[T any](res *call.Response, kind string) ([]T, error) {
	var out map[string]json.RawMessage
	err := res.Decode(&out)
	var all []T
	if err == nil && json.Unmarshal(out[kind], &all) != nil {
		err = res.MalformedError("it contains no " + kind)
	}
	return all, err
}

func one[T any](res *call.Response, kind string) (found T, err error) {
	all, err := list[T](res, kind)
	switch {
	case err != nil:
		return found, err
	case len(all) != 1:
		return found, res.MalformedError("it contains no " + kind)
	default:
		return all[0], nil
	}
}

// Limits are the same for all sites: Ghost does not report those of its web server.
func (g *Ghost) Limits(_ context.Context, account network.Account) (network.Limits, error) {
	limits := g.DefaultLimits()
	if account.BaseURL != "" {
		limits.AllowedBy = article.HostOf(account.BaseURL)
	}
	return limits, nil
}

// DefaultLimits does no I/O. A description of the feature image that is longer than 191
// characters makes Ghost refuse the whole post.
func (g *Ghost) DefaultLimits() network.Limits {
	return network.Limits{
		AllowedBy: title, MaxCharacters: g.options.MaxCharacters, MaxMedia: g.options.MaxMedia,
		MIMETypes: slices.Sorted(maps.Keys(extensions())), MaxImageBytes: g.options.MaxImageBytes, MaxAltText: 191,
		Visibilities: visibilities(), FinishesWithin: g.options.Finish, RepeatsHarmlessly: true,
	}
}

// Count counts the characters of the Markdown.
func (*Ghost) Count(text string, _ network.Limits) int { return len([]rune(text)) }

// Check returns what a site would refuse.
func (*Ghost) Check(content network.Content, limits network.Limits) []network.Violation {
	options, _ := content.Options.(PostOptions)
	return append(article.Check(title, content, limits), options.problems()...)
}

// Preview shows the title and the text of the body.
func (*Ghost) Preview(content network.Content, _ network.Limits) network.Preview {
	options, _ := content.Options.(PostOptions)
	return article.Preview(options.Title, content)
}
