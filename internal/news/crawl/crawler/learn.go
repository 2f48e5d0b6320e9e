package crawler

import (
	"context"
	"strings"
	"time"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/weburl"
)

// learnFrom is how many pages of a domain are looked at for what its parameters
// mean.
const learnFrom = 2000

// parameters notes what a page with parameters in its URL calls itself.
func (r *run) parameters(u *crawl.URL, finds Finds) {
	if u.Kind.Hub() || !strings.Contains(u.URL, "?") {
		return
	}
	u.Canonical = finds.Canonical.String()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.params = true
}

// learn finds out, when new pages tell, which parameters of the domain's URLs do
// not change its pages. The next drain goes by that. What cannot be learned now
// is learned with the next page.
func (r *run) learn(ctx context.Context) {
	r.mu.Lock()
	tell := r.params
	r.mu.Unlock()
	if !tell {
		return
	}
	seen, err := r.Store.Observations(ctx, r.domain.ID, learnFrom)
	if err == nil {
		if rules := r.domain.Rules.With(weburl.Learn(seen)); !rules.Equal(r.domain.Rules) {
			err = r.Store.LearnRules(ctx, r.domain, rules)
		}
	}
	if err != nil {
		r.Log.Warn("nothing was learned of the parameters of a domain", "domain", r.domain.Name, "error", err)
	}
}

// renamed has a page that was found before its domain's rules were learned known
// under the name that it has by them. It is not fetched under the old one again.
func (r *run) renamed(ctx context.Context, u crawl.URL) (*crawl.Fetched, error) {
	if u.Kind.Hub() || !strings.Contains(u.URL, "?") {
		return nil, nil
	}
	to, err := weburl.Parse(u.URL, r.domain.Rules)
	if err != nil || crawl.ID(to) == u.ID {
		return nil, nil //nolint:nilerr // it has been found; it is fetched as it is
	}
	f := &crawl.Fetched{URL: u, Never: true}
	f.URL.State, f.URL.Tries = crawl.Refused, 0
	if u.RawHash != "" {
		f.Gone, f.MovedTo = time.Now().UTC().Truncate(time.Microsecond), crawl.ID(to)
	}
	_, err = r.add(ctx, []crawl.Found{{DomainID: u.DomainID, URL: to, Kind: u.Kind, Rank: u.Rank, Depth: u.Depth, SeedNo: u.SeedNo}})
	return f, err
}
