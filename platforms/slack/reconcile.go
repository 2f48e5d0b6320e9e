package slack

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"dateline/platforms/network"
)

const (
	pageSize = 100 // at most 200, which Slack advises; apps with a lower limit get 15
	maxPages = 10
)

// listing returns the method that lists a thread, or the messages of a channel that are not
// replies, and its parameters: https://docs.slack.dev/reference/methods/conversations.history
// and https://docs.slack.dev/reference/methods/conversations.replies.
func listing(account network.Account, thread string) (method string, query url.Values) {
	query = url.Values{"channel": {account.RemoteID}, "include_all_metadata": {"true"}}
	if thread == "" {
		return "conversations.history", query
	}
	query.Set("ts", thread)
	return "conversations.replies", query
}

// Reconcile lists the channel's or the thread's messages since the start of the window.
// The one with the submission's key in its metadata is the lost one.
func (s *Slack) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	_, res, err := s.whoami(ctx, account)
	if err != nil {
		return network.Finding{}, err
	}
	from := window.From
	if skew := res.ClockSkew(); skew < 0 { // a clock that is behind dates messages before the local send time
		from = from.Add(skew)
	}
	if _, since := parseID(window.SinceID); timeOf(since).After(from) {
		from = timeOf(since)
	}
	thread := threadOf(submission)
	method, query := listing(account, thread)
	query.Set("oldest", fmt.Sprintf("%d.%06d", from.Unix(), from.Nanosecond()/1000))
	query.Set("limit", strconv.Itoa(pageSize))
	seen, complete := 0, false
	for page := 0; page < maxPages && !complete; page++ {
		var list struct {
			apiResponse
			Messages []message `json:"messages"`
			HasMore  bool      `json:"has_more"`
		}
		if _, err := s.get(ctx, account, method, query, &list); err != nil {
			return network.Finding{}, err
		}
		for _, m := range list.Messages {
			if m.TS == thread || !timeOf(m.TS).After(from) {
				continue
			}
			seen++
			if id := idOf(thread, m.TS); m.Metadata.Payload[operation] == submission.Key && !window.Known[id] {
				return network.Finding{
					Found: true, Conclusive: true, Receipt: s.receipt(ctx, account, submission, m),
					Evidence: []network.Note{network.NewNote("operation_found",
						"Message {id} has the key of this post in its metadata.", id)},
				}, nil
			}
		}
		complete = list.Metadata.NextCursor == "" && !list.HasMore
		if list.Metadata.NextCursor == "" {
			break
		}
		query.Set("cursor", list.Metadata.NextCursor)
	}
	evidence := []network.Note{network.NewNote("no_operation",
		"None of {count} messages since {since_at} has the key of this post in its metadata.", seen,
		from.UTC().Format(time.RFC3339))}
	switch {
	case !complete:
		evidence = append(evidence, network.NewNote("more_posts", "There are more posts than could be read."))
	case !s.options.ListsAtOnce:
		evidence = append(evidence,
			network.NewNote("listed_late_slack", "Slack does not say how soon it lists messages."))
	}
	return network.Finding{Conclusive: complete && s.options.ListsAtOnce, Evidence: evidence}, nil
}
