package notification

import (
	"errors"
	"net/mail"
	"regexp"
	"strings"

	"dateline/internal/infra/apperr"
	"dateline/internal/notify/webhook"
)

// checkDestination validates the parts that a kind needs, normalizes its URL, and drops
// the other parts.
func (s *Service) checkDestination(k Kind, d *Destination) (problems []apperr.FieldError) {
	add := func(field, code, message string) {
		problems = append(problems, apperr.FieldError{Field: field, Code: code, Message: message})
	}
	if k != Browser {
		d.Keys = PushKeys{}
	}
	for field, text := range map[string]string{
		"url": d.URL, "token": d.Token, "recipient": d.Recipient,
		"push_keys": d.Keys.P256dh + d.Keys.Auth,
	} {
		if len(text) > maxSecret || !isText(text) || strings.ContainsAny(text, "\r\n") {
			add(field, "invalid", "Must be one line of at most 2,000 characters.")
			return problems
		}
	}
	checkURL := func() {
		address, err := webhook.CheckURL(s.Guard, d.URL)
		var invalid *apperr.Error
		if errors.As(err, &invalid) {
			problems = append(problems, invalid.Fields...)
			return
		}
		d.URL = address
	}
	switch k {
	case Email:
		d.URL, d.Token = "", ""
		if parsed, err := mail.ParseAddress(d.Recipient); err != nil || parsed.Address != d.Recipient ||
			len(d.Recipient) > 254 {
			add("recipient", "invalid", "Enter one email address, such as editor@news.example.")
		}
	case Telegram:
		if d.URL != "" {
			checkURL()
		}
		if !regexp.MustCompile(`^[0-9]+:[A-Za-z0-9_-]+$`).MatchString(d.Token) {
			add("token", "invalid", "Enter the token of the bot, such as 123456:ABC-DEF, which @BotFather shows.")
		}
		if !regexp.MustCompile(`^(-?[0-9]{1,20}|@[A-Za-z0-9_]{1,64})$`).MatchString(d.Recipient) {
			add("recipient", "invalid",
				"Enter the ID of the chat, such as -1001234567890, or the name of a channel, such as @newsroom.")
		}
	case Matrix:
		checkURL()
		if d.Token == "" {
			add("token", "required", "Enter the access token of the account that sends the messages.")
		}
		if !strings.HasPrefix(d.Recipient, "!") || len(d.Recipient) > 255 {
			add("recipient", "invalid", "Enter the ID of the room, such as !abc:news.example.")
		}
	case Ntfy:
		checkURL()
		d.Recipient = ""
		if len(problems) == 0 && !regexp.MustCompile(`^https?://[^/?]+/([^?]+/)?[-_A-Za-z0-9]{1,64}$`).
			MatchString(d.URL) {
			add("url", "invalid", "Enter the address of the topic, such as https://ntfy.sh/newsroom.")
		}
	case Webhook:
		checkURL()
		d.Recipient = ""
	case Browser:
		checkURL()
		d.Token, d.Recipient = "", ""
		if !d.Keys.valid() {
			add("push_keys", "invalid", "Must be the keys of the browser's subscription: p256dh and auth.")
		}
	case Slack, Discord, Teams:
		checkURL()
		d.Token, d.Recipient = "", ""
	}
	return problems
}
