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

type admissionKey struct{}

// FetchRobots fetches a robots.txt during a robots check, under the politeness
// rules of its domain. The domain's slot is released only after the check,
// because the crawl delay is known only then.
func (c *Crawler) FetchRobots(ctx context.Context, address string) (*fetch.Result, error) {
	slot, ok := ctx.Value(admissionKey{}).(*admission)
	if !ok {
		return nil, errors.New("FetchRobots must be called during a robots check")
	}
	u, err := weburl.Parse(address, weburl.Rules{})
	if err != nil {
		return nil, err
	}
	if err := slot.acquire(ctx, u); err != nil {
		return nil, err
	}
	fetchCtx, cancel := slot.requestContext(ctx)
	defer cancel()
	first := true
	var postponed error
	res, err := c.Fetcher.Fetch(fetchCtx,
		fetch.Request{
			URL: address, Kind: fetch.KindRobots,
			Allowed: func(ctx context.Context, to string) (bool, string) {
				if first {
					first = false
					return true, ""
				}
				u, err := weburl.Parse(to, weburl.Rules{})
				if err == nil {
					err = slot.acquire(ctx, u)
					postponed = err
				}
				return err == nil, "the time limit was reached while following a redirect of robots.txt"
			},
		})
	if res, err = asTimeout(ctx, address, res, err); err != nil {
		return nil, err
	}
	if isWaiting, _ := isPostponed(ctx, postponed); isWaiting {
		return nil, postponed
	}
	if res.Outcome == fetch.Throttled {
		slot.minPause = slot.run.throttleDelay(res)
		if slot.run.isOwn(res) {
			err = slot.run.blockDomain(ctx, slot.minPause)
		}
	}
	return res, err
}

// isOwn reports whether the domain of the run responded last.
func (r *run) isOwn(res *fetch.Result) bool {
	u, err := weburl.Parse(res.FinalURL, weburl.Rules{DropNothing: true})
	return err != nil || u.Domain() == r.domain.Name
}

// asTimeout turns an expired fetch deadline into a result.
func asTimeout(ctx context.Context, address string, res *fetch.Result, err error) (*fetch.Result, error) {
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return &fetch.Result{
			URL: address, FinalURL: address, Outcome: fetch.Timeout, Reason: "the request timed out",
			Requests: 1,
		}, nil
	}
	return res, err
}

// checkRobots applies the robots.txt of u, and its crawl delay.
func (r *run) checkRobots(ctx context.Context, slot *admission, u weburl.URL) (Verdict, error) {
	v, err := r.Robots.Check(context.WithValue(ctx, admissionKey{}, slot), u)
	if err == nil && u.Domain() == r.domain.Name && r.Limits.RequestDelay > 0 {
		if old := r.currentDelay.Swap(int64(r.requestDelay(v.CrawlDelay))); old != int64(r.requestDelay(v.CrawlDelay)) {
			err = r.Domains.SetCrawlDelay(ctx, r.domain.ID, v.CrawlDelay)
		}
	}
	slot.release(ctx, max(r.pause(), r.requestDelay(v.CrawlDelay)))
	return v, err
}

// fetch fetches one URL and returns what to record; nil means that the URL is
// released. fetched is called after the response arrived and was applied to the
// domain, before anything is stored.
func (r *run) fetch(ctx context.Context, u crawl.URL, fetched func(bytes int)) (*crawl.FetchRecord, error) {
	target, err := weburl.Parse(u.URL, weburl.Rules{DropNothing: true})
	if err != nil {
		return r.exclude(u, r.Policy.DeadInterval), nil //nolint:nilerr // not a URL; stored by another version of the program
	}
	if f, err := r.applyLearnedRules(ctx, u); f != nil || err != nil {
		return f, err
	}
	slot := &admission{run: r, holder: uuid.New()}
	defer func() { slot.finish(ctx, r.pause()) }()
	res, verdict, err := r.get(ctx, slot, target, r.request(u))
	if postponed, wait := isPostponed(ctx, err); postponed {
		if wait == 0 {
			return nil, nil
		}
		return nil, r.blockDomain(ctx, min(wait, r.Limits.MaxRetryAfter))
	}
	if err != nil {
		return nil, err
	}
	if res == nil {
		return r.blockedByRobots(u, verdict), nil
	}
	if err := r.blockIfUnavailable(ctx, res); err != nil {
		return nil, err
	}
	slot.finish(ctx, r.pause())
	if err := r.detectKind(ctx, &u, res); err != nil {
		return nil, err
	}
	fetched(len(res.Body))
	return r.handleResult(ctx, u, res, verdict)
}

// get makes a request under robots.txt and the delays of its site, and of those to which
// it is redirected. The result is nil if robots.txt does not allow the request. See
// isPostponed for the error. The slot of the site that responded stays taken.
func (r *run) get(ctx context.Context, slot *admission, target weburl.URL, request fetch.Request) (
	*fetch.Result, Verdict, error,
) {
	verdict, err := r.checkRobots(ctx, slot, target)
	slot.deadline = time.Time{}
	if err != nil || !verdict.Allowed {
		return nil, verdict, err
	}
	if err := slot.acquire(ctx, target); err != nil {
		return nil, verdict, err
	}
	fetchCtx, cancel := slot.requestContext(ctx)
	defer cancel()
	chain := &redirectChain{run: r, admission: slot}
	request.Allowed = chain.allowed
	res, err := r.Fetcher.Fetch(fetchCtx, request)
	if res, err = asTimeout(ctx, request.URL, res, err); err != nil {
		return nil, verdict, err
	}
	if res.Outcome == fetch.BlockedByRobots && chain.err != nil {
		res.Outcome = fetch.Timeout
		if _, wait := isPostponed(ctx, chain.err); wait > 0 {
			res.Outcome, res.RetryAfter, res.Reason = fetch.Throttled, wait, chain.err.Error()
		}
	}
	if res.Outcome == fetch.Throttled {
		slot.minPause = r.throttleDelay(res)
	}
	if chain.target != nil {
		verdict.TDM = chain.target.TDM
	}
	return res, verdict, nil
}

// request builds the request for a URL. It is unconditional for a page that is
// to be rendered, as scripts may change the text of an unmodified document, and
// for a dead page, whose text is needed if it returns.
func (r *run) request(u crawl.URL) fetch.Request {
	q := fetch.Request{URL: u.URL, Kind: kindOf(u.Kind), ETag: u.ETag, LastModified: u.LastModified}
	q.Render = r.domain.Render && (q.Kind == fetch.KindPage || q.Kind == fetch.KindHub)
	if q.Render || u.State == crawl.Dead {
		q.ETag, q.LastModified = "", ""
	}
	return q
}

// redirectChain applies robots.txt and politeness to each request of a chain of
// redirects.
type redirectChain struct {
	run       *run
	admission *admission
	count     int
	err       error    // an error that cut the chain, unless robots.txt did
	target    *Verdict // about the last redirect; nil: none
}

func (chain *redirectChain) allowed(ctx context.Context, address string) (bool, string) {
	if chain.count++; chain.count == 1 {
		return true, "" // checked before the fetch
	}
	u, err := weburl.Parse(address, weburl.Rules{DropNothing: true})
	if err != nil {
		return true, "" // the fetcher reports the invalid URL
	}
	chain.admission.release(ctx, chain.run.pause())
	verdict, err := chain.run.checkRobots(ctx, chain.admission, u)
	if err == nil && !verdict.Allowed {
		return false, verdict.Reason
	}
	chain.target = &verdict
	if err == nil {
		err = chain.admission.acquire(ctx, u)
	}
	chain.err = err
	return err == nil, "the time limit was reached while following a redirect"
}

func kindOf(k crawl.Kind) fetch.Kind {
	switch k {
	case crawl.Feed:
		return fetch.KindFeed
	case crawl.Sitemap:
		return fetch.KindSitemap
	case crawl.Home, crawl.Section:
		return fetch.KindHub
	default:
		return fetch.KindPage
	}
}

// throttleDelay is how long the domain is blocked after a throttled request.
func (r *run) throttleDelay(res *fetch.Result) time.Duration {
	wait := res.RetryAfter
	if wait <= 0 {
		wait = r.Policy.RetryInterval
	}
	return min(wait, r.Limits.MaxRetryAfter)
}
