package crawler

import (
	"context"
	"strings"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
)

// observationLimit is how many pages of a domain are looked at for what its parameters
// mean.
const observationLimit = 2000

// recordCanonical notes what a page with parameters in its URL calls itself.
func (r *run) recordCanonical(u *crawl.URL, finds ParsedPage) {
	if u.Kind.Hub() || !strings.Contains(u.URL, "?") {
		return
	}
	u.Canonical = finds.Canonical.String()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hasNewParameters = true
}

// learnURLRules finds out, when new pages tell, which parameters of the domain's URLs do
// not change its pages. The next drain goes by that. What cannot be learned now
// is learned with the next page.
func (r *run) learnURLRules(ctx context.Context) {
	r.mu.Lock()
	tell := r.hasNewParameters
	r.mu.Unlock()
	if !tell {
		return
	}
	seen, err := r.Store.ListObservations(ctx, r.domain.ID, observationLimit)
	if err == nil {
		if rules := r.domain.Rules.Merge(weburl.Learn(seen)); !rules.Equal(r.domain.Rules) {
			err = r.Store.UpdateURLRules(ctx, r.domain, rules)
		}
	}
	if err != nil {
		r.Log.Warn("nothing was learned of the parameters of a domain", "domain", r.domain.Name, "error", err)
	}
}

// applyLearnedRules has a page that was found before its domain's rules were learned known
// under the name that it has by them. It is not fetched under the old one again.
func (r *run) applyLearnedRules(ctx context.Context, u crawl.URL) (*crawl.FetchRecord, error) {
	if u.Kind.Hub() || !strings.Contains(u.URL, "?") {
		return nil, nil
	}
	to, err := weburl.Parse(u.URL, r.domain.Rules)
	if err != nil || crawl.URLID(to) == u.ID {
		return nil, nil //nolint:nilerr // it has been found; it is fetched as it is
	}
	f := &crawl.FetchRecord{URL: u, Unscheduled: true}
	f.URL.State, f.URL.Attempts = crawl.Excluded, 0
	if u.RawHash != "" {
		f.RemovedAt, f.MovedTo = time.Now().UTC().Truncate(time.Microsecond), crawl.URLID(to)
	}
	_, err = r.addToFrontier(ctx, []crawl.DiscoveredURL{{DomainID: u.DomainID, URL: to, Kind: u.Kind, Rank: u.Rank, Depth: u.Depth, SeedNumber: u.SeedNumber}})
	return f, err
}
