package x

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
	firstPage = 10  // X bills every post that it returns
	pageSize  = 100 // X's maximum
	maxPages  = 8
)

// listed contains the used fields of X's Post.
type listed struct {
	ID          string   `json:"id"`
	Text        string   `json:"text"`
	Entities    entities `json:"entities"`
	Attachments struct {
		MediaKeys []string `json:"media_keys"`
		PollIDs   []string `json:"poll_ids"`
	} `json:"attachments"`
	ReplySettings string `json:"reply_settings"`
	// Note is the full text of a long post, of which Text is truncated.
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

// Reconcile reads the account's own posts back to the start of the window and
// compares them with the submission: text with expanded links, number of
// attachments and reply target (package matching).
func (x *X) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	if account.RemoteID == "" {
		return network.Finding{}, &network.Error{
			Class: network.Rejected, Code: "unknown_account",
			Message: "The account's id at X is not known. Reconnect the account.",
		}
	}
	wanted := matching.NewComparer(normalize(submission.Text))
	options, _ := submission.Options.(PostOptions)
	from := window.From.Truncate(time.Millisecond)
	search, complete, next := matching.New(window), false, ""
	for page := 0; page < maxPages && !complete; page++ {
		list, res, token, err := x.ownPosts(ctx, account, page, window.SinceID, next)
		if err != nil {
			return network.Finding{}, err
		}
		// If X's clock is behind, posts are dated before the local send time. The
		// window is only ever extended: missing a post would publish it twice.
		if skew := res.ClockSkew(); skew < 0 && window.From.Add(skew).Before(from) {
			from = window.From.Add(skew)
		}
		complete, next = token == "", token
		for _, l := range list {
			id, err := strconv.ParseUint(l.ID, 10, 64)
			if err != nil {
				return network.Finding{}, res.MalformedError("a post has the invalid id " + strconv.Quote(l.ID))
			}
			if timeOf(id).Before(from) {
				complete = true
				break
			}
			search.Add(matching.Post{
				Receipt: network.Receipt{
					RemoteID: l.ID, URL: x.permalink(account, l.ID), CreatedAt: timeOf(id), RequestID: res.RequestID,
				},
				Verdict:          compareText(l, wanted, account),
				MediaCountEqual:  len(l.Attachments.MediaKeys) == len(submission.MediaIDs),
				ReplyTargetEqual: l.replyTo() == submission.ReplyTo,
				OptionsDiffer:    options.differs(l),
			})
		}
	}
	var late message.Message
	if len(submission.MediaIDs) > 0 {
		// X refuses a second post with the same text only if it has no
		// attachments.
		late = message.New("listed_late_x", "X may list a post late, and accepts duplicates with attachments.")
	}
	return search.Result(from, complete, late), nil
}

// ownPosts lists one page, newest first, without reposts.
// https://docs.x.com/x-api/posts/timelines/introduction
func (x *X) ownPosts(
	ctx context.Context, account network.Account, page int, sinceID, token string,
) ([]listed, *call.Response, string, error) {
	query := url.Values{
		"max_results":  {strconv.Itoa(pageSize)},
		"exclude":      {"retweets"},
		"tweet.fields": {"created_at,entities,attachments,referenced_tweets,note_tweet,reply_settings"},
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
	var body struct {
		Data []listed `json:"data"`
		Meta *struct {
			NextToken string `json:"next_token"`
		} `json:"meta"`
	}
	if err := res.Decode(&body); err != nil {
		return nil, nil, "", err
	}
	// An account without posts returns meta only. Errors without meta mean that X
	// did not search.
	if body.Meta == nil || len(body.Data) == 0 && len(problemOf(res.Body).Errors) > 0 {
		return nil, nil, "", partialError(res, "list of posts")
	}
	return body.Data, res, body.Meta.NextToken, nil
}
