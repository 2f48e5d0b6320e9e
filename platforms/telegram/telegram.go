// Package telegram publishes to Telegram channels and groups through a bot.
//
// The API is described at https://core.telegram.org/bots/api. It has no way to
// ask what a bot has sent, nor any idempotency: a message whose answer was lost
// cannot be looked for.
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

// Name is how this network is called in the API and the database.
const Name = "telegram"

// Options are what an operator may set. The zero value works.
type Options struct {
	API           string `json:"api"`            // default https://api.telegram.org; a self-hosted Bot API server takes larger files
	Site          string `json:"site"`           // of permalinks; default https://t.me
	MaxCharacters int    `json:"max_characters"` // of a message; default 4096
	MaxCaption    int    `json:"max_caption"`    // of text beside attachments; default 1024
	MaxMedia      int    `json:"max_media"`      // default 10
	MaxPhotoBytes int64  `json:"max_photo_bytes"`
	MaxVideoBytes int64  `json:"max_video_bytes"`
	PerMinute     int    `json:"per_minute"` // messages to one chat; default 20

	Sandbox       string        `json:"-"` // base of the sandbox's copy; empty: none
	CreateTimeout time.Duration `json:"-"` // for the publishing call; 0: 4 min
	ReadTimeout   time.Duration `json:"-"` // for other calls; 0: 30 s
}

func (o *Options) defaults() {
	for field, value := range map[*string]string{&o.API: "https://api.telegram.org", &o.Site: "https://t.me"} {
		if *field == "" {
			*field = value
		}
	}
	for field, value := range map[*int]int{&o.MaxCharacters: 4096, &o.MaxCaption: 1024, &o.MaxMedia: 10, &o.PerMinute: 20} {
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

// Telegram implements network.Network and the form that connects a bot to a
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

// New makes the adapter.
func New(client *http.Client, options Options) *Telegram {
	options.defaults()
	return &Telegram{calls: call.New(client), options: options}
}

// Name gives "telegram".
func (t *Telegram) Name() string { return Name }

// answer is the envelope of every answer.
// https://core.telegram.org/bots/api#making-requests
type answer struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	ErrorCode   int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int   `json:"retry_after"` // seconds
		MigrateTo  int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

// do calls a method of the Bot API. The token is part of the address, so the
// request names it as a secret.
func (t *Telegram) do(ctx context.Context, account network.Account, method string, body *call.Body, create bool, into any) (*call.Response, error) {
	base, err := t.base(account.BaseURL)
	if err != nil {
		if body.Closer != nil {
			_ = body.Closer.Close()
		}
		return nil, err
	}
	request := call.Request{Method: http.MethodPost, URL: base + "/bot" + account.Token.Reveal() + "/" + method, Body: body,
		Create: create, Timeout: t.options.ReadTimeout, Secrets: []secret.Text{account.Token}}
	if create {
		request.Timeout = t.options.CreateTimeout
	}
	res, err := t.calls.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	var got answer
	if !res.OK() {
		_ = json.Unmarshal(res.Body, &got) // an error page is no reason to lose the status
		return res, refusal(res, got)
	}
	if err := res.Decode(&got); err != nil {
		return res, err
	}
	if !got.OK {
		return res, res.MalformedError("it is no success, and no refusal either")
	}
	if err := json.Unmarshal(got.Result, into); err != nil {
		return res, res.MalformedError(err.Error())
	}
	return res, nil
}

// base is where the Bot API is for an account.
func (t *Telegram) base(address string) (string, error) {
	return call.Host("Telegram", address, t.options.Sandbox, t.options.API)
}
