package crawler

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/weburl"
)

// FetchPage fetches one page that is not in the frontier, under the robots.txt of its
// site and the delays of its domain. The result is nil if too many requests wait for the
// server.
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
		return &fetch.Result{URL: request.URL, FinalURL: request.URL, Outcome: fetch.Invalid, Reason: "the URL is invalid"}, nil //nolint:nilerr // a result like that of the fetcher
	}
	r := newRun(c, crawl.Domain{Name: target.Domain()}, nil)
	slot := &admission{run: r, holder: uuid.New()}
	defer func() { slot.finish(ctx, r.pause()) }()
	isBusy := func(err error) bool {
		return errors.Is(err, errAddressBusy) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil
	}
	verdict, err := r.checkRobots(ctx, slot, target)
	slot.deadline = time.Time{}
	if isBusy(err) {
		return nil, nil //nolint:nilnil // documented
	}
	if err != nil {
		return nil, err
	}
	if !verdict.Allowed {
		return &fetch.Result{URL: request.URL, FinalURL: request.URL, Outcome: fetch.BlockedByRobots, Reason: verdict.Reason}, nil
	}
	if err := slot.acquire(ctx, target); isBusy(err) {
		return nil, nil //nolint:nilnil // documented
	} else if err != nil {
		return nil, err
	}
	fetchCtx, cancel := slot.requestContext(ctx)
	defer cancel()
	chain := &redirectChain{run: r, admission: slot}
	request.Allowed = chain.allowed
	res, err := c.Fetcher.Fetch(fetchCtx, request)
	if res, err = asTimeout(ctx, request.URL, res, err); err != nil {
		return nil, err
	}
	if res.Outcome == fetch.BlockedByRobots && chain.err != nil {
		res.Outcome = fetch.Timeout
	}
	if res.Outcome == fetch.Throttled {
		slot.minPause = r.throttleDelay(res)
	}
	return res, nil
}
