package crawler

import (
	"context"
	"strings"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
)

// observationLimit is how many pages of a domain are compared to learn what its
// URL parameters mean.
const observationLimit = 2000

// recordCanonical records the canonical URL of a page with parameters in its
// URL.
func (r *run) recordCanonical(u *crawl.URL, finds ParsedPage) {
	if u.Kind.Hub() || !strings.Contains(u.URL, "?") {
		return
	}
	u.Canonical = finds.Canonical.String()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hasNewParameters = true
}

// learnURLRules learns which parameters of the domain's URLs do not change its
// pages. The next run applies the result. After an error it is learned with the
// next page.
func (r *run) learnURLRules(ctx context.Context) {
	r.mu.Lock()
	hasNew := r.hasNewParameters
	r.mu.Unlock()
	if !hasNew {
		return
	}
	seen, err := r.Rules.ListObservations(ctx, r.domain.ID, observationLimit)
	if err == nil {
		if rules := r.domain.Rules.Merge(weburl.Learn(seen)); !rules.Equal(r.domain.Rules) {
			err = r.Rules.UpdateURLRules(ctx, r.domain, rules)
		}
	}
	if err != nil {
		r.Log.Warn("URL rules of a domain could not be learned", "domain", r.domain.Name, "error", err)
	}
}

// applyLearnedRules replaces a page that was discovered before its domain's
// rules were learned by its URL under these rules. The old URL is not fetched
// again.
func (r *run) applyLearnedRules(ctx context.Context, u crawl.URL) (*crawl.FetchRecord, error) {
	if u.Kind.Hub() || !strings.Contains(u.URL, "?") {
		return nil, nil
	}
	to, err := weburl.Parse(u.URL, r.domain.Rules)
	if err != nil || crawl.URLID(to) == u.ID {
		return nil, nil //nolint:nilerr // the URL is fetched unchanged
	}
	f := &crawl.FetchRecord{URL: u, Unscheduled: true}
	f.URL.State, f.URL.Attempts = crawl.Excluded, 0
	if u.RawHash != "" {
		f.RemovedAt, f.MovedTo = time.Now().UTC().Truncate(time.Microsecond), crawl.URLID(to)
	}
	_, err = r.addToFrontier(ctx, []crawl.DiscoveredURL{
		{DomainID: u.DomainID, URL: to, Kind: u.Kind, Rank: u.Rank, Depth: u.Depth, SeedNumber: u.SeedNumber},
	})
	return f, err
}
