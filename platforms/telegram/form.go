package telegram

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"dateline/internal/identity/secret"
	"dateline/platforms/call"
	"dateline/platforms/network"
)

// chat contains the used fields of https://core.telegram.org/bots/api#chat.
type chat struct {
	ID       int64  `json:"id"`
	Type     string `json:"type"` // private, group, supergroup or channel
	Title    string `json:"title"`
	Username string `json:"username"`
}

// Fields are a bot's token and the chat that it posts to.
func (t *Telegram) Fields() []network.FormField {
	return []network.FormField{
		{
			Name: "bot_token", Label: "Bot token", Secret: true,
			Help: "@BotFather provides it when you create a bot with /newbot.",
		},
		{
			Name: "chat", Label: "Channel or group",
			Help: "@name of a public channel, or the id of a private one, such as -1001234567890. The bot must be an " +
				"administrator with the right to post messages.",
		},
	}
}

// ConnectForm reads the chat and verifies that the bot can post to it.
func (t *Telegram) ConnectForm(
	ctx context.Context, baseURL string, values map[string]secret.Text,
) ([]network.Account, error) {
	account := network.Account{
		BaseURL: baseURL, Token: secret.NewText(strings.TrimSpace(values["bot_token"].Reveal())),
		Kind: network.KindChannel,
	}
	if strings.ContainsAny(account.Token.Reveal(), "/?#% \t\n") {
		return nil, &network.Error{
			Class: network.Rejected, Code: "invalid", Field: "bot_token",
			Message: "A bot token looks like 123456:ABC-DEF.",
		}
	}
	bot, err := t.bot(ctx, account)
	if err != nil {
		return nil, fieldError(err, "bot_token")
	}
	name := strings.TrimSpace(values["chat"].Reveal())
	if name != "" && name[0] != '@' && name[0] != '-' {
		name = "@" + strings.TrimPrefix(strings.TrimPrefix(name, "https://"), "t.me/")
	}
	found, err := t.find(ctx, account, bot, name)
	if err != nil {
		return nil, fieldError(err, "chat")
	}
	return []network.Account{found}, nil
}

// Identify reads the bot and its chat, and verifies that the bot can still post.
func (t *Telegram) Identify(ctx context.Context, account network.Account) (network.Account, error) {
	bot, err := t.bot(ctx, account)
	if err != nil {
		return account, err
	}
	return t.find(ctx, account, bot, account.RemoteID)
}

// bot returns the id of the bot that a token belongs to.
func (t *Telegram) bot(ctx context.Context, account network.Account) (int64, error) {
	var bot struct {
		ID int64 `json:"id"`
	}
	err := t.query(ctx, account, "getMe", struct{}{}, &bot)
	return bot.ID, err
}

// find returns a chat by name or id if the bot can post to it.
func (t *Telegram) find(ctx context.Context, account network.Account, bot int64, name string) (network.Account, error) {
	var found chat
	if err := t.query(ctx, account, "getChat", map[string]any{"chat_id": name}, &found); err != nil {
		return account, err
	}
	if err := t.canPost(ctx, account, found, bot); err != nil {
		return account, err
	}
	account.RemoteID, account.Name, account.Handle = strconv.FormatInt(found.ID, 10), found.Title, found.Title
	if found.Username != "" {
		account.Handle = "@" + found.Username
	}
	if account.Name == "" {
		account.Name = account.Handle
	}
	return account, nil
}

// canPost checks the bot's rights
// (https://core.telegram.org/bots/api#chatmember): in a channel, only
// administrators with the right to post can post.
func (t *Telegram) canPost(ctx context.Context, account network.Account, c chat, bot int64) error {
	var member struct {
		Status  string `json:"status"`
		MayPost bool   `json:"can_post_messages"`
	}
	if err := t.query(ctx, account, "getChatMember", map[string]any{"chat_id": c.ID, "user_id": bot},
		&member); err != nil {
		return err
	}
	switch {
	case c.Type == "private":
		return &network.Error{
			Class: network.Rejected, Code: "private_chat",
			Message: "This is a private chat. Enter a channel or a group.",
		}
	case member.Status == "left", member.Status == "kicked", c.Type == "channel" &&
		(member.Status != "administrator" || !member.MayPost):
		return &network.Error{
			Class: network.Rejected, Code: "not_allowed_in_chat",
			Message: "The bot cannot post in this chat. Make it an administrator with the right to post messages, " +
				"and try again.",
		}
	}
	return nil
}

func (t *Telegram) query(ctx context.Context, account network.Account, method string, params, into any) error {
	body, err := call.JSON(params)
	if err != nil {
		return &network.Error{Class: network.NotSent, Code: "bad_request", Message: err.Error(), Err: err}
	}
	_, err = t.do(ctx, account, method, body, false, into)
	return err
}

func fieldError(err error, field string) error {
	var e *network.Error
	if errors.As(err, &e) && e.Field == "" && e.Status != 0 {
		if e.Class == network.Auth && field == "bot_token" {
			e.Message = "Telegram does not know this bot token."
		}
		e.Field = field
		if field == "chat" && e.Status == http.StatusBadRequest {
			e.Message = "Telegram does not know this chat, or the bot is not a member of it."
		}
	}
	if errors.As(err, &e) && e.Field == "" && e.Class == network.Rejected {
		e.Field = field
	}
	return err
}
