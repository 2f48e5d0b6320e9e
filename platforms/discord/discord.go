// Package discord publishes to Discord channels, as a bot or through a webhook.
//
// The API is documented at https://docs.discord.com/developers/reference. A bot
// can search for a message whose response was lost; a webhook cannot.
package discord

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Name is the network's name in the API and the database.
const Name = "discord"

// Options configures the adapter. The zero value works.
type Options struct {
	API             string `json:"api"`  // default https://discord.com/api/v10
	Site            string `json:"site"` // host of permalinks; default https://discord.com
	MaxCharacters   int    `json:"max_characters"`
	MaxMedia        int    `json:"max_media"`
	MaxFileBytes    int64  `json:"max_file_bytes"`    // per attachment; boosted servers allow more
	MaxRequestBytes int64  `json:"max_request_bytes"` // of all attachments of a message together
	MaxAltText      int    `json:"max_alt_text"`

	Sandbox       string        `json:"-"` // base URL of the fake network (sandbox); empty: none
	CreateTimeout time.Duration `json:"-"` // timeout of the publishing call; 0: 4 min
	ReadTimeout   time.Duration `json:"-"` // timeout of other calls; 0: 30 s
}

// setDefaults sets the documented limits:
// https://docs.discord.com/developers/resources/message and
// https://docs.discord.com/developers/reference#uploading-files.
func (o *Options) setDefaults() {
	for field, value := range map[*string]string{
		&o.API:  "https://discord.com/api/v10",
		&o.Site: "https://discord.com",
	} {
		if *field == "" {
			*field = value
		}
	}
	for field, value := range map[*int]int{&o.MaxCharacters: 2000, &o.MaxMedia: 10, &o.MaxAltText: 1024} {
		if *field == 0 {
			*field = value
		}
	}
	for field, value := range map[*int64]int64{&o.MaxFileBytes: 10 << 20, &o.MaxRequestBytes: 25 << 20} {
		if *field == 0 {
			*field = value
		}
	}
}

// Discord implements network.Network, and FormConnector to connect a channel.
type Discord struct {
	calls   *call.Caller
	options Options

	mu        sync.Mutex
	locations map[string]location // by remote id of the account
}

// location is the server and channel of an account. Permalinks contain both.
type location struct{ guild, channel string }

var (
	_ network.Network       = (*Discord)(nil)
	_ network.FormConnector = (*Discord)(nil)
	_ network.Identifier    = (*Discord)(nil)
	_ network.Previewer     = (*Discord)(nil)
	_ network.Measurer      = (*Discord)(nil)
)

// New returns the adapter.
func New(client *http.Client, options Options) *Discord {
	options.setDefaults()
	return &Discord{calls: call.New(client), options: options, locations: map[string]location{}}
}

// Name returns "discord".
func (d *Discord) Name() string { return Name }

// webhookPrefix is the prefix of the remote ids of webhooks. The remote id of a
// bot is its channel's id.
const webhookPrefix = "webhook/"

// webhookID returns the id of a webhook; false for a bot.
func webhookID(account network.Account) (string, bool) {
	return strings.CutPrefix(account.RemoteID, webhookPrefix)
}

// messagesPath returns the path of the account's messages. The path of a webhook
// contains its secret.
func messagesPath(account network.Account) string {
	if id, ok := webhookID(account); ok {
		return "/webhooks/" + id + "/" + account.Token.Reveal()
	}
	return "/channels/" + account.RemoteID + "/messages"
}

func (d *Discord) do(
	ctx context.Context, account network.Account, path string, request call.Request,
) (*call.Response, error) {
	base, err := d.base(account.BaseURL)
	if err != nil {
		if request.Body != nil && request.Body.Closer != nil {
			_ = request.Body.Closer.Close()
		}
		return nil, err
	}
	request.URL, request.Secrets = base+path, []secret.Text{account.Token}
	if _, ok := webhookID(account); !ok {
		// Discord's own scheme is "Bot"
		// (https://docs.discord.com/developers/reference#authentication).
		request.Header = http.Header{"Authorization": {"Bot " + account.Token.Reveal()}}
	}
	request.Timeout = d.options.ReadTimeout
	if request.Create {
		request.Timeout = d.options.CreateTimeout
	}
	res, err := d.calls.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	if !res.OK() {
		return res, refusal(res)
	}
	return res, nil
}

// base returns the base URL of the API for an account.
func (d *Discord) base(address string) (string, error) {
	host, err := call.Host("Discord", address, d.options.Sandbox, d.options.API)
	if err == nil && address != "" {
		host += "/api/v10"
	}
	return host, err
}
