// Package wordpress publishes articles to sites that run WordPress, by its REST API and an
// application password.
//
// The API is documented at https://developer.wordpress.org/rest-api/reference/. Behavior that
// is not documented was observed on WordPress 7.1, 6.5.5 and 6.1.9.
package wordpress

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Name is the network's name in the API and the database.
const Name = "wordpress"

const title = "WordPress"

// Options configures the adapter. The zero value works.
type Options struct {
	// PlainHTTP lists host:port of sites that can be called without TLS, in addition to
	// loopback addresses.
	PlainHTTP []string `json:"plain_http"`

	MaxCharacters int   `json:"max_characters"`  // default 100,000
	MaxMedia      int   `json:"max_media"`       // default 20
	MaxImageBytes int64 `json:"max_image_bytes"` // default 20 MiB; the site's web server may allow less
	MaxVideoBytes int64 `json:"max_video_bytes"` // default 200 MiB
	FinishSeconds int   `json:"finish_seconds"`  // how long a site works on a call at most; default 120

	Sandbox       string        `json:"-"` // base URL of the fake network (sandbox); empty: none
	CreateTimeout time.Duration `json:"-"` // timeout of the calls that create and publish; 0: 4 min
	ReadTimeout   time.Duration `json:"-"` // timeout of calls that can be repeated; 0: 30 s
	UploadTimeout time.Duration `json:"-"` // timeout of one upload; 0: 15 min
	Finish        time.Duration `json:"-"` // FinishSeconds, for tests
}

func (o *Options) setDefaults() {
	o.MaxCharacters, o.MaxMedia = cmp.Or(o.MaxCharacters, 100_000), cmp.Or(o.MaxMedia, 20)
	o.MaxImageBytes, o.MaxVideoBytes = cmp.Or(o.MaxImageBytes, 20<<20), cmp.Or(o.MaxVideoBytes, 200<<20)
	o.UploadTimeout = cmp.Or(o.UploadTimeout, 15*time.Minute)
	o.Finish = cmp.Or(o.Finish, time.Duration(o.FinishSeconds)*time.Second, network.UsualFinish)
}

// WordPress implements network.Network, and connects accounts with an application password.
type WordPress struct {
	calls   *call.Caller
	options Options
	sites   article.Sites
	creator article.Creator
}

var (
	_ network.Network         = (*WordPress)(nil)
	_ network.Preparer        = (*WordPress)(nil)
	_ network.FormConnector   = (*WordPress)(nil)
	_ network.Identifier      = (*WordPress)(nil)
	_ network.LimitsDefaulter = (*WordPress)(nil)
	_ network.OptionParser    = (*WordPress)(nil)
	_ network.Previewer       = (*WordPress)(nil)
)

// New returns the adapter. client should refuse private addresses (call.NewClient), because
// users enter the sites.
func New(client *http.Client, options Options) *WordPress {
	options.setDefaults()
	return &WordPress{
		calls: call.New(client), options: options, creator: article.Creator{Finish: options.Finish},
		sites: article.Sites{PlainHTTP: options.PlainHTTP, Sandbox: options.Sandbox},
	}
}

// Name returns "wordpress".
func (*WordPress) Name() string { return Name }

// do makes one call to a site and returns every refusal as a *network.Error.
func (w *WordPress) do(
	ctx context.Context, account network.Account, path string, query url.Values, request call.Request,
) (*call.Response, error) {
	root, err := w.base(account.BaseURL)
	if err != nil {
		if request.Body != nil && request.Body.Closer != nil {
			_ = request.Body.Closer.Close()
		}
		return nil, err
	}
	request.URL = root + path
	if len(query) > 0 {
		separator := "?"
		if strings.Contains(root, "?") { // plain permalinks: index.php?rest_route=
			separator = "&"
		}
		request.URL += separator + query.Encode()
	}
	if request.Header == nil {
		request.Header = http.Header{}
	}
	if !account.Token.Empty() {
		basic := base64.StdEncoding.EncodeToString([]byte(account.Token.Reveal()))
		_, password, _ := strings.Cut(account.Token.Reveal(), ":")
		request.Header.Set("Authorization", "Basic "+basic)
		request.Secrets = []secret.Text{account.Token, secret.NewText(password), secret.NewText(basic)}
	}
	if request.Method == "" {
		request.Method = http.MethodGet
	}
	if request.Timeout == 0 {
		request.Timeout = w.options.ReadTimeout
		if request.Create {
			request.Timeout = w.options.CreateTimeout
		}
	}
	res, err := w.calls.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	if !res.OK() {
		return res, refusal(res, request.Create)
	}
	return res, nil
}

// send posts a JSON body.
func (w *WordPress) send(
	ctx context.Context, account network.Account, path string, create bool, value any,
) (*call.Response, error) {
	body, err := call.JSON(value)
	if err != nil {
		return nil, &network.Error{Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err}
	}
	return w.do(ctx, account, path, nil, call.Request{Method: http.MethodPost, Body: body, Create: create})
}

// decode reads a JSON body. PHP may print warnings in front of it.
func decode(res *call.Response, into any) error {
	const maxNoise = 64 << 10
	body := res.Body
	for i := 0; i < min(len(body), maxNoise); i++ {
		if (body[i] == '{' || body[i] == '[') && json.Valid(body[i:]) {
			return (&call.Response{Body: body[i:]}).Decode(into)
		}
	}
	return res.Decode(into)
}

// base validates the address of a site or of its API and returns it without a slash at its
// end. The API of a site without permalinks is index.php?rest_route=.
func (w *WordPress) base(address string) (string, error) {
	u, err := w.sites.Parse(address)
	if err != nil {
		return "", err
	}
	if u.RawQuery != "" && u.RawQuery != "rest_route=" {
		return "", article.BadAddress()
	}
	return u.String(), nil
}

// Limits are the same for all sites: WordPress has none worth checking, and does not report
// those of its web server.
func (w *WordPress) Limits(_ context.Context, account network.Account) (network.Limits, error) {
	limits := w.DefaultLimits()
	if account.BaseURL != "" {
		limits.AllowedBy = article.HostOf(account.BaseURL)
	}
	return limits, nil
}

// DefaultLimits does no I/O.
func (w *WordPress) DefaultLimits() network.Limits {
	return network.Limits{
		AllowedBy: title, MaxCharacters: w.options.MaxCharacters, MaxMedia: w.options.MaxMedia,
		MIMETypes:     slices.Sorted(maps.Keys(extensions())),
		MaxImageBytes: w.options.MaxImageBytes, MaxVideoBytes: w.options.MaxVideoBytes,
		MaxDocumentBytes: w.options.MaxVideoBytes, MaxAltText: 500, MixedMedia: true,
		Visibilities: []string{visibilityPublic, visibilityPrivate}, FinishesWithin: w.options.Finish,
		RepeatsHarmlessly: true,
	}
}

// Count counts the characters of the Markdown.
func (*WordPress) Count(text string, _ network.Limits) int { return len([]rune(text)) }

// Check returns what a site would refuse.
func (*WordPress) Check(content network.Content, limits network.Limits) []network.Violation {
	options, _ := content.Options.(PostOptions)
	return append(article.Check(title, content, limits), options.problems()...)
}

// Preview shows the title and the text of the body.
func (*WordPress) Preview(content network.Content, _ network.Limits) network.Preview {
	options, _ := content.Options.(PostOptions)
	return article.Preview(options.Title, content)
}
