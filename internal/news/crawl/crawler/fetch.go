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

// FetchRobots fetches a robots.txt through the gate of its domain, for a Check
// under way. The gate stays closed until the Check is over: only then is known
// how long the site wants to be left alone.
func (d *Crawler) FetchRobots(ctx context.Context, address string) (*fetch.Result, error) {
	p, ok := ctx.Value(admissionKey{}).(*admission)
	if !ok {
		return nil, errors.New("a robots.txt was asked for outside of a check")
	}
	u, err := weburl.Parse(address, weburl.Rules{})
	if err != nil {
		return nil, err
	}
	if err := p.acquire(ctx, u); err != nil {
		return nil, err
	}
	within, cancel := p.requestContext(ctx)
	defer cancel()
	first := true
	res, err := d.Fetcher.Fetch(within, fetch.Request{URL: address, Kind: fetch.KindRobots, Allowed: func(ctx context.Context, to string) (bool, string) {
		if first {
			first = false
			return true, ""
		}
		u, err := weburl.Parse(to, weburl.Rules{})
		if err == nil {
			err = p.acquire(ctx, u)
		}
		return err == nil, "the robots.txt redirects, and there is no time left"
	}})
	res, err = asTimeout(ctx, address, res, err)
	if err == nil && res.Outcome == fetch.Throttled {
		p.minPause = p.run.throttleDelay(res)
		err = p.run.blockDomain(ctx, p.minPause)
	}
	return res, err
}

// asTimeout makes a result of the end of a fetch's own time.
func asTimeout(ctx context.Context, address string, res *fetch.Result, err error) (*fetch.Result, error) {
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return &fetch.Result{URL: address, FinalURL: address, Outcome: fetch.Timeout, Reason: "it took too long", Requests: 1}, nil
	}
	return res, err
}

// checkRobots asks the robots.txt of u, and minds the delay that it names.
func (r *run) checkRobots(ctx context.Context, p *admission, u weburl.URL) (Verdict, error) {
	v, err := r.Robots.Check(context.WithValue(ctx, admissionKey{}, p), u)
	if err == nil && u.Domain() == r.domain.Name && r.Limits.RequestDelay > 0 {
		if was := r.currentDelay.Swap(int64(r.requestDelay(v.CrawlDelay))); was != int64(r.requestDelay(v.CrawlDelay)) {
			err = r.Store.SetCrawlDelay(ctx, r.domain.ID, v.CrawlDelay)
		}
	}
	p.release(ctx, max(r.pause(), r.requestDelay(v.CrawlDelay)))
	return v, err
}

// fetch gets one URL and says what became of it; nil: it is given back. fetched
// is called when the answer is there, before anything is stored.
func (r *run) fetch(ctx context.Context, u crawl.URL, fetched func()) (*crawl.FetchRecord, error) {
	at, err := weburl.Parse(u.URL, weburl.Rules{DropNothing: true})
	if err != nil {
		return r.exclude(u, r.Policy.DeadInterval), nil //nolint:nilerr // no URL at all: it was stored by another build
	}
	if f, err := r.applyLearnedRules(ctx, u); f != nil || err != nil {
		return f, err
	}
	p := &admission{run: r, holder: uuid.New()}
	defer func() { p.finish(ctx, r.pause()) }()
	verdict, err := r.checkRobots(ctx, p, at)
	p.deadline = time.Time{}
	if errors.Is(err, errAddressBusy) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !verdict.Allowed {
		return r.blockedByRobots(u, verdict), nil
	}
	if err := p.acquire(ctx, at); err != nil {
		if errors.Is(err, errAddressBusy) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil, nil
		}
		return nil, err
	}
	within, cancel := p.requestContext(ctx)
	defer cancel()
	h := &redirectChain{run: r, admission: p}
	res, err := r.Fetcher.Fetch(within, r.request(u, h))
	if res, err = asTimeout(ctx, u.URL, res, err); err != nil {
		return nil, err
	}
	if res.Outcome == fetch.Throttled {
		p.minPause = r.throttleDelay(res)
	}
	p.finish(ctx, r.pause())
	fetched()
	return r.handleResult(ctx, u, res, h, verdict)
}

// request is what is asked for. A page that is to be rendered is asked for in
// full: the document that its scripts fill may stay the same while its text does
// not. So is one that was given up: should it be back, its text is wanted.
func (r *run) request(u crawl.URL, h *redirectChain) fetch.Request {
	q := fetch.Request{URL: u.URL, Kind: kindOf(u.Kind), ETag: u.ETag, LastModified: u.LastModified, Allowed: h.allowed}
	if q.Render = r.domain.Render && q.Kind == fetch.KindPage; q.Render || u.State == crawl.Dead {
		q.ETag, q.LastModified = "", ""
	}
	return q
}

// redirectChain lets the requests of a chain of redirects through.
type redirectChain struct {
	run       *run
	admission *admission
	count     int
	err       error // why the chain was cut, where that is no refusal
}

func (h *redirectChain) allowed(ctx context.Context, address string) (bool, string) {
	if h.count++; h.count == 1 {
		return true, "" // checked, and let through, before
	}
	u, err := weburl.Parse(address, weburl.Rules{DropNothing: true})
	if err != nil {
		return true, "" // the fetcher says what is wrong with it
	}
	h.admission.release(ctx, h.run.pause())
	verdict, err := h.run.checkRobots(ctx, h.admission, u)
	if err == nil && !verdict.Allowed {
		return false, verdict.Reason
	}
	if err == nil {
		err = h.admission.acquire(ctx, u)
	}
	h.err = err
	return err == nil, "there is no time left to follow a redirect"
}

func kindOf(k crawl.Kind) fetch.Kind {
	switch k {
	case crawl.Feed:
		return fetch.KindFeed
	case crawl.Sitemap:
		return fetch.KindSitemap
	default:
		return fetch.KindPage
	}
}

// throttleDelay is how long the domain asks to be left alone.
func (r *run) throttleDelay(res *fetch.Result) time.Duration {
	wait := res.RetryAfter
	if wait <= 0 {
		wait = r.Policy.RetryInterval
	}
	return min(wait, r.Limits.MaxRetryAfter)
}
