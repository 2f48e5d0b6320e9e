// Package slack publishes to Slack channels as the bot of an app.
//
// The API is documented at https://docs.slack.dev/apis/web-api. It has no idempotency
// keys: every message has the key of its operation in its metadata, which proves that it
// is the one whose response was lost.
package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Name is the network's name in the API and the database.
const Name = "slack"

// Options configures the adapter. The zero value works.
type Options struct {
	API           string `json:"api"`            // default https://slack.com/api
	MaxCharacters int    `json:"max_characters"` // default 4000, which Slack advises; it cuts at 40,000
	MaxFileBytes  int64  `json:"max_file_bytes"` // default 1 GiB
	// ReadsPerMinute is 50 by default, and 1 for apps that are sold outside of the Slack
	// Marketplace (https://docs.slack.dev/apis/web-api/rate-limits).
	ReadsPerMinute int `json:"reads_per_minute"`
	// ListsAtOnce means that a lost message that Slack does not list was never made, so that
	// it is sent again. Slack does not say how soon it lists messages.
	ListsAtOnce bool `json:"lists_at_once"`

	Sandbox       string        `json:"-"` // base URL of the fake network (sandbox); empty: none
	CreateTimeout time.Duration `json:"-"` // timeout of the publishing call; 0: 4 min
	UploadTimeout time.Duration `json:"-"` // timeout of one upload; 0: 15 min
	ReadTimeout   time.Duration `json:"-"` // timeout of other calls; 0: 30 s
}

// Slack implements network.Network, and FormConnector to connect a bot and a channel.
type Slack struct {
	calls      *call.Caller
	options    Options
	workspaces sync.Map // addresses by account, for permalinks
}

var (
	_ network.FormConnector  = (*Slack)(nil)
	_ network.Identifier     = (*Slack)(nil)
	_ network.ContentLimiter = (*Slack)(nil)
	_ network.Previewer      = (*Slack)(nil)
	_ network.Measurer       = (*Slack)(nil)
	_ network.OptionParser   = (*Slack)(nil)
)

// New returns the adapter.
func New(client *http.Client, options Options) *Slack {
	options.API = cmp.Or(options.API, "https://slack.com/api")
	options.MaxCharacters = cmp.Or(options.MaxCharacters, 4000)
	options.MaxFileBytes = cmp.Or(options.MaxFileBytes, 1<<30)
	options.ReadsPerMinute = cmp.Or(options.ReadsPerMinute, 50)
	options.UploadTimeout = cmp.Or(options.UploadTimeout, 15*time.Minute)
	return &Slack{calls: call.New(client), options: options}
}

// Name returns "slack".
func (s *Slack) Name() string { return Name }

// apiResponse is what all responses have in common.
// https://docs.slack.dev/apis/web-api#responses
type apiResponse struct {
	OK       *bool    `json:"ok"`
	Error    string   `json:"error"`
	Errors   []string `json:"errors"` // about blocks
	Needed   string   `json:"needed"` // scope
	Metadata struct {
		NextCursor string   `json:"next_cursor"`
		Messages   []string `json:"messages"` // about arguments
	} `json:"response_metadata"`
}

// get calls a method that publishes nothing.
func (s *Slack) get(
	ctx context.Context, account network.Account, method string, query url.Values, into any,
) (*call.Response, error) {
	return s.do(ctx, account, method+"?"+query.Encode(), call.Request{Method: http.MethodGet}, into)
}

// post calls a method with JSON; create marks the one that publishes.
func (s *Slack) post(
	ctx context.Context, account network.Account, method string, params any, create bool, into any,
) (*call.Response, error) {
	body, err := call.JSON(params)
	if err != nil {
		return nil, &network.Error{Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err}
	}
	body.Type += "; charset=utf-8" // Slack warns of missing_charset
	return s.do(ctx, account, method, call.Request{Method: http.MethodPost, Body: body, Create: create}, into)
}

// do makes a call. Nearly every refusal has status 200 and "ok": false.
func (s *Slack) do(
	ctx context.Context, account network.Account, path string, request call.Request, into any,
) (*call.Response, error) {
	base, err := s.base(account.BaseURL)
	if err != nil {
		return nil, err
	}
	request.URL, request.Token, request.Timeout = base+"/"+path, account.Token, s.options.ReadTimeout
	if request.Create {
		request.Timeout = s.options.CreateTimeout
	}
	res, err := s.calls.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	res.RequestID = res.Header.Get("X-Slack-Req-Id")
	var got apiResponse
	err = json.Unmarshal(res.Body, &got)
	switch {
	case !res.OK(), err == nil && got.OK != nil && !*got.OK:
		return res, refusal(res, got) // also an error page: the status decides
	case err != nil:
		return res, res.MalformedError(err.Error())
	case got.OK == nil:
		return res, res.MalformedError("it is neither a success nor an error")
	}
	return res, res.Decode(into)
}

// base returns the base URL of the API for an account.
func (s *Slack) base(address string) (string, error) {
	host, err := call.Host("Slack", address, s.options.Sandbox, s.options.API)
	if err == nil && address != "" {
		host += "/api"
	}
	return host, err
}

// permalink returns the address of a message for members of the workspace, as
// chat.getPermalink does (https://docs.slack.dev/reference/methods/chat.getPermalink).
// That of the workspace is cached; while it cannot be read, the link opens the channel.
func (s *Slack) permalink(ctx context.Context, account network.Account, thread, ts string) string {
	key := account.BaseURL + " " + account.RemoteID
	site, ok := s.workspaces.Load(key)
	if !ok {
		who, _, err := s.whoami(ctx, account)
		if err != nil {
			return "https://slack.com/app_redirect?channel=" + url.QueryEscape(account.RemoteID)
		}
		site = who.URL
		s.workspaces.Store(key, site)
	}
	link := site.(string) + "archives/" + account.RemoteID + "/p" + strings.ReplaceAll(ts, ".", "")
	if thread != "" {
		link += "?thread_ts=" + thread + "&cid=" + account.RemoteID
	}
	return link
}
