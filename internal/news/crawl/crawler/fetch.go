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

type passKey struct{}

// FetchRobots fetches a robots.txt through the gate of its domain, for a Check
// under way. The gate stays closed until the Check is over: only then is known
// how long the site wants to be left alone.
func (d *Drainer) FetchRobots(ctx context.Context, address string) (*fetch.Result, error) {
	p, ok := ctx.Value(passKey{}).(*pass)
	if !ok {
		return nil, errors.New("a robots.txt was asked for outside of a check")
	}
	u, err := weburl.Parse(address, weburl.Rules{})
	if err != nil {
		return nil, err
	}
	if err := p.enter(ctx, u); err != nil {
		return nil, err
	}
	within, cancel := p.within(ctx)
	defer cancel()
	first := true
	res, err := d.Fetcher.Fetch(within, fetch.Request{URL: address, Kind: fetch.Robots, Allowed: func(ctx context.Context, to string) (bool, string) {
		if first {
			first = false
			return true, ""
		}
		u, err := weburl.Parse(to, weburl.Rules{})
		if err == nil {
			err = p.enter(ctx, u)
		}
		return err == nil, "the robots.txt redirects, and there is no time left"
	}})
	res, err = timedOut(ctx, address, res, err)
	if err == nil && res.Outcome == fetch.Throttled {
		p.least = p.run.throttle(res)
		err = p.run.stopFor(ctx, p.least)
	}
	return res, err
}

// timedOut makes a result of the end of a fetch's own time.
func timedOut(ctx context.Context, address string, res *fetch.Result, err error) (*fetch.Result, error) {
	if err != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return &fetch.Result{URL: address, Final: address, Outcome: fetch.Timeout, Reason: "it took too long", Requests: 1}, nil
	}
	return res, err
}

// check asks the robots.txt of u, and minds the delay that it names.
func (r *run) check(ctx context.Context, p *pass, u weburl.URL) (Verdict, error) {
	v, err := r.Robots.Check(context.WithValue(ctx, passKey{}, p), u)
	if err == nil && u.Domain() == r.domain.Name && r.Limits.Delay > 0 {
		if was := r.delay.Swap(int64(r.delayFor(v.Delay))); was != int64(r.delayFor(v.Delay)) {
			err = r.Store.SetDelay(ctx, r.domain.ID, v.Delay)
		}
	}
	p.leave(ctx, max(r.pause(), r.delayFor(v.Delay)))
	return v, err
}

// fetch gets one URL and says what became of it; nil: it is given back. fetched
// is called when the answer is there, before anything is stored.
func (r *run) fetch(ctx context.Context, u crawl.URL, fetched func()) (*crawl.Fetched, error) {
	at, err := weburl.Parse(u.URL, weburl.Rules{DropNothing: true})
	if err != nil {
		return r.refuse(u, r.Pace.Dead), nil //nolint:nilerr // no URL at all: it was stored by another build
	}
	if f, err := r.renamed(ctx, u); f != nil || err != nil {
		return f, err
	}
	p := &pass{run: r, holder: uuid.New()}
	defer func() { p.done(ctx, r.pause()) }()
	verdict, err := r.check(ctx, p, at)
	p.until = time.Time{}
	if errors.Is(err, errCrowded) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !verdict.Allowed {
		return r.forbidden(u, verdict), nil
	}
	if err := p.enter(ctx, at); err != nil {
		if errors.Is(err, errCrowded) || errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			return nil, nil
		}
		return nil, err
	}
	within, cancel := p.within(ctx)
	defer cancel()
	h := &hops{run: r, pass: p}
	res, err := r.Fetcher.Fetch(within, r.request(u, h))
	if res, err = timedOut(ctx, u.URL, res, err); err != nil {
		return nil, err
	}
	if res.Outcome == fetch.Throttled {
		p.least = r.throttle(res)
	}
	p.done(ctx, r.pause())
	fetched()
	return r.judge(ctx, u, res, h, verdict)
}

// request is what is asked for. A page that is to be rendered is asked for in
// full: the document that its scripts fill may stay the same while its text does
// not. So is one that was given up: should it be back, its text is wanted.
func (r *run) request(u crawl.URL, h *hops) fetch.Request {
	q := fetch.Request{URL: u.URL, Kind: kindOf(u.Kind), ETag: u.ETag, LastModified: u.LastModified, Allowed: h.allowed}
	if q.Render = r.domain.Render && q.Kind == fetch.Page; q.Render || u.State == crawl.Dead {
		q.ETag, q.LastModified = "", ""
	}
	return q
}

// hops lets the requests of a chain of redirects through.
type hops struct {
	run   *run
	pass  *pass
	count int
	err   error // why the chain was cut, where that is no refusal
}

func (h *hops) allowed(ctx context.Context, address string) (bool, string) {
	if h.count++; h.count == 1 {
		return true, "" // checked, and let through, before
	}
	u, err := weburl.Parse(address, weburl.Rules{DropNothing: true})
	if err != nil {
		return true, "" // the fetcher says what is wrong with it
	}
	h.pass.leave(ctx, h.run.pause())
	verdict, err := h.run.check(ctx, h.pass, u)
	if err == nil && !verdict.Allowed {
		return false, verdict.Why
	}
	if err == nil {
		err = h.pass.enter(ctx, u)
	}
	h.err = err
	return err == nil, "there is no time left to follow a redirect"
}

func kindOf(k crawl.Kind) fetch.Kind {
	switch k {
	case crawl.Feed:
		return fetch.Feed
	case crawl.Sitemap:
		return fetch.Sitemap
	default:
		return fetch.Page
	}
}

// throttle is how long the domain asks to be left alone.
func (r *run) throttle(res *fetch.Result) time.Duration {
	wait := res.RetryAfter
	if wait <= 0 {
		wait = r.Pace.Retry
	}
	return min(wait, r.Limits.Block)
}
