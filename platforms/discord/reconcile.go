package discord

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

const (
	pageSize = 100 // Discord's maximum
	maxPages = 5
)

// Reconcile lists the channel's messages since the start of the window and
// compares the bot's own messages with the submission (package matching). A
// webhook cannot list messages.
func (d *Discord) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	if _, hook := webhookID(account); hook {
		return network.Finding{Evidence: []network.Note{network.NewNote("webhook_cannot_list",
			"Webhooks cannot list what they sent. Check the channel and resolve the post.")}}, nil
	}
	if options, _ := submission.Options.(PostOptions); options.Forum != nil {
		return d.reconcileForum(ctx, account, submission, *options.Forum, window)
	}
	author, skew, err := d.identityAndSkew(ctx, account)
	if err != nil {
		return network.Finding{}, err
	}
	from := window.From
	if skew < 0 { // a clock that is behind dates messages before the local send time
		from = from.Add(skew)
	}
	after := max(snowflake(from), parseSnowflake(window.SinceID))
	search, wanted, complete := matching.New(window), matching.NewComparer(submission.Text), false
	for page := 0; page < maxPages && !complete; page++ {
		var list []message
		query := url.Values{"after": {strconv.FormatUint(after, 10)}, "limit": {strconv.Itoa(pageSize)}}
		if err := d.get(ctx, account, messagesPath(account)+"?"+query.Encode(), &list); err != nil {
			return network.Finding{}, err
		}
		complete = len(list) < pageSize
		for _, m := range list {
			after = max(after, parseSnowflake(m.ID))
			if m.Author.ID == author && parseSnowflake(m.ID) >= snowflake(from) {
				search.Add(compare(d.receipt(ctx, account, m), m, submission, wanted))
			}
		}
	}
	return search.Result(from, complete, network.Note{}), nil
}

// identityAndSkew returns the bot's user id, and how far Discord's clock is
// ahead.
func (d *Discord) identityAndSkew(
	ctx context.Context, account network.Account,
) (author string, skew time.Duration, err error) {
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
		return "", 0, res.MalformedError("it contains no user id")
	}
	return me.ID, res.ClockSkew(), nil
}

func compare(receipt network.Receipt, m message, s network.Submission, wanted *matching.Comparer) matching.Post {
	receipt.Differences = m.differences(s)
	return matching.Post{
		Receipt: receipt, Verdict: wanted.Compare(m.Content),
		MediaCountEqual: len(m.Attachments) == len(s.Media), ReplyTargetEqual: m.replyTo() == s.ReplyTo,
	}
}

// snowflake returns the smallest id of a time.
// https://docs.discord.com/developers/reference#snowflakes
func snowflake(at time.Time) uint64 {
	ms := at.UnixMilli() - 1420070400000
	if ms < 0 {
		return 0
	}
	return uint64(ms) << 22
}

// parseSnowflake returns an id as a number, or 0 if it is not an id.
func parseSnowflake(id string) uint64 {
	n, err := strconv.ParseUint(id, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
