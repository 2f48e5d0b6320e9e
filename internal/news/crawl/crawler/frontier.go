package crawler

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/weburl"
)

// addToFrontier adds URLs that are not in the frontier yet and returns how many
// were new.
func (r *run) addToFrontier(ctx context.Context, links []crawl.DiscoveredURL) (added int, err error) {
	var ids []uuid.UUID
	var unknown []crawl.DiscoveredURL
	for _, l := range links {
		if !r.isKnown(l.URL) {
			ids, unknown = append(ids, crawl.URLID(l.URL)), append(unknown, l)
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	isNew, err := r.URLIndex.New(ctx, r.domain.ID, r.domain.Epoch, ids)
	if err != nil {
		return 0, err
	}
	var insert []crawl.DiscoveredURL
	for i, l := range unknown {
		if isNew[i] {
			insert = append(insert, l)
		}
	}
	inserted, err := r.URLs.AddURLs(ctx, insert)
	if err != nil {
		return 0, err
	}
	remember := make([]uuid.UUID, len(insert))
	for i, l := range insert {
		remember[i] = crawl.URLID(l.URL)
	}
	r.URLIndex.Remember(ctx, r.domain.ID, r.domain.Epoch, remember)
	r.mu.Lock()
	for _, l := range unknown {
		r.known[l.URL] = true
	}
	r.stats.Found += len(inserted)
	r.mu.Unlock()
	return len(inserted), nil
}

// admitSection returns reason a section must not be followed; empty means that it
// may. Sections do not count against a budget, but a site must not have
// endlessly many of one shape. Sections that are in the frontier already count,
// too.
func (r *run) admitSection(ctx context.Context, u weburl.URL) (reason string, err error) {
	r.sectionsMu.Lock()
	defer r.sectionsMu.Unlock()
	if r.sections == nil {
		urls, err := r.URLs.ListSections(ctx, r.domain.ID)
		if err != nil {
			return "", err
		}
		shapes := discover.NewShapeLimiter(r.Limits.MaxSimilarSections)
		r.hubs = map[string]bool{}
		for _, text := range urls {
			r.hubs[text] = true
			if known, err := weburl.Parse(text, r.domain.Rules); err == nil {
				shapes.Count(known)
			}
		}
		r.sections = shapes
	}
	if r.hubs[u.String()] {
		return "", nil
	}
	if reason = r.sections.Admit(u); reason == "" {
		r.hubs[u.String()] = true
	}
	return reason, nil
}
