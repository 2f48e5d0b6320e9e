package crawler

import (
	"context"
	"net/http"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/fetch"
)

// silent is after how many fetches in a row without an answer a domain is left
// alone for a while: it is down, and its other URLs need not each find that out.
const silent = 5

// judge decides what a result means for its URL and its domain.
func (r *run) judge(ctx context.Context, u crawl.URL, res *fetch.Result, h *hops, v Verdict) (*crawl.Fetched, error) {
	if res.Outcome == fetch.BlockedByRobots && h.err != nil {
		res.Outcome = fetch.Timeout
	}
	f := &crawl.Fetched{URL: u, Requests: res.Requests, Bytes: res.WireBytes, Response: res.FirstByte}
	f.URL.LastStatus = res.Status
	if res.Outcome != fetch.OK && res.Outcome != fetch.NotModified {
		f.Problem = limited(string(res.Outcome) + ": " + res.Reason)
	}
	var err error
	switch res.Outcome {
	case fetch.OK:
		if err = r.keep(ctx, f, res, v); res.Reason != "" && f.Problem == "" {
			f.Problem = limited("stored as it was served: " + res.Reason)
		}
	case fetch.NotModified:
		// The page at the end of a redirect may be the one that was stored.
		var moved bool
		if moved, err = r.moved(ctx, f, res); err == nil && !moved {
			r.unchanged(f)
			err = r.tellSeeds(ctx, f, false, "")
		}
	case fetch.Throttled:
		wait := r.throttle(res)
		if err := r.stopFor(ctx, wait); err != nil {
			return nil, err
		}
		f.Failed, f.DueIn = true, wait
		err = r.tellSeeds(ctx, f, false, "it asks to be left alone: "+res.Reason)
	case fetch.Gone:
		r.gone(f, u, res)
		err = r.tellSeeds(ctx, f, false, res.Reason)
	case fetch.BlockedByRobots:
		f.URL.State, f.DueIn = crawl.Refused, r.Pace.Refresh*24
		err = r.tellSeeds(ctx, f, false, res.Reason)
	case fetch.RefusedAddress, fetch.Invalid, fetch.Trap, fetch.TooBig, fetch.WrongType:
		f.Failed = true
		r.dies(f)
		f.URL.State = crawl.Refused
		err = r.tellSeeds(ctx, f, false, res.Reason)
	default: // server_error, timeout, unreachable, refused
		r.fails(f)
		f.Timeout = res.Outcome == fetch.Timeout
		err = r.tellSeeds(ctx, f, false, res.Reason)
	}
	if err != nil {
		return nil, err
	}
	return f, r.mind(ctx, res)
}

// mind notices a domain that does not answer at all.
func (r *run) mind(ctx context.Context, res *fetch.Result) error {
	r.mu.Lock()
	if res.Outcome == fetch.Unreachable || res.Outcome == fetch.Timeout {
		r.failed++
	} else {
		r.failed = 0
	}
	down := r.failed >= silent
	r.mu.Unlock()
	if !down {
		return nil
	}
	return r.stopFor(ctx, 5*r.Pace.Retry)
}

// gone has a page that is not there any more asked for again after long only. Of
// an article that was stored its reader is told. There a 404 is heard twice, as
// it may be a mistake; 410 is meant (RFC 9110, section 15.5.11), and so is 451
// (RFC 7725, section 3).
func (r *run) gone(f *crawl.Fetched, was crawl.URL, res *fetch.Result) {
	f.Failed = true
	stored := was.Kind == crawl.Article && was.RawHash != ""
	if stored && res.Status == http.StatusNotFound && was.LastStatus != http.StatusNotFound {
		f.URL.State, f.DueIn, f.URL.Tries, f.URL.Rank = crawl.Failed, r.Pace.Refresh, was.Tries+1, crawl.RetryRank(was.Kind)
		return
	}
	r.dies(f)
	if stored {
		f.Gone = momentOf(res)
	}
}

// momentOf is when a fetch began, as exactly as it is stored.
func momentOf(res *fetch.Result) time.Time { return res.Started.UTC().Truncate(time.Microsecond) }

// dies has a URL asked for again after long only.
func (r *run) dies(f *crawl.Fetched) {
	f.URL.State, f.DueIn, f.URL.Tries = crawl.Dead, r.Pace.Dead, f.URL.Tries+1
	f.URL.Rank = crawl.AgainRank(r.Pace.Dead)
	r.hubKeeps(f)
}

// fails has a URL tried again, ever later, and given up for long in the end.
func (r *run) fails(f *crawl.Fetched) {
	f.Failed = true
	f.URL.Tries++
	wait, dead := r.Pace.RetryIn(f.URL.Tries)
	f.URL.State, f.DueIn, f.URL.Rank = crawl.Failed, wait, crawl.RetryRank(f.URL.Kind)
	if dead {
		f.URL.State, f.URL.Rank = crawl.Dead, crawl.AgainRank(r.Pace.Dead)
	}
	r.hubKeeps(f)
}

// hubKeeps leaves hubs their rank: they have intervals of their own.
func (r *run) hubKeeps(f *crawl.Fetched) {
	if f.URL.Kind.Hub() {
		f.URL.Rank = crawl.HubRank(f.URL.Kind)
	}
}

// unchanged has a page looked at again later than the last time.
func (r *run) unchanged(f *crawl.Fetched) {
	f.URL.State, f.URL.Tries = crawl.Kept, 0
	r.again(f, false)
}

// again sets when a page that is well is due next. Seeds have hubs of their own
// made due; hubs that were found on the way keep their own time.
func (r *run) again(f *crawl.Fetched, news bool) {
	u := &f.URL
	if !u.Kind.Hub() {
		u.Every = r.Pace.PageAgain(u.Every, news)
		u.Rank, f.DueIn = crawl.AgainRank(u.Every), u.Every
		return
	}
	u.Rank = crawl.HubRank(u.Kind)
	if r.isSeed(*u) {
		f.Never = true
		return
	}
	if u.Every == 0 {
		u.Every = r.Pace.Every
	}
	most := r.Pace.Max
	if u.Kind == crawl.Sitemap {
		most *= 72 // most sitemaps are archives; those of news come back at once
	}
	u.Every = crawl.HubAgain(u.Every, news, r.Pace.Min, most)
	f.DueIn = u.Every
}

// isSeed says whether a hub is one that a seed names.
func (r *run) isSeed(u crawl.URL) bool {
	for _, n := range r.seeds {
		if crawl.ID(n.URL) == u.ID {
			return true
		}
	}
	return false
}

func (r *run) tellSeeds(ctx context.Context, f *crawl.Fetched, found bool, problem string) error {
	if !f.URL.Kind.Hub() || !r.isSeed(f.URL) {
		return nil
	}
	return r.Store.SeedsCrawled(ctx, r.domain.ID, f.URL.ID, found, problem)
}

// forbidden is a URL that robots.txt refuses, or that is left alone for now,
// because the robots.txt could not be read (RFC 9309 §2.3.1.4).
func (r *run) forbidden(u crawl.URL, v Verdict) *crawl.Fetched {
	f := &crawl.Fetched{URL: u}
	if v.Later {
		r.fails(f)
	} else {
		f = r.refuse(u, 24*r.Pace.Refresh)
	}
	f.Problem = limited(string(fetch.BlockedByRobots) + ": " + v.Why)
	return f
}

func (r *run) refuse(u crawl.URL, wait time.Duration) *crawl.Fetched {
	f := &crawl.Fetched{URL: u, DueIn: wait}
	f.URL.State, f.URL.Rank = crawl.Refused, crawl.AgainRank(r.Pace.Dead)
	r.hubKeeps(f)
	return f
}
