package crawler

import (
	"context"
	"net/http"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/weburl"
)

// handleRedirect replaces a page that redirects to another page of the domain
// by that page; otherwise each would become an article of its own. A stored
// article moves to the new URL if that page has the same story. Temporary
// redirects are retried first, as they may lead to a login or a maintenance
// page.
func (r *run) handleRedirect(ctx context.Context, f *crawl.FetchRecord, res *fetch.Result) (bool, error) {
	if !res.Redirected() || f.URL.Kind.Hub() {
		return false, nil
	}
	to, err := weburl.Parse(res.FinalURL, r.domain.Rules)
	if err != nil || crawl.URLID(to) == f.URL.ID {
		return false, nil //nolint:nilerr // the page is stored under its own URL
	}
	stored := f.URL.RawHash != ""
	if stored && isTemporaryRedirect(res) {
		if r.markFailed(f); f.URL.State == crawl.Dead {
			f.RemovedAt = startTime(res)
		}
		f.Error = "moved: it redirects elsewhere temporarily"
		return true, nil
	}
	f.URL.State, f.Unscheduled, f.URL.Attempts = crawl.Excluded, true, 0
	if stored {
		f.RemovedAt = startTime(res)
	}
	if to.Domain() != r.domain.Name {
		return true, nil
	}
	f.MovedTo = crawl.URLID(to)
	_, err = r.addToFrontier(ctx, []crawl.DiscoveredURL{
		{
			DomainID: r.domain.ID, URL: to, Kind: crawl.Article, Rank: f.URL.Rank, Depth: f.URL.Depth,
			SeedNumber: f.URL.SeedNumber,
		},
	})
	return true, err
}

// isTemporaryRedirect reports whether one of the redirects is temporary (RFC
// 9110, section 15.4).
func isTemporaryRedirect(res *fetch.Result) bool {
	for _, h := range res.Hops {
		switch h.Status {
		case http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect:
			return true
		}
	}
	return false
}
