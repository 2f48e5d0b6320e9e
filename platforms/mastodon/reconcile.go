package mastodon

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"dateline/internal/infra/message"
	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

const (
	pageSize = 40 // Mastodon's maximum
	maxPages = 5
)

// Reconcile reads the account's own statuses back to the start of the window and
// compares them with the submission: text, number of attachments and reply target
// (package matching). Servers render and rewrite what they are sent: GoToSocial
// and Pleroma, for example, apply Markdown.
func (m *Mastodon) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	if account.RemoteID == "" {
		return network.Finding{}, &network.Error{
			Class: network.Rejected, Code: "unknown_account",
			Message: "The account's id at the instance is not known. Reconnect the account.",
		}
	}
	server, err := m.instance(ctx, account.BaseURL)
	if err != nil {
		return network.Finding{}, err
	}
	compare := matching.NewComparer(normalize(submission.Text))
	options, _ := submission.Options.(PostOptions)
	from := window.From.Truncate(time.Millisecond)
	search, complete, maxID := matching.New(window), false, ""
	for page := 0; page < maxPages && !complete; page++ {
		list, res, err := m.ownStatuses(ctx, account, window.SinceID, maxID)
		if err != nil {
			return network.Finding{}, err
		}
		// An instance whose clock is behind dates posts before the local send
		// time. The window is only ever extended: missing a post would publish it
		// twice.
		if skew := res.ClockSkew(); skew < 0 && window.From.Add(skew).Before(from) {
			from = window.From.Add(skew)
		}
		complete = len(list) == 0
		for _, s := range list {
			maxID = s.ID
			// Some servers ignore since_id.
			if s.CreatedAt.Before(from) || s.ID == window.SinceID {
				complete = true
				break
			}
			receipt := s.receipt(res.RequestID)
			receipt.Differences = s.differences(submission, server.software, time.Time{})
			search.Add(matching.Post{
				Receipt:          receipt,
				Verdict:          compare.Compare(normalize(htmlToText(s.Content))),
				MediaCountEqual:  len(s.Media) == len(submission.MediaIDs),
				ReplyTargetEqual: s.ReplyTo == submission.ReplyTo,
				OptionsDiffer:    options.differs(s),
			})
		}
	}
	var late message.Message
	if !server.software.listsImmediately() {
		late = message.New("listing_unknown", "It is not known whether {software} lists new posts immediately.",
			server.software.String())
	}
	return search.Result(from, complete, late), nil
}

// ownStatuses lists one page, newest first.
// https://docs.joinmastodon.org/methods/accounts/#statuses
func (m *Mastodon) ownStatuses(
	ctx context.Context, account network.Account, sinceID, maxID string,
) ([]status, *call.Response, error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}, "exclude_reblogs": {"true"}}
	if sinceID != "" {
		query.Set("since_id", sinceID)
	}
	if maxID != "" {
		query.Set("max_id", maxID)
	}
	res, err := m.do(ctx, account.BaseURL, "/api/v1/accounts/"+url.PathEscape(account.RemoteID)+"/statuses?"+
		query.Encode(),
		call.Request{Method: http.MethodGet, Token: account.Token})
	if err != nil {
		return nil, nil, err
	}
	var list []status
	if err := res.Decode(&list); err != nil {
		return nil, nil, err
	}
	return list, res, nil
}
