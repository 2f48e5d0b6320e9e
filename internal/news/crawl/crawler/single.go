package crawler

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/weburl"
)

// FetchPage fetches one page that is not in the frontier, under the robots.txt of its
// site and the delays of its domain. It does not wait for a site that has asked for a
// pause: the outcome is fetch.Throttled without a request, and RetryAfter the rest of the
// pause. The result is nil if too many requests wait for the server.
func (c *Crawler) FetchPage(ctx context.Context, address, etag, lastModified string) (*fetch.Result, error) {
	return c.fetchSingle(ctx, fetch.Request{URL: address, ETag: etag, LastModified: lastModified})
}

// FetchFeed fetches a feed like FetchPage.
func (c *Crawler) FetchFeed(ctx context.Context, address string) (*fetch.Result, error) {
	return c.fetchSingle(ctx, fetch.Request{URL: address, Kind: fetch.KindFeed})
}

func (c *Crawler) fetchSingle(ctx context.Context, request fetch.Request) (*fetch.Result, error) {
	target, err := weburl.Parse(request.URL, weburl.Rules{DropNothing: true})
	if err != nil {
		return &fetch.Result{
			URL: request.URL, FinalURL: request.URL, Outcome: fetch.Invalid,
			Reason: "the URL is invalid",
		}, nil //nolint:nilerr // a result like that of the fetcher
	}
	r := newRun(c, crawl.Domain{Name: target.Domain()}, nil)
	slot := &admission{run: r, holder: uuid.New()}
	defer func() { slot.finish(ctx, r.pause()) }()
	res, verdict, err := r.get(ctx, slot, target, request)
	switch postponed, wait := isPostponed(ctx, err); {
	case postponed && wait == 0:
		return nil, nil //nolint:nilnil // documented
	case postponed:
		return &fetch.Result{
			URL: request.URL, FinalURL: request.URL, Outcome: fetch.Throttled, Reason: err.Error(),
			RetryAfter: min(wait, c.Limits.MaxRetryAfter),
		}, nil
	case err != nil || res != nil:
		return res, err
	}
	return &fetch.Result{
		URL: request.URL, FinalURL: request.URL, Outcome: verdict.outcome(), Reason: verdict.Reason,
		RetryAfter: verdict.RetryAfter,
	}, nil
}
