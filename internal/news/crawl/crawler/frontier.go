package crawler

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/discover"
	"dateline/internal/news/crawl/weburl"
)

// addToFrontier puts URLs into the frontier that are not there yet, and says how many
// were new.
func (r *run) addToFrontier(ctx context.Context, found []crawl.DiscoveredURL) (fresh int, err error) {
	var ids []uuid.UUID
	var ask []crawl.DiscoveredURL
	for _, f := range found {
		if !r.isKnown(f.URL) {
			ids, ask = append(ids, crawl.URLID(f.URL)), append(ask, f)
		}
	}
	if len(ids) == 0 {
		return 0, nil
	}
	unknown, err := r.URLIndex.New(ctx, r.domain.ID, r.domain.Epoch, ids)
	if err != nil {
		return 0, err
	}
	var insert []crawl.DiscoveredURL
	for i, f := range ask {
		if unknown[i] {
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
	for _, f := range ask {
		r.known[f.URL] = true
	}
	r.stats.Found += len(added)
	r.mu.Unlock()
	return len(added), nil
}

// admitSection says why a section is not to be followed; empty: it is. Sections cost no
// budget, so that a site may have many; it may not have endlessly many of one
// shape. What the frontier has already counts.
func (r *run) admitSection(ctx context.Context, u weburl.URL) (why string, err error) {
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
	if why = r.sections.Admit(u); why == "" {
		r.hubs[u.String()] = true
	}
	return why, nil
}
