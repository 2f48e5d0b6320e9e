// Package zalo publishes articles of Zalo Official Accounts, and sends them to followers.
//
// The documentation is at https://developers.zalo.me/docs/official-account. It was not
// readable when this was written: facts are from the examples of Zalo's Java SDK
// (https://github.com/zaloplatform/zalo-java-sdk) and from public clients. Options names
// what could not be verified.
package zalo

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"dateline/internal/identity/secret"
	"dateline/platforms/article"
	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/network"
)

// Name is the network's name in the API and the database.
const Name = "zalo"

const title = "Zalo"

// Options configures the adapter. The zero value works.
type Options struct {
	ClientID     string      `json:"client_id"` // the app id
	ClientSecret secret.Text `json:"-"`
	Sandbox      string      `json:"-"` // base URL of the fake Zalo (sandbox)

	APIHost   string `json:"api_host"`   // default https://openapi.zalo.me
	OAuthHost string `json:"oauth_host"` // default https://oauth.zaloapp.com

	// What follows is from clients, or from pages that are years old: not verified.

	ArticlePath    string `json:"article_path"`    // default /v2.0/article
	BroadcastPath  string `json:"broadcast_path"`  // default /v2.0/oa/message
	QuotaPath      string `json:"quota_path"`      // default /v3.0/oa/quota/message
	MaxTitle       int    `json:"max_title"`       // default 149: exactly 150 characters were refused
	MaxAuthor      int    `json:"max_author"`      // default 49
	MaxDescription int    `json:"max_description"` // default 299: exactly 300 characters were refused
	MaxCharacters  int    `json:"max_characters"`  // default 20,000
	MaxMedia       int    `json:"max_media"`       // default 20
	MaxImageBytes  int64  `json:"max_image_bytes"` // default 1,000,000
	CallsPerMinute int    `json:"calls_per_minute"`
	ReadsPerHour   int    `json:"reads_per_hour"`  // calls per account that read metrics; default 600
	RefreshDays    int    `json:"refresh_days"`    // lifetime of refresh tokens; default 90
	FetchSeconds   int    `json:"fetch_seconds"`   // lifetime of the address of an attachment; default 2 h
	ProcessSeconds int    `json:"process_seconds"` // how long the publishing call waits for Zalo; default 90
	FinishSeconds  int    `json:"finish_seconds"`  // how long Zalo works on a call at most; default 120

	CreateTimeout time.Duration `json:"-"` // timeout of the calls that create and publish; 0: 4 min
	ReadTimeout   time.Duration `json:"-"` // timeout of calls that can be repeated; 0: 30 s
	Process       time.Duration `json:"-"` // ProcessSeconds, for tests
	Finish        time.Duration `json:"-"` // FinishSeconds, for tests
}

func (o *Options) setDefaults() {
	for field, value := range map[*string]string{
		&o.APIHost: "https://openapi.zalo.me", &o.OAuthHost: "https://oauth.zaloapp.com",
		&o.ArticlePath: "/v2.0/article", &o.BroadcastPath: "/v2.0/oa/message", &o.QuotaPath: "/v3.0/oa/quota/message",
	} {
		*field = strings.TrimSuffix(cmp.Or(*field, value), "/")
	}
	for field, value := range map[*int]int{
		&o.MaxTitle: 149, &o.MaxAuthor: 49, &o.MaxDescription: 299, &o.MaxCharacters: 20_000, &o.MaxMedia: 20,
		&o.CallsPerMinute: 4000, &o.ReadsPerHour: 600, &o.RefreshDays: 90, &o.FetchSeconds: 7200,
		&o.ProcessSeconds: 90,
	} {
		*field = cmp.Or(*field, value)
	}
	o.MaxImageBytes = cmp.Or(o.MaxImageBytes, 1_000_000)
	o.Process = cmp.Or(o.Process, time.Duration(o.ProcessSeconds)*time.Second)
	o.Finish = cmp.Or(o.Finish, time.Duration(o.FinishSeconds)*time.Second, network.UsualFinish)
}

// Zalo implements network.Network, and connects accounts with OAuth.
type Zalo struct {
	calls   *call.Caller
	options Options
	creator article.Creator
}

var (
	_ network.Network         = (*Zalo)(nil)
	_ network.Preparer        = (*Zalo)(nil)
	_ network.Connector       = (*Zalo)(nil)
	_ network.Refresher       = (*Zalo)(nil)
	_ network.LimitsDefaulter = (*Zalo)(nil)
	_ network.OptionParser    = (*Zalo)(nil)
	_ network.Previewer       = (*Zalo)(nil)
	_ network.Measurer        = (*Zalo)(nil)
)

// New returns the adapter.
func New(client *http.Client, options Options) *Zalo {
	options.setDefaults()
	return &Zalo{calls: call.New(client), options: options, creator: article.Creator{Finish: options.Finish}}
}

// Name returns "zalo".
func (*Zalo) Name() string { return Name }

// do makes one call for an account and returns every refusal as a *network.Error.
func (z *Zalo) do(
	ctx context.Context, account network.Account, path string, request call.Request,
) (*call.Response, error) {
	host, err := call.Host(title, account.BaseURL, z.options.Sandbox, z.options.APIHost)
	if err != nil {
		return nil, err
	}
	request.URL, request.Method = host+path, cmp.Or(request.Method, http.MethodGet)
	request.Header = http.Header{"access_token": {account.Token.Reveal()}}
	request.Secrets = append(request.Secrets, account.Token)
	if request.Timeout = z.options.ReadTimeout; request.Create {
		request.Timeout = z.options.CreateTimeout
	}
	res, err := z.calls.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	if e := refusal(res); e != nil {
		return res, e
	}
	return res, nil
}

// send posts a JSON body and reads the data of the response.
func send[T any](
	ctx context.Context, z *Zalo, account network.Account, path string, request call.Request, value any,
) (data T, res *call.Response, err error) {
	request.Method = http.MethodPost
	if request.Body, err = call.JSON(value); err != nil {
		return data, nil, &network.Error{Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err}
	}
	if res, err = z.do(ctx, account, path, request); err != nil {
		return data, res, err
	}
	data, err = dataOf[T](res)
	return data, res, err
}

// reference is the response to a call that changes an article: a token, for which
// article/verify returns the id.
type reference struct {
	Token string `json:"token"`
	ID    string `json:"id"`
}

func dataOf[T any](res *call.Response) (T, error) {
	var body struct {
		Data T `json:"data"`
	}
	err := res.Decode(&body)
	return body.Data, err
}

// number is a number that Zalo writes with or without quotes.
type number string

// UnmarshalJSON accepts any value.
func (n *number) UnmarshalJSON(raw []byte) error {
	if *n = number(strings.Trim(string(raw), `"`)); *n == "null" {
		*n = ""
	}
	return nil
}

// value returns nil for what is not a number.
func (n number) value() *int64 {
	v, err := strconv.ParseInt(string(n), 10, 64)
	if err != nil {
		return nil
	}
	return &v
}

// bucketCalls is the limit of calls per minute.
const bucketCalls = "calls"

// Limits are the same for all accounts: Zalo reports no others.
func (z *Zalo) Limits(context.Context, network.Account) (network.Limits, error) {
	return z.DefaultLimits(), nil
}

// DefaultLimits does no I/O.
func (z *Zalo) DefaultLimits() network.Limits {
	return network.Limits{
		AllowedBy: title, MaxCharacters: z.options.MaxCharacters, MaxMedia: z.options.MaxMedia, MinMedia: 1,
		MIMETypes: []string{"image/jpeg", "image/png"}, MaxImageBytes: z.options.MaxImageBytes, FetchesMedia: true,
		FinishesWithin: z.options.Finish,
		Quotas: []network.Quota{{
			Bucket: bucketCalls, Scope: network.ScopeAccount, Requests: z.options.CallsPerMinute, Per: time.Minute,
			FixedWindow: true, Default: true, Costs: map[network.CallKind]int{network.CallPublish: 5},
		}},
	}
}

// Count counts the characters of the Markdown.
func (*Zalo) Count(text string, _ network.Limits) int { return utf8.RuneCountInString(text) }

// Check returns what Zalo would refuse.
func (z *Zalo) Check(content network.Content, limits network.Limits) []network.Violation {
	options, _ := content.Options.(PostOptions)
	return append(article.Check(title, content, limits), options.problems(z.options)...)
}

// Preview shows the title and the text of the body.
func (*Zalo) Preview(content network.Content, _ network.Limits) network.Preview {
	options, _ := content.Options.(PostOptions)
	p := article.Preview(options.Title, content)
	if options.Kind == kindBroadcast {
		p.Notes = append(p.Notes, network.NewNote("broadcast_once", "{network} sends the article to all followers, "+
			"once and for good. It reviews it first, for about 30 minutes, and delivers between 6:00 and 22:00. A "+
			"follower receives one a day at most, and only as many a month as the plan of the account allows.", title))
	}
	return p
}

// Stage verifies that Zalo can reach an image. It makes no call.
func (*Zalo) Stage(_ context.Context, _ network.Account, media network.Media) (network.Staged, error) {
	if media.URL == nil {
		return network.Staged{}, graph.NotFetchableError(title, media, "it has no public address")
	}
	return network.Staged{RemoteID: "url", Ready: true}, nil
}

// StageStatus returns the image, which Zalo fetches with the article.
func (*Zalo) StageStatus(_ context.Context, _ network.Account, staged network.Staged) (network.Staged, error) {
	return staged, nil
}
