package instagram

import (
	"context"
	"net/url"
	"strings"

	"dateline/internal/infra/message"
	"dateline/platforms/call"
	"dateline/platforms/graph"
	"dateline/platforms/graph/container"
	"dateline/platforms/network"
)

// Reconcile reads whether the container was published, and searches for the post
// in the account's listing. Comments have no container: they are searched for
// under the post that they reply to.
func (i *Instagram) Reconcile(
	ctx context.Context, account network.Account, submission network.Submission, window network.Window,
) (network.Finding, error) {
	if err := i.Service.RequireRemoteID(account); err != nil {
		return network.Finding{}, err
	}
	if submission.ReplyTo != "" {
		return container.Search(ctx, submission, window, i.comments(account, submission),
			message.New("comments_listed_late", "{network} may list a comment late, and accepts duplicates.", title))
	}
	options, _ := submission.Options.(PostOptions)
	edge := "media"
	if options.Kind == kindStory {
		// Stories are in a listing of their own, without their captions.
		edge, submission.Text = "stories", ""
	}
	return container.Reconcile(ctx, title, builder{i, account, submission}, submission, window, i.posts(account, edge))
}

// posts lists the account's own posts.
// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-user/media
func (i *Instagram) posts(account network.Account, edge string) container.ListFunc {
	return func(ctx context.Context, after string) ([]container.ListedPost, string, *call.Response, error) {
		entries, next, res, err := i.list(ctx, account, after, "id,caption,permalink,timestamp,media_type,children",
			account.RemoteID, edge)
		posts := make([]container.ListedPost, len(entries))
		for n, e := range entries {
			posts[n] = container.ListedPost{
				ID: e.ID, Text: e.Caption, URL: e.Permalink, At: e.Timestamp.Time, Media: max(e.MediaCount(), 1),
			}
		}
		return posts, next, res, err
	}
}

// comments lists the account's own comments on the post that a submission replies
// to, newest first.
// https://developers.facebook.com/docs/instagram-platform/instagram-graph-api/reference/ig-media/comments
func (i *Instagram) comments(account network.Account, submission network.Submission) container.ListFunc {
	parent, own := commentParent(submission), strings.TrimPrefix(account.Handle, "@")
	return func(ctx context.Context, after string) ([]container.ListedPost, string, *call.Response, error) {
		entries, next, res, err := i.list(ctx, account, after, "id,text,timestamp,username", parent, "comments")
		var posts []container.ListedPost
		for _, e := range entries {
			if e.Username == "" || strings.EqualFold(e.Username, own) {
				posts = append(posts, container.ListedPost{
					ID: e.ID, Text: e.Text, At: e.Timestamp.Time, ReplyTo: submission.ReplyTo,
				})
			}
		}
		return posts, next, res, err
	}
}

func (i *Instagram) list(
	ctx context.Context, account network.Account, after, fields string, parts ...string,
) ([]container.Node, string, *call.Response, error) {
	query := url.Values{"fields": {fields}, "limit": {"50"}}
	if after != "" {
		query.Set("after", after)
	}
	res, err := i.get(ctx, account, query, parts...)
	if err != nil {
		return nil, "", nil, err
	}
	var page graph.Page[container.Node]
	if err := res.Decode(&page); err != nil {
		return nil, "", nil, err
	}
	return page.Data, page.NextCursor(), res, nil
}
