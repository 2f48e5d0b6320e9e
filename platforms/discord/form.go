package discord

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// Fields are a webhook URL, or a bot's token and its channel.
func (d *Discord) Fields() []network.FormField {
	return []network.FormField{
		{
			Name: "webhook_url", Label: "Webhook address", Secret: true, Optional: true,
			Help: "Channel settings, Integrations, Webhooks, Copy URL. Sufficient on its own, but a post whose " +
				"response is lost cannot be found.",
		},
		{
			Name: "bot_token", Label: "Bot token", Secret: true, Optional: true,
			Help: "Of your application, page Bot, in the Discord developer portal. The bot needs View Channel, Send " +
				"Messages, Attach Files and Read Message History.",
		},
		{
			Name: "channel_id", Label: "Channel", Optional: true,
			Help: "Its id, or a link to it (right-click the channel, Copy Link). Required for a bot.",
		},
	}
}

// ConnectForm reads the channel and verifies that it can be posted to.
func (d *Discord) ConnectForm(
	ctx context.Context, baseURL string, values map[string]secret.Text,
) ([]network.Account, error) {
	value := func(name string) string { return strings.TrimSpace(values[name].Reveal()) }
	if _, err := d.base(baseURL); err != nil {
		return nil, err
	}
	switch {
	case value("webhook_url") != "":
		return d.connectWebhook(ctx, baseURL, value("webhook_url"))
	case value("bot_token") != "":
		return d.connectBot(ctx, baseURL, value("bot_token"), value("channel_id"))
	default:
		return nil, invalidField("webhook_url", "Enter a webhook URL, or a bot token and a channel.")
	}
}

func invalidField(field, message string) *network.Error {
	return &network.Error{Class: network.Rejected, Code: "invalid", Field: field, Message: message}
}

// webhookPath matches the path of a webhook URL of any API version. The host is
// ignored: the token is sent to Discord only.
var webhookPath = regexp.MustCompile(`/api(?:/v\d+)?/webhooks/(\d+)/([\w-]+)/?$`) //nolint:gochecknoglobals // compiled once

func (d *Discord) connectWebhook(ctx context.Context, baseURL, address string) ([]network.Account, error) {
	u, err := url.Parse(address)
	var parts []string
	if err == nil {
		parts = webhookPath.FindStringSubmatch(u.Path)
	}
	if parts == nil {
		return nil, invalidField("webhook_url", "A webhook URL looks like https://discord.com/api/webhooks/123/abc.")
	}
	account := network.Account{
		BaseURL: baseURL, RemoteID: webhookPrefix + parts[1], Token: secret.NewText(parts[2]),
		Kind: network.KindChannel,
	}
	account, err = d.readName(ctx, account)
	if err != nil {
		return nil, fieldError(err, "webhook_url", "Discord does not know this webhook.")
	}
	return []network.Account{account}, nil
}

// Identify reads the webhook, or the bot and its channel.
func (d *Discord) Identify(ctx context.Context, account network.Account) (network.Account, error) {
	if _, ok := webhookID(account); !ok {
		if err := d.currentUser(ctx, account); err != nil {
			return account, err
		}
	}
	return d.readName(ctx, account)
}

// readName reads the name of the webhook or the channel.
func (d *Discord) readName(ctx context.Context, account network.Account) (network.Account, error) {
	path := "/channels/" + account.RemoteID
	hook, isHook := webhookID(account)
	if isHook {
		path = messagesPath(account)
	}
	var found struct {
		Name string `json:"name"`
	}
	if err := d.get(ctx, account, path, &found); err != nil {
		return account, err
	}
	switch {
	case !isHook:
		account.Name, account.Handle = found.Name, "#"+found.Name
	case found.Name == "":
		account.Name, account.Handle = "Webhook", "webhook "+hook
	default:
		account.Name, account.Handle = found.Name, found.Name
	}
	return account, nil
}

// channelID matches the id of a channel, alone or at the end of a link.
var channelID = regexp.MustCompile(`^(?:https://[\w.]+/channels/\d+/)?(\d{1,20})$`) //nolint:gochecknoglobals // compiled once

func (d *Discord) connectBot(ctx context.Context, baseURL, token, channel string) ([]network.Account, error) {
	parts := channelID.FindStringSubmatch(channel)
	if parts == nil {
		return nil, invalidField("channel_id", "Enter the channel's id or a link to it.")
	}
	if strings.ContainsAny(token, " \t\r\n") {
		return nil, invalidField("bot_token", "A bot token contains no spaces.")
	}
	account := network.Account{
		BaseURL: baseURL, RemoteID: parts[1], Token: secret.NewText(token), Kind: network.KindChannel,
	}
	if err := d.currentUser(ctx, account); err != nil {
		return nil, fieldError(err, "bot_token", "Discord does not know this bot token.")
	}
	account, err := d.readName(ctx, account)
	if err != nil {
		return nil, fieldError(err, "channel_id",
			"The bot cannot see this channel. Invite it to the server and allow it to view the channel.")
	}
	return []network.Account{account}, nil
}

func fieldError(err error, field, message string) error {
	var e *network.Error
	if errors.As(err, &e) && e.Status != 0 && (e.Class == network.Auth || e.Class == network.Rejected) {
		e.Field, e.Message = field, message
	}
	return err
}

func (d *Discord) get(ctx context.Context, account network.Account, path string, into any) error {
	res, err := d.do(ctx, account, path, call.Request{Method: http.MethodGet})
	if err != nil {
		return err
	}
	return res.Decode(into)
}

// currentUser returns the user that a token belongs to.
func (d *Discord) currentUser(ctx context.Context, account network.Account) error {
	var me struct {
		ID string `json:"id"`
	}
	return d.get(ctx, account, "/users/@me", &me)
}

// locate returns the location of the account's channel. It is cached.
func (d *Discord) locate(ctx context.Context, account network.Account) (location, error) {
	d.mu.Lock()
	known, ok := d.locations[account.BaseURL+" "+account.RemoteID]
	d.mu.Unlock()
	if ok {
		return known, nil
	}
	path := "/channels/" + account.RemoteID
	if _, ok := webhookID(account); ok {
		path = messagesPath(account)
	}
	var found struct {
		ID        string `json:"id"`
		GuildID   string `json:"guild_id"`
		ChannelID string `json:"channel_id"` // of a webhook
	}
	if err := d.get(ctx, account, path, &found); err != nil {
		return location{}, err
	}
	known = location{guild: found.GuildID, channel: found.ID}
	if found.ChannelID != "" {
		known.channel = found.ChannelID
	}
	d.mu.Lock()
	d.locations[account.BaseURL+" "+account.RemoteID] = known
	d.mu.Unlock()
	return known, nil
}
