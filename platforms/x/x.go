// Package x publishes to X (formerly Twitter) through version 2 of its API.
//
// The API is described at https://docs.x.com/x-api and by its OpenAPI file,
// https://api.x.com/2/openapi.json. How text is counted is what the library
// twitter-text (https://github.com/twitter/twitter-text, version 3.1) does,
// which the docs name for it.
//
// Of Account.Settings it knows "tier": "premium" is an account that pays X for
// long posts.
package x

import (
	"context"
	"net/http"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Name is how this network is called in the API and the database.
const Name = "x"

// X implements network.Network and the ways to connect its accounts.
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
)

// New makes the adapter.
func New(client *http.Client, options Options) *X {
	return &X{calls: call.New(client), options: options.withDefaults(), emojis: newEmojiSet()}
}

// Name gives "x".
func (x *X) Name() string { return Name }

// hosts gives where the API and the pages of an account's X are.
func (x *X) hosts(baseURL string) (api, web string, err error) {
	if api, err = call.Host("X", baseURL, x.options.Sandbox, x.options.API); err != nil {
		return "", "", err
	}
	web, err = call.Host("X", baseURL, x.options.Sandbox, x.options.Web)
	return api, web, err
}

// do makes one call to the API and turns every refusal into a *network.Error.
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

// timeOf reads when a post was made from its id, which knows it to the
// millisecond; the API's own times have whole seconds.
func timeOf(id uint64) time.Time { return time.UnixMilli(int64(id>>22) + snowflakeEpoch).UTC() }
