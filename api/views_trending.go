package api

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/infra/optional"
)

const (
	// trendingTTL is how long a ranking is cached.
	trendingTTL = 30 * time.Second
	// trendingDepth is the number of cached pages per ranking.
	trendingDepth     = 100
	maxCachedRankings = 10_000
)

// rankingCache caches rankings.
type rankingCache struct {
	mu      sync.Mutex
	entries map[rankingKey]cachedRanking
}

type rankingKey struct {
	site    uuid.UUID
	ranking counter.Ranking
}

type cachedRanking struct {
	pages []counter.RankedPage
	at    time.Time
}

func (k *rankingCache) get(of rankingKey, now time.Time) ([]counter.RankedPage, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	cached, ok := k.entries[of]
	return cached.pages, ok && now.Sub(cached.at) < trendingTTL
}

func (k *rankingCache) put(of rankingKey, pages []counter.RankedPage, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.entries == nil || len(k.entries) >= maxCachedRankings {
		k.entries = map[rankingKey]cachedRanking{}
	}
	k.entries[of] = cachedRanking{pages, now}
}

// Trending lists the most viewed pages.
func (s *CountHandler) Trending(
	ctx context.Context, r spec.TrendingRequestObject,
) (spec.TrendingResponseObject, error) {
	one, err := countedSite(ctx, s.Sites, or(r.Params.Site, principal(ctx).WorkspaceID))
	if err != nil {
		return nil, err
	}
	ranking := counter.Ranking(or(r.Params.Window, spec.TrendingParamsWindow(counter.TrendingNow)))
	if optional.Value(r.Params.Rising) {
		ranking = counter.Rising
	}
	of, now := rankingKey{one.ID, ranking}, time.Now()
	pages, ok := s.trending.get(of, now)
	if !ok {
		if pages, err = s.Counts.Trending(ctx, one.ID, ranking, trendingDepth); err != nil {
			return nil, err
		}
		s.trending.put(of, pages, now)
	}
	out := spec.TrendingList{}
	out.Pages = make([]struct {
		Page  string  `json:"page"`
		Score float64 `json:"score"`
	}, min(len(pages), or(r.Params.Limit, 20)))
	for i := range out.Pages {
		out.Pages[i].Page, out.Pages[i].Score = pages[i].Page, pages[i].Score
	}
	return spec.Trending200JSONResponse(out), nil
}
