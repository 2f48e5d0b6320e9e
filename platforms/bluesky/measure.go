package bluesky

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// maxPostURIs is the limit of app.bsky.feed.getPosts.
const maxPostURIs = 25

const (
	methodPosts  = "app.bsky.feed.getPosts"
	methodRecord = "com.atproto.repo.getRecord"
)

// MeasureRules are the same for all posts. The protocol does not count views.
func (b *Bluesky) MeasureRules(network.Account, network.PostRef) network.MeasureRules {
	return network.MeasureRules{
		Metrics: []network.Metric{
			network.MetricLikes, network.MetricReplies, network.MetricReposts,
			network.MetricQuotes,
			network.MetricSaves,
		},
		Batch:    maxPostURIs,
		Readings: network.CounterReadings(),
		Quota:    b.readQuota(),
	}
}

// Measure reads posts from the public AppView, which needs no token. It omits posts
// that were deleted as well as those that it hides or does not have yet, so
// missing posts are looked up on the account's own server.
// https://docs.bsky.app/docs/api/app-bsky-feed-get-posts
func (b *Bluesky) Measure(
	ctx context.Context, account network.Account, request network.MeasureRequest,
) (network.Measured, error) {
	var out network.Measured
	server := b.options.AppView
	if b.isSandbox(account.BaseURL) {
		server = account.BaseURL
	}
	uris := make([]string, len(request.Posts))
	for i, p := range request.Posts {
		uris[i] = p.RemoteID
	}
	if err := b.readPosts(ctx, server, network.Account{}, uris, request, &out); err != nil {
		return out, err
	}
	var hidden []string
	for _, uri := range uris {
		if _, ok := out.Posts[uri]; ok {
			continue
		}
		exists, err := b.recordExists(ctx, account, uri, request)
		if err != nil {
			return out, err
		}
		if !exists {
			out.Add(uri, network.PostMetrics{State: network.PostMissing})
			continue
		}
		hidden = append(hidden, uri)
	}
	if len(hidden) == 0 {
		return out, nil
	}
	// The account may show its posts only to people who are signed in.
	if err := b.readPosts(ctx, account.BaseURL, account, hidden, request, &out); err != nil {
		return out, err
	}
	for _, uri := range hidden {
		if _, ok := out.Posts[uri]; !ok {
			out.Add(uri, network.PostMetrics{State: network.PostUnavailable})
		}
	}
	return out, nil
}

// readPosts adds the posts that a server shows; account signs in if it has a token.
func (b *Bluesky) readPosts(ctx context.Context, server string, account network.Account, uris []string,
	request network.MeasureRequest, out *network.Measured,
) error {
	if err := request.Allow(ctx); err != nil {
		return err
	}
	res, err := b.do(ctx, server, methodPosts, url.Values{"uris": uris}, call.Request{Token: account.Token})
	if err != nil {
		return err
	}
	var body struct {
		Posts []struct {
			URI       string `json:"uri"`
			Likes     *int64 `json:"likeCount"`
			Replies   *int64 `json:"replyCount"`
			Reposts   *int64 `json:"repostCount"`
			Quotes    *int64 `json:"quoteCount"`
			Bookmarks *int64 `json:"bookmarkCount"`
		} `json:"posts"`
	}
	if err := res.Decode(&body); err != nil {
		return err
	}
	out.Rates = rates(res, methodPosts)
	for _, found := range body.Posts {
		p := network.PostMetrics{State: network.PostMeasured}
		p.Set(network.MetricLikes, found.Likes)
		p.Set(network.MetricReplies, found.Replies)
		p.Set(network.MetricReposts, found.Reposts)
		p.Set(network.MetricQuotes, found.Quotes)
		p.Set(network.MetricSaves, found.Bookmarks)
		out.Add(found.URI, p)
	}
	return nil
}

// recordExists reports whether the account's server still has a record.
// https://docs.bsky.app/docs/api/com-atproto-repo-get-record
func (b *Bluesky) recordExists(
	ctx context.Context, account network.Account, uri string, request network.MeasureRequest,
) (bool, error) {
	if err := request.Allow(ctx); err != nil {
		return false, err
	}
	parts := strings.Split(strings.TrimPrefix(uri, "at://"), "/")
	if len(parts) != 3 {
		return false, nil // no id of a post
	}
	_, err := b.do(ctx, account.BaseURL, methodRecord, url.Values{
		"repo": {parts[0]}, "collection": {parts[1]}, "rkey": {parts[2]},
	},
		call.Request{Method: http.MethodGet})
	switch e := network.AsError(err); {
	case e == nil:
		return true, nil
	case e.Code == "RecordNotFound", strings.Contains(e.Message, "Could not locate record"):
		return false, nil
	default:
		return false, err
	}
}
