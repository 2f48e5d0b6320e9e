package discord

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

const (
	pageSize = 100 // the most that Discord gives at once
	maxPages = 5
)

// Reconcile lists what the channel got since the window began, and looks for the
// one message of the bot that equals the submission. A webhook cannot list.
func (d *Discord) Reconcile(ctx context.Context, account network.Account, submission network.Submission, window network.Window) (network.Finding, error) {
	if _, hook := webhookID(account); hook {
		return network.Finding{Evidence: "Webhooks do not tell what they sent, so somebody has to look."}, nil
	}
	author, skew, err := d.whoAndWhen(ctx, account)
	if err != nil {
		return network.Finding{}, err
	}
	from := window.From
	if skew < 0 { // a clock that is behind dates messages before we sent them
		from = from.Add(skew)
	}
	after := max(snowflake(from), number(window.SinceID))
	var matches []message
	seen, complete := 0, false
	for page := 0; page < maxPages && !complete; page++ {
		var list []message
		query := url.Values{"after": {strconv.FormatUint(after, 10)}, "limit": {strconv.Itoa(pageSize)}}
		if err := d.get(ctx, account, messages(account)+"?"+query.Encode(), &list); err != nil {
			return network.Finding{}, err
		}
		complete = len(list) < pageSize
		seen += len(list)
		for _, m := range list {
			after = max(after, number(m.ID))
			if m.Author.ID == author && !window.Known[m.ID] && equal(m, submission) {
				matches = append(matches, m)
			}
		}
	}
	since := from.UTC().Format(time.RFC3339)
	switch {
	case len(matches) == 1:
		return network.Finding{Found: true, Conclusive: true, Receipt: d.receipt(ctx, account, matches[0]), Evidence: fmt.Sprintf(
			"Among %d messages of the channel since %s, %s is the bot's with the same text, attachments and reply target.", seen, since, matches[0].ID)}, nil
	case len(matches) > 1:
		return network.Finding{Evidence: fmt.Sprintf(
			"%d messages since %s have the same text, attachments and reply target: which of them is this post cannot be told.", len(matches), since)}, nil
	default:
		return network.Finding{Conclusive: complete, Evidence: fmt.Sprintf(
			"None of %d messages of the channel since %s is the bot's with the same text, attachments and reply target.", seen, since)}, nil
	}
}

// whoAndWhen asks for the bot's user id, and how far Discord's clock is ahead.
func (d *Discord) whoAndWhen(ctx context.Context, account network.Account) (author string, skew time.Duration, err error) {
	res, err := d.do(ctx, account, "/users/@me", call.Request{Method: http.MethodGet})
	if err != nil {
		return "", 0, err
	}
	var me struct {
		ID string `json:"id"`
	}
	if err := res.Decode(&me); err != nil {
		return "", 0, err
	}
	if me.ID == "" {
		return "", 0, res.Unreadable("it has no user id")
	}
	return me.ID, res.Skew(), nil
}

func equal(m message, s network.Submission) bool {
	replyTo := ""
	if m.Reference != nil {
		replyTo = m.Reference.MessageID
	}
	return normal(m.Content) == normal(s.Text) && len(m.Attachments) == len(s.Media) && replyTo == s.ReplyTo
}

// normal leaves out what Discord changes: it cuts off white space.
func normal(text string) string { return norm.NFC.String(strings.TrimSpace(text)) }

// snowflake is the smallest id of a time.
// https://docs.discord.com/developers/reference#snowflakes
func snowflake(at time.Time) uint64 {
	ms := at.UnixMilli() - 1420070400000
	if ms < 0 {
		return 0
	}
	return uint64(ms) << 22
}

// number of an id; 0 when it is none.
func number(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
