package linkedin

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/matching"
	"dateline/platforms/network"
)

const (
	pageSize = 50
	maxPages = 6
)

// candidate is a post or comment of the account.
type candidate struct {
	receipt network.Receipt
	text    string
	media   []string
}

// page returns the entries of a list from start on, and whether there are more.
type page func(ctx context.Context, start int) (list []candidate, more bool, res *call.Response, err error)

// Reconcile reads an organization's own posts, or the comments under the post
// that was replied to, and compares them with the submission (package matching):
// the visible text, and the URNs of the attachments, which no other post has.
//
// A member's token cannot read posts. Reconcile makes no call then: repeating the
// request within Limits.IdempotencyWindow makes LinkedIn name the post.
func (l *LinkedIn) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	if account.RemoteID == "" {
		return network.Finding{}, &network.Error{
			Class: network.Rejected, Code: "unknown_account",
			Message: "The account's id at LinkedIn is not known. Reconnect the account.",
		}
	}
	if !isOrganization(account) {
		return network.Finding{Evidence: []network.Note{network.NewNote("member_posts_unlisted",
			"LinkedIn does not allow apps to list a member's posts.")}}, nil
	}
	next, sorted := l.ownPosts(account), true
	if submission.ReplyTo != "" {
		next, sorted = l.ownComments(account, threadOf(submission.ReplyTo)), false
	}
	wanted := candidate{text: submission.Text}
	for _, id := range submission.MediaIDs {
		urn, _ := splitStaged(id)
		wanted.media = append(wanted.media, urn)
	}
	var late network.Note
	if submission.ReplyTo != "" {
		// A second post with the same text is refused; a comment is not.
		late = network.NewNote("comments_listed_late", "{network} may list a comment late, and accepts duplicates.",
			"LinkedIn")
	}
	finding, err := search(ctx, next, sorted, wanted, window, late)
	if finding.Found && submission.ReplyTo == "" {
		finding.Receipt.Differences = l.readBack(ctx, account, submission, finding.Receipt.RemoteID)
	}
	return finding, err
}

// search reads a list to its end, or to the start of the window if it is sorted.
func search(
	ctx context.Context, next page, sorted bool, wanted candidate, window network.Window, late network.Note,
) (network.Finding, error) {
	from := window.From.Truncate(time.Millisecond)
	posts, compare, complete := matching.New(window), matching.NewComparer(wanted.text), false
	for n := 0; n < maxPages && !complete; n++ {
		list, more, res, err := next(ctx, n*pageSize)
		if err != nil {
			return network.Finding{}, err
		}
		// A clock that is behind dates posts before the local send time. The
		// window is only ever extended: missing a post would publish it twice.
		if skew := res.ClockSkew(); skew < 0 && window.From.Add(skew).Before(from) {
			from = window.From.Add(skew)
		}
		complete = !more
		for _, c := range list {
			if c.receipt.CreatedAt.Before(from) || c.receipt.RemoteID == window.SinceID {
				if sorted {
					complete = true
					break
				}
				continue
			}
			same := slices.Equal(c.media, wanted.media)
			posts.Add(matching.Post{
				Receipt: c.receipt, Verdict: compare.Compare(c.text), MediaCountEqual: same,
				ReplyTargetEqual: true, HasUploadedMedia: same && len(wanted.media) > 0,
			})
		}
	}
	return posts.Result(from, complete, late), nil
}

// listed contains the used fields of a list (API concepts, Pagination).
type listed[T any] struct {
	Elements []T `json:"elements"`
}

// ownPosts lists an organization's posts, newest first (Posts API, Find Posts by
// Authors).
func (l *LinkedIn) ownPosts(account network.Account) page {
	type post struct {
		ID         string  `json:"id"`
		Commentary string  `json:"commentary"`
		CreatedAt  int64   `json:"createdAt"`
		Content    content `json:"content"`
	}
	return func(ctx context.Context, start int) ([]candidate, bool, *call.Response, error) {
		res, err := l.rest(ctx, account, "/rest/posts?q=author&author="+escape(account.RemoteID)+
			"&sortBy=CREATED&count="+
			strconv.Itoa(pageSize)+"&start="+strconv.Itoa(start), finder())
		if err != nil {
			return nil, false, nil, err
		}
		var response listed[post]
		if err := res.Decode(&response); err != nil {
			return nil, false, nil, err
		}
		list := make([]candidate, len(response.Elements))
		for i, p := range response.Elements {
			list[i] = candidate{
				receipt: network.Receipt{
					RemoteID: p.ID, URL: l.permalink(account, p.ID), CreatedAt: millis(p.CreatedAt),
					RequestID: res.RequestID,
				},
				text: decodeLittleText(p.Commentary), media: p.Content.media(),
			}
		}
		return list, len(list) == pageSize, res, nil
	}
}

// ownComments lists the account's comments under a post (Comments API). Their
// order is not documented, so the search cannot stop at an old one.
func (l *LinkedIn) ownComments(account network.Account, thread string) page {
	return func(ctx context.Context, start int) ([]candidate, bool, *call.Response, error) {
		res, err := l.rest(ctx, account, "/rest/socialActions/"+escape(thread)+"/comments?count="+
			strconv.Itoa(pageSize)+
			"&start="+strconv.Itoa(start), call.Request{Method: http.MethodGet})
		if err != nil {
			return nil, false, nil, err
		}
		var response listed[comment]
		if err := res.Decode(&response); err != nil {
			return nil, false, nil, err
		}
		var list []candidate
		for _, c := range response.Elements {
			if c.Actor == account.RemoteID {
				r := c.receipt(l, account)
				r.RequestID = res.RequestID
				list = append(list, candidate{receipt: r, text: c.Message.Text, media: c.images()})
			}
		}
		return list, len(response.Elements) == pageSize, res, nil
	}
}

func finder() call.Request {
	return call.Request{Method: http.MethodGet, Header: http.Header{"X-Restli-Method": {"FINDER"}}}
}
