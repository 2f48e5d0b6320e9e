package threads

import (
	"context"
	"net/http"
	"net/url"

	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/graph/container"
	"dateline/platforms/network"
)

// Reconcile reads whether the container was published, and searches for the post
// in the account's listing.
func (t *Threads) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	if err := t.Service.RequireRemoteID(account); err != nil {
		return network.Finding{}, err
	}
	return container.Reconcile(ctx, title, builder{t, account, submission}, submission, window,
		t.posts(account, submission.ReplyTo != ""))
}

// posts lists the account's own posts or replies, which have separate listings.
// https://developers.facebook.com/docs/threads/threads-media
// https://developers.facebook.com/docs/threads/reply-management#a-user-s-replies
func (t *Threads) posts(account network.Account, replies bool) container.ListFunc {
	edge := "threads"
	if replies {
		edge = "replies"
	}
	return func(ctx context.Context, after string) ([]container.ListedPost, string, *call.Response, error) {
		query := url.Values{"fields": {"id,text,timestamp,permalink,media_type,children,replied_to"}, "limit": {"50"}}
		if after != "" {
			query.Set("after", after)
		}
		res, err := t.do(ctx, account, graph.Call{Method: http.MethodGet, Query: query}, account.RemoteID, edge)
		if err != nil {
			return nil, "", nil, err
		}
		var page graph.Page[container.Node]
		if err := res.Decode(&page); err != nil {
			return nil, "", nil, err
		}
		posts := make([]container.ListedPost, len(page.Data))
		for i, p := range page.Data {
			posts[i] = container.ListedPost{
				ID: p.ID, Text: p.Text, URL: p.Permalink, At: p.Timestamp.Time,
				ReplyTo: p.RepliedTo.ID, Media: p.MediaCount(),
			}
		}
		return posts, page.NextCursor(), res, nil
	}
}
