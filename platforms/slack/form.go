package slack

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

const (
	fieldToken   = "bot_token"
	fieldChannel = "channel"
)

// Fields are a bot's token and the channel that it posts to.
func (s *Slack) Fields() []network.FormField {
	return []network.FormField{
		{
			Name: fieldToken, Label: "Bot token", Secret: true,
			Help: "Of your Slack app, page OAuth & Permissions: the Bot User OAuth Token, which begins with xoxb-.",
		},
		{Name: fieldChannel, Label: "Channel", Help: "Its name, its id or a link to it. Invite the bot to it first."},
	}
}

// bot is the user that a token belongs to.
// https://docs.slack.dev/reference/methods/auth.test
type bot struct {
	URL  string `json:"url"` // of the workspace
	Team string `json:"team"`
	User string `json:"user"`
	ID   string `json:"user_id"`
}

// channel has the used fields of https://docs.slack.dev/reference/objects/conversation-object.
type channel struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	IsArchived bool   `json:"is_archived"`
	IsMember   bool   `json:"is_member"`
	IsPrivate  bool   `json:"is_private"`
}

// whoami returns the bot, and the response with its scopes and the time of the server.
func (s *Slack) whoami(ctx context.Context, account network.Account) (bot, *call.Response, error) {
	var who bot
	res, err := s.get(ctx, account, "auth.test", nil, &who)
	if err == nil && (who.ID == "" || who.URL == "") {
		err = res.MalformedError("it names no user or workspace")
	}
	return who, res, err
}

// ConnectForm reads the channel, and verifies that the bot may do everything there.
func (s *Slack) ConnectForm(
	ctx context.Context, baseURL string, values map[string]secret.Text,
) ([]network.Account, error) {
	token := strings.TrimSpace(values[fieldToken].Reveal())
	if !regexp.MustCompile(`^xoxb-[\w-]+$`).MatchString(token) {
		return nil, refused(fieldToken, "not_a_bot_token",
			"This is not a bot token, which begins with xoxb-. Tokens of users and of app settings are others.")
	}
	account := network.Account{BaseURL: baseURL, Token: secret.NewText(token), Kind: network.KindChannel}
	who, res, err := s.whoami(ctx, account)
	if err != nil {
		return nil, inField(err, fieldToken)
	}
	account.Scopes = strings.Fields(strings.ReplaceAll(res.Header.Get("X-OAuth-Scopes"), ",", " "))
	found, err := s.find(ctx, account, strings.TrimSpace(values[fieldChannel].Reveal()))
	if err != nil {
		return nil, inField(err, fieldChannel)
	}
	kind := map[bool]string{false: "channels", true: "groups"}[found.IsPrivate]
	missing := slices.DeleteFunc([]string{"chat:write", "files:read", "files:write", kind + ":read", kind + ":history"},
		func(name string) bool { return slices.Contains(account.Scopes, name) })
	switch {
	case len(missing) > 0:
		return nil, refused(fieldToken, "scopes_missing", "The bot lacks the scopes "+strings.Join(missing, ", ")+
			". Add them under OAuth & Permissions, install the app again, and enter the new token.")
	case found.IsArchived:
		return nil, refused(fieldChannel, "channel_archived", "This channel is archived. Choose another one.")
	case !found.IsMember:
		return nil, refused(fieldChannel, "bot_not_in_channel",
			"The bot is not a member of this channel. Invite it there with /invite @"+who.User+".")
	}
	return []network.Account{identified(account, found, who)}, nil
}

// Identify reads the bot and its channel.
func (s *Slack) Identify(ctx context.Context, account network.Account) (network.Account, error) {
	who, _, err := s.whoami(ctx, account)
	if err != nil {
		return account, err
	}
	found, err := s.find(ctx, account, account.RemoteID)
	if err != nil {
		return account, err
	}
	return identified(account, found, who), nil
}

func identified(account network.Account, c channel, who bot) network.Account {
	account.RemoteID, account.Handle, account.Name = c.ID, "#"+c.Name, strings.TrimSpace(who.Team+" "+c.Name)
	return account
}

// find returns a channel by its id, a link to it, or its name:
// https://docs.slack.dev/reference/methods/conversations.info and
// https://docs.slack.dev/reference/methods/conversations.list.
func (s *Slack) find(ctx context.Context, account network.Account, text string) (channel, error) {
	id := regexp.MustCompile(`^(?:https?://[\w.:/-]+/(?:archives|client/\w+)/)?([CG][A-Z0-9]{8,})\b`).FindStringSubmatch(text)
	if id != nil {
		var got struct {
			Channel channel `json:"channel"`
		}
		res, err := s.get(ctx, account, "conversations.info", url.Values{"channel": {id[1]}}, &got)
		if err == nil && got.Channel.ID == "" {
			err = res.MalformedError("it contains no channel")
		}
		return got.Channel, err
	}
	name := norm.NFC.String(strings.ToLower(strings.TrimPrefix(text, "#")))
	isNamed := func(c channel) bool { return norm.NFC.String(c.Name) == name }
	types := "public_channel"
	if slices.Contains(account.Scopes, "groups:read") {
		types += ",private_channel"
	}
	query := url.Values{"types": {types}, "limit": {"1000"}}
	for range maxPages {
		var page struct {
			apiResponse
			Channels []channel `json:"channels"`
		}
		if _, err := s.get(ctx, account, "conversations.list", query, &page); err != nil {
			return channel{}, err
		}
		if i := slices.IndexFunc(page.Channels, isNamed); i >= 0 {
			return page.Channels[i], nil
		}
		if page.Metadata.NextCursor == "" {
			break
		}
		query.Set("cursor", page.Metadata.NextCursor)
	}
	return channel{}, refused(fieldChannel, "no_such_channel",
		"The bot sees no channel of this name. Invite it to the channel, or enter the channel's id.")
}

// inField names the field that Slack refused.
func inField(err error, field string) error {
	e := network.AsError(err)
	if e.Field == "" && (e.Class == network.Auth || e.Class == network.Rejected) {
		e.Field = field
	}
	return e
}
