// Package x publishes to X (formerly Twitter) through version 2 of its API.
//
// The API is documented at https://docs.x.com/x-api and by its OpenAPI file,
// https://api.x.com/2/openapi.json. Text is counted like in the library
// twitter-text (https://github.com/twitter/twitter-text, version 3.1), which the
// documentation refers to.
//
// Account.Settings["tier"] is "premium" for accounts that pay X for long posts;
// SettingReads is the budget for metrics.
package x

import (
	"context"
	"net/http"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Name is the network's name in the API and the database.
const Name = "x"

// X implements network.Network, and connects accounts with OAuth.
type X struct {
	calls   *call.Caller
	options Options
	emojis  *emojiSet
}

var (
	_ network.Network   = (*X)(nil)
	_ network.Connector = (*X)(nil)
	_ network.Refresher = (*X)(nil)
	_ network.Revoker   = (*X)(nil)
	_ network.Previewer = (*X)(nil)
	_ network.Pricer    = (*X)(nil)
	_ network.Measurer  = (*X)(nil)
)

// New returns the adapter.
func New(client *http.Client, options Options) *X {
	return &X{calls: call.New(client), options: options.withDefaults(), emojis: newEmojiSet()}
}

// Name returns "x".
func (x *X) Name() string { return Name }

// hosts returns the base URLs of the API and of the pages for an account.
func (x *X) hosts(baseURL string) (api, web string, err error) {
	if api, err = call.Host("X", baseURL, x.options.Sandbox, x.options.API); err != nil {
		return "", "", err
	}
	web, err = call.Host("X", baseURL, x.options.Sandbox, x.options.Web)
	return api, web, err
}

// do makes one call to the API and returns every refusal as a *network.Error.
// path is without /2.
func (x *X) do(ctx context.Context, base, path string, request call.Request) (*call.Response, error) {
	api, _, err := x.hosts(base)
	if err != nil {
		return nil, err
	}
	request.URL = strings.TrimSuffix(api, "/") + "/2" + path
	if request.Timeout == 0 {
		request.Timeout = x.options.ReadTimeout
		if request.Create {
			request.Timeout = x.options.CreateTimeout
		}
	}
	res, err := x.calls.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	res.RequestID = res.Header.Get("X-Transaction-Id")
	if !res.OK() {
		return res, refusal(res, rates(res, bucketOf(request.Method, path)))
	}
	return res, nil
}

// snowflakeEpoch is the first millisecond of X's ids
// (https://docs.x.com/fundamentals/x-ids).
const snowflakeEpoch = 1288834974657

// timeOf derives the creation time of a post from its id, to the millisecond;
// the API's own times have a resolution of a second.
func timeOf(id uint64) time.Time { return time.UnixMilli(int64(id>>22) + snowflakeEpoch).UTC() }
