package mastodon

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

const (
	pageSize = 40 // the most that Mastodon gives at once
	maxPages = 5
)

// Reconcile reads the account's own statuses back to the window's start and
// looks for the one that equals the submission: text, number of attachments,
// and the post it answers.
//
// It claims a status only when it is the single match. When two match, a later
// post of the same words must not be taken for the lost one: the answer is then
// not found and not conclusive, and sending again with the same key within
// Limits.IdempotencyWindow makes the instance itself name the right one.
func (m *Mastodon) Reconcile(ctx context.Context, account network.Account, submission network.Submission, window network.Window) (network.Finding, error) {
	if account.RemoteID == "" {
		return network.Finding{}, &network.Error{Class: network.Rejected, Code: "unknown_account",
			Message: "The account's id at the instance is not known: identify it before reconciling."}
	}
	wanted := normal(submission.Text)
	from := window.From.Truncate(time.Millisecond)
	var matches []network.Receipt
	seen, complete, maxID := 0, false, ""
	for page := 0; page < maxPages && !complete; page++ {
		list, res, err := m.ownStatuses(ctx, account, window.SinceID, maxID)
		if err != nil {
			return network.Finding{}, err
		}
		// An instance whose clock is behind dates its posts before we sent
		// them. The window only ever grows: a post missed is a post made twice.
		if skew := res.Skew(); skew < 0 && window.From.Add(skew).Before(from) {
			from = window.From.Add(skew)
		}
		complete = len(list) == 0
		for _, s := range list {
			maxID = s.ID
			if s.CreatedAt.Before(from) {
				complete = true
				break
			}
			seen++
			if !window.Known[s.ID] && s.ReplyTo == submission.ReplyTo && len(s.Media) == len(submission.MediaIDs) &&
				normal(plain(s.Content)) == wanted {
				matches = append(matches, s.receipt(res.RequestID))
			}
		}
	}
	switch {
	case len(matches) == 1:
		return network.Finding{Found: true, Receipt: matches[0], Conclusive: true, Evidence: fmt.Sprintf(
			"Among %d statuses of the account since %s, %s has the same text, attachments and reply target.",
			seen, from.UTC().Format(time.RFC3339), matches[0].RemoteID)}, nil
	case len(matches) > 1:
		ids := make([]string, len(matches))
		for i, match := range matches {
			ids[i] = match.RemoteID
		}
		return network.Finding{Evidence: fmt.Sprintf(
			"%d statuses have the same text, attachments and reply target (%s): which of them is this post cannot be told.",
			len(matches), strings.Join(ids, ", "))}, nil
	default:
		return network.Finding{Conclusive: complete, Evidence: fmt.Sprintf(
			"None of %d statuses of the account since %s has the same text, attachments and reply target.",
			seen, from.UTC().Format(time.RFC3339))}, nil
	}
}

// ownStatuses lists one page, newest first.
// https://docs.joinmastodon.org/methods/accounts/#statuses
func (m *Mastodon) ownStatuses(ctx context.Context, account network.Account, sinceID, maxID string) ([]status, *call.Response, error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}, "exclude_reblogs": {"true"}}
	if sinceID != "" {
		query.Set("since_id", sinceID)
	}
	if maxID != "" {
		query.Set("max_id", maxID)
	}
	res, err := m.do(ctx, account.BaseURL, "/api/v1/accounts/"+url.PathEscape(account.RemoteID)+"/statuses?"+query.Encode(),
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
