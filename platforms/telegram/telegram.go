// Package telegram publishes to Telegram channels and groups through a bot.
//
// The API is documented at https://core.telegram.org/bots/api. It has no
// idempotency keys, and no call that lists what a bot has sent: a message whose
// response was lost cannot be found.
package telegram

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Name is the network's name in the API and the database.
const Name = "telegram"

// Options configures the adapter. The zero value works.
type Options struct {
	// Default https://api.telegram.org; a self-hosted Bot API server takes larger files
	API           string `json:"api"`
	Site          string `json:"site"`           // host of permalinks; default https://t.me
	MaxCharacters int    `json:"max_characters"` // of a message without attachments; default 4096
	MaxCaption    int    `json:"max_caption"`    // of a message with attachments; default 1024
	MaxMedia      int    `json:"max_media"`      // default 10
	MaxPhotoBytes int64  `json:"max_photo_bytes"`
	MaxVideoBytes int64  `json:"max_video_bytes"`
	PerMinute     int    `json:"per_minute"` // messages per minute to one chat; default 20

	Sandbox       string        `json:"-"` // base URL of the fake network (sandbox); empty: none
	CreateTimeout time.Duration `json:"-"` // timeout of the publishing call; 0: 4 min
	ReadTimeout   time.Duration `json:"-"` // timeout of other calls; 0: 30 s
}

func (o *Options) setDefaults() {
	for field, value := range map[*string]string{&o.API: "https://api.telegram.org", &o.Site: "https://t.me"} {
		if *field == "" {
			*field = value
		}
	}
	for field, value := range map[*int]int{
		&o.MaxCharacters: 4096, &o.MaxCaption: 1024, &o.MaxMedia: 10,
		&o.PerMinute: 20,
	} {
		if *field == 0 {
			*field = value
		}
	}
	// https://core.telegram.org/bots/api#sending-files
	for field, value := range map[*int64]int64{&o.MaxPhotoBytes: 10 << 20, &o.MaxVideoBytes: 50 << 20} {
		if *field == 0 {
			*field = value
		}
	}
}

// Telegram implements network.Network, and FormConnector to connect a bot and a
// chat.
type Telegram struct {
	calls   *call.Caller
	options Options
}

var (
	_ network.Network       = (*Telegram)(nil)
	_ network.FormConnector = (*Telegram)(nil)
	_ network.Identifier    = (*Telegram)(nil)
	_ network.Previewer     = (*Telegram)(nil)
)

// New returns the adapter.
func New(client *http.Client, options Options) *Telegram {
	options.setDefaults()
	return &Telegram{calls: call.New(client), options: options}
}

// Name returns "telegram".
func (t *Telegram) Name() string { return Name }

// apiResponse is the envelope of every response.
// https://core.telegram.org/bots/api#making-requests
type apiResponse struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	ErrorCode   int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"` // seconds
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// do calls a method of the Bot API. The token is part of the URL, so the request
// lists it as a secret.
func (t *Telegram) do(
	ctx context.Context, account network.Account, method string, body *call.Body, create bool, into any,
) (*call.Response, error) {
	base, err := t.base(account.BaseURL)
	if err != nil {
		if body.Closer != nil {
			_ = body.Closer.Close()
		}
		return nil, err
	}
	request := call.Request{
		Method: http.MethodPost, URL: base + "/bot" + account.Token.Reveal() + "/" + method,
		Body:   body,
		Create: create, Timeout: t.options.ReadTimeout, Secrets: []secret.Text{account.Token},
	}
	if create {
		request.Timeout = t.options.CreateTimeout
	}
	res, err := t.calls.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	var got apiResponse
	if !res.OK() {
		_ = json.Unmarshal(res.Body, &got) // an error page is not JSON: the status decides
		return res, refusal(res, got)
	}
	if err := res.Decode(&got); err != nil {
		return res, err
	}
	if !got.OK {
		return res, res.MalformedError("it is neither a success nor an error")
	}
	if err := json.Unmarshal(got.Result, into); err != nil {
		return res, res.MalformedError(err.Error())
	}
	return res, nil
}

// base returns the base URL of the Bot API for an account.
func (t *Telegram) base(address string) (string, error) {
	return call.Host("Telegram", address, t.options.Sandbox, t.options.API)
}
