package crawler

import (
	"context"
	"net/http"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/fetch"
)

// maxConsecutiveFailures is how many fetches in a row may go without a response
// before the domain is blocked for a while. It is down, and its other URLs need
// not each find that out.
const maxConsecutiveFailures = 5

// handleResult decides what a fetch result means for its URL.
func (r *run) handleResult(ctx context.Context, u crawl.URL, res *fetch.Result, v Verdict) (*crawl.FetchRecord, error) {
	f := &crawl.FetchRecord{URL: u, Requests: res.Requests, Bytes: res.WireBytes, ResponseTime: res.FirstByte}
	f.URL.LastStatus = res.Status
	if res.Outcome != fetch.OK && res.Outcome != fetch.NotModified {
		f.Error = dropOversized(string(res.Outcome) + ": " + res.Reason)
	}
	var err error
	switch res.Outcome {
	case fetch.OK:
		if err = r.storePage(ctx, f, res, v); res.Reason != "" && f.Error == "" {
			f.Error = dropOversized("unrendered: " + res.Reason)
		}
	case fetch.NotModified:
		// A redirect may lead to the page that was stored.
		var moved bool
		if moved, err = r.handleRedirect(ctx, f, res); err == nil && !moved {
			r.markUnchanged(f)
			// A 304 updates stored header fields (RFC 9111, section 4.3.4).
			f.URL.ETag, f.URL.LastModified = dropOversized(res.ETag), dropOversized(res.LastModified)
			err = r.recordSeedCrawl(ctx, f, false, "")
		}
	case fetch.Throttled:
		f.Failed, f.DueIn = true, r.throttleDelay(res)
		err = r.recordSeedCrawl(ctx, f, false, f.Error)
	case fetch.NotFound:
		r.markRemoved(f, u, res)
		err = r.recordSeedCrawl(ctx, f, false, f.Error)
	case fetch.BlockedByRobots:
		f.URL.State, f.DueIn = crawl.Excluded, r.Policy.RefreshInterval*24
		err = r.recordSeedCrawl(ctx, f, false, f.Error)
	case fetch.BlockedAddress, fetch.Invalid, fetch.Trap, fetch.TooBig, fetch.WrongType:
		f.Failed = true
		r.markDead(f)
		f.URL.State = crawl.Excluded
		err = r.recordSeedCrawl(ctx, f, false, f.Error)
	default: // server_error, timeout, unreachable, client_error
		r.markFailed(f)
		f.TimedOut = res.Outcome == fetch.Timeout
		err = r.recordSeedCrawl(ctx, f, false, f.Error)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// blockIfUnavailable blocks a domain that throttles requests or stopped
// responding. It must run before the next request may start.
// Another site to which a page redirects is not its concern.
func (r *run) blockIfUnavailable(ctx context.Context, res *fetch.Result) error {
	if !r.isOwn(res) {
		return nil
	}
	if res.Outcome == fetch.Throttled {
		if err := r.blockDomain(ctx, r.throttleDelay(res)); err != nil {
			return err
		}
	}
	r.mu.Lock()
	if res.Outcome == fetch.Unreachable || res.Outcome == fetch.Timeout {
		r.consecutiveFailures++
	} else {
		r.consecutiveFailures = 0
	}
	down := r.consecutiveFailures >= maxConsecutiveFailures
	r.mu.Unlock()
	if !down {
		return nil
	}
	return r.blockDomain(ctx, 5*r.Policy.RetryInterval)
}

// markRemoved schedules a removed page for a rare check. If it is a stored
// article, extraction is notified. A 404 must be seen twice for that, as it may
// be a mistake; 410 is intended (RFC 9110, section 15.5.11), and so is 451 (RFC
// 7725, section 3).
func (r *run) markRemoved(f *crawl.FetchRecord, previous crawl.URL, res *fetch.Result) {
	f.Failed = true
	stored := previous.Kind == crawl.Article && previous.RawHash != ""
	if stored && res.Status == http.StatusNotFound && previous.LastStatus != http.StatusNotFound {
		f.URL.State, f.DueIn, f.URL.Attempts, f.URL.Rank = crawl.Failed, r.Policy.RefreshInterval, previous.Attempts+
			1, crawl.RetryRank(previous.Kind)
		return
	}
	r.markDead(f)
	if stored {
		f.RemovedAt = startTime(res)
	}
}

// startTime is when a fetch started, with the precision of the database.
func startTime(res *fetch.Result) time.Time { return res.Started.UTC().Truncate(time.Microsecond) }

// markDead schedules a URL for a rare check.
func (r *run) markDead(f *crawl.FetchRecord) {
	f.URL.State, f.DueIn, f.URL.Attempts = crawl.Dead, r.Policy.DeadInterval, f.URL.Attempts+1
	f.URL.Rank = crawl.RefreshRank(r.Policy.DeadInterval)
	r.keepHubRank(f)
}

// markFailed schedules a retry with backoff. A URL without attempts left
// becomes dead.
func (r *run) markFailed(f *crawl.FetchRecord) {
	f.Failed = true
	f.URL.Attempts++
	wait, dead := r.Policy.RetryDelay(f.URL.Attempts)
	f.URL.State, f.DueIn, f.URL.Rank = crawl.Failed, wait, crawl.RetryRank(f.URL.Kind)
	if dead {
		f.URL.State, f.URL.Rank = crawl.Dead, crawl.RefreshRank(r.Policy.DeadInterval)
	}
	r.keepHubRank(f)
}

// keepHubRank resets the rank of hubs, which have intervals of their own.
func (r *run) keepHubRank(f *crawl.FetchRecord) {
	if f.URL.Kind.Hub() {
		f.URL.Rank = crawl.HubRank(f.URL.Kind)
	}
}

// markUnchanged schedules the next refresh of a page that did not change.
func (r *run) markUnchanged(f *crawl.FetchRecord) {
	f.URL.State, f.URL.Attempts = crawl.Stored, 0
	r.scheduleNext(f, false)
}

// scheduleNext sets when a successfully fetched URL is due next. Seeds are made
// due by the schedule; hubs that were discovered have their own interval.
func (r *run) scheduleNext(f *crawl.FetchRecord, hasNews bool) {
	u := &f.URL
	if !u.Kind.Hub() {
		u.Interval = r.Policy.NextPageInterval(u.Interval, hasNews)
		u.Rank, f.DueIn = crawl.RefreshRank(u.Interval), u.Interval
		return
	}
	u.Rank = crawl.HubRank(u.Kind)
	if r.isSeed(*u) {
		f.Unscheduled = true
		return
	}
	if u.Interval == 0 {
		u.Interval = r.Policy.HubInterval
	}
	maxInterval := r.Policy.MaxHubInterval
	if u.Kind == crawl.Sitemap {
		maxInterval *= 72 // most sitemaps are archives; news sitemaps shorten their interval quickly
	}
	u.Interval = crawl.NextHubInterval(u.Interval, hasNews, r.Policy.MinHubInterval, maxInterval)
	f.DueIn = max(u.Interval, r.minPollInterval(u.ID))
}

// isSeed reports whether a hub is the URL of a seed.
func (r *run) isSeed(u crawl.URL) bool {
	for _, n := range r.seeds {
		if crawl.URLID(n.URL) == u.ID {
			return true
		}
	}
	return false
}

func (r *run) recordSeedCrawl(ctx context.Context, f *crawl.FetchRecord, found bool, lastError string) error {
	if !f.URL.Kind.Hub() || !r.isSeed(f.URL) {
		return nil
	}
	return r.Seeds.RecordSeedCrawl(ctx, r.domain.ID, f.URL.ID, found, lastError, r.minPollInterval(f.URL.ID))
}

// blockedByRobots records that robots.txt disallows a URL, or could not be read
// (RFC 9309, section 2.3.1.4).
func (r *run) blockedByRobots(u crawl.URL, v Verdict) *crawl.FetchRecord {
	f := &crawl.FetchRecord{URL: u}
	if v.RobotsUnreachable {
		r.markFailed(f)
	} else {
		f = r.exclude(u, 24*r.Policy.RefreshInterval)
	}
	f.Error = dropOversized(string(fetch.BlockedByRobots) + ": " + v.Reason)
	return f
}

func (r *run) exclude(u crawl.URL, wait time.Duration) *crawl.FetchRecord {
	f := &crawl.FetchRecord{URL: u, DueIn: wait}
	f.URL.State, f.URL.Rank = crawl.Excluded, crawl.RefreshRank(r.Policy.DeadInterval)
	r.keepHubRank(f)
	return f
}
