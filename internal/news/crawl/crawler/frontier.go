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
func (r *run) addToFrontier(ctx context.Context, found []crawl.DiscoveredURL) (fresh int, err error) {
	var ids []uuid.UUID
	var isNew []crawl.DiscoveredURL
	for _, f := range found {
		if !r.isKnown(f.URL) {
			ids, isNew = append(ids, crawl.URLID(f.URL)), append(isNew, f)
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
	for i, f := range isNew {
		if isNew[i] {
			insert = append(insert, f)
		}
	}
	added, err := r.Store.AddURLs(ctx, insert)
	if err != nil {
		return 0, err
	}
	remember := make([]uuid.UUID, len(insert))
	for i, f := range insert {
		remember[i] = crawl.URLID(f.URL)
	}
	r.URLIndex.Remember(ctx, r.domain.ID, r.domain.Epoch, remember)
	r.mu.Lock()
	for _, f := range isNew {
		r.known[f.URL] = true
	}
	r.stats.Found += len(added)
	r.mu.Unlock()
	return len(added), nil
}

// admitSection returns reason a section must not be followed; empty means that it
// may. Sections do not count against a budget, but a site must not have
// endlessly many of one shape. Sections that are in the frontier already count,
// too.
func (r *run) admitSection(ctx context.Context, u weburl.URL) (reason string, err error) {
	r.sectionsMu.Lock()
	defer r.sectionsMu.Unlock()
	if r.sections == nil {
		urls, err := r.Store.ListSections(ctx, r.domain.ID)
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
