package x

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
	firstPage = 10  // X bills every post that it shows
	pageSize  = 100 // the most that X gives at once
	maxPages  = 8
)

// listed is what is used of X's Post.
type listed struct {
	ID          string   `json:"id"`
	Text        string   `json:"text"`
	Entities    entities `json:"entities"`
	Attachments struct {
		MediaKeys []string `json:"media_keys"`
	} `json:"attachments"`
	// Note is the whole of a long post; Text is then cut off.
	Note *struct {
		Text     string   `json:"text"`
		Entities entities `json:"entities"`
	} `json:"note_tweet"`
	References []struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"referenced_tweets"`
}

type entities struct {
	URLs []struct {
		URL      string `json:"url"`
		Expanded string `json:"expanded_url"`
		MediaKey string `json:"media_key"` // of an attachment's own address
	} `json:"urls"`
}

func (l listed) replyTo() string {
	for _, r := range l.References {
		if r.Type == "replied_to" {
			return r.ID
		}
	}
	return ""
}

// Reconcile reads the account's own posts back to the window's start and looks
// for the one that equals the submission: text with its links unfolded, number
// of attachments, and the post it answers. It claims a post only when it is the
// single match.
func (x *X) Reconcile(ctx context.Context, account network.Account, submission network.Submission, window network.Window) (network.Finding, error) {
	if account.RemoteID == "" {
		return network.Finding{}, &network.Error{Class: network.Rejected, Code: "unknown_account",
			Message: "The account's id at X is not known: identify it before reconciling."}
	}
	wanted := normal(submission.Text)
	from := window.From.Truncate(time.Millisecond)
	var matches []network.Receipt
	seen, complete, next := 0, false, ""
	for page := 0; page < maxPages && !complete; page++ {
		list, res, token, err := x.ownPosts(ctx, account, page, window.SinceID, next)
		if err != nil {
			return network.Finding{}, err
		}
		// Where X's clock is behind, posts are dated before we sent them. The
		// window only ever grows: a post missed is a post made twice.
		if skew := res.Skew(); skew < 0 && window.From.Add(skew).Before(from) {
			from = window.From.Add(skew)
		}
		complete, next = token == "", token
		for _, l := range list {
			id, err := strconv.ParseUint(l.ID, 10, 64)
			if err != nil {
				return network.Finding{}, res.Unreadable("a post has the id " + strconv.Quote(l.ID))
			}
			if timeOf(id).Before(from) {
				complete = true
				break
			}
			seen++
			if !window.Known[l.ID] && l.replyTo() == submission.ReplyTo && len(l.Attachments.MediaKeys) == len(submission.MediaIDs) &&
				same(l, wanted, account) {
				matches = append(matches, network.Receipt{RemoteID: l.ID, URL: x.permalink(account, l.ID), CreatedAt: timeOf(id), RequestID: res.RequestID})
			}
		}
	}
	return finding(matches, seen, from, complete), nil
}

func finding(matches []network.Receipt, seen int, from time.Time, complete bool) network.Finding {
	since := from.UTC().Format(time.RFC3339)
	switch len(matches) {
	case 0:
		return network.Finding{Conclusive: complete, Evidence: fmt.Sprintf(
			"None of %d posts of the account since %s has the same text, attachments and reply target.", seen, since)}
	case 1:
		return network.Finding{Found: true, Receipt: matches[0], Conclusive: true, Evidence: fmt.Sprintf(
			"Among %d posts of the account since %s, %s has the same text, attachments and reply target.", seen, since, matches[0].RemoteID)}
	default:
		ids := make([]string, len(matches))
		for i, match := range matches {
			ids[i] = match.RemoteID
		}
		return network.Finding{Evidence: fmt.Sprintf(
			"%d posts have the same text, attachments and reply target (%s): which of them is this one cannot be told.",
			len(matches), strings.Join(ids, ", "))}
	}
}

// ownPosts lists one page, newest first, without reposts.
// https://docs.x.com/x-api/posts/timelines/introduction
func (x *X) ownPosts(ctx context.Context, account network.Account, page int, sinceID, token string) ([]listed, *call.Response, string, error) {
	query := url.Values{
		"max_results":  {strconv.Itoa(pageSize)},
		"exclude":      {"retweets"},
		"tweet.fields": {"created_at,entities,attachments,referenced_tweets,note_tweet"},
	}
	if page == 0 {
		query.Set("max_results", strconv.Itoa(firstPage))
	}
	if sinceID != "" {
		query.Set("since_id", sinceID)
	}
	if token != "" {
		query.Set("pagination_token", token)
	}
	res, err := x.do(ctx, account.BaseURL, "/users/"+url.PathEscape(account.RemoteID)+"/tweets?"+query.Encode(),
		call.Request{Method: http.MethodGet, Token: account.Token})
	if err != nil {
		return nil, nil, "", err
	}
	var answer struct {
		Data []listed `json:"data"`
		Meta *struct {
			NextToken string `json:"next_token"`
		} `json:"meta"`
	}
	if err := res.Decode(&answer); err != nil {
		return nil, nil, "", err
	}
	// An account without posts has meta alone; errors alone say that X did not look.
	if answer.Meta == nil || len(answer.Data) == 0 && len(problemOf(res.Body).Errors) > 0 {
		return nil, nil, "", partial(res, "list of posts")
	}
	return answer.Data, res, answer.Meta.NextToken, nil
}
