package seen

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/news/crawl"
)

// Store is the source of truth.
type Store interface {
	KnownURLs(ctx context.Context, domain int, ids []uuid.UUID) (map[uuid.UUID]bool, error)
}

// Index reports which URLs of a domain are new. It asks the Bloom filter, then
// a cache in Redis, then the Store.
type Index struct {
	Filter *Filter
	Redis  redis.Cmdable
	Store  Store
}

// cacheTTL is how long Redis caches that a URL is known.
const cacheTTL = 24 * time.Hour

// New reports, for each ID of a domain, whether the URL is new. It may report a
// known URL as new, but not the other way around. The epoch of a domain
// invalidates cached URLs after its frontier was emptied. While Redis is
// unavailable, all URLs are looked up in the Store.
func (k *Index) New(ctx context.Context, domain, epoch int, ids []uuid.UUID) ([]bool, error) {
	isNew := make([]bool, len(ids))
	names := make([]crawl.URLKey, len(ids))
	for i, id := range ids {
		names[i] = crawl.URLKey{DomainID: domain, ID: id}
	}
	maybeKnown, err := k.Filter.Add(ctx, names)
	if err != nil {
		maybeKnown = make([]bool, len(ids))
		for i := range maybeKnown {
			maybeKnown[i] = true
		}
	}
	var unsure []int
	for i := range ids {
		if isNew[i] = !maybeKnown[i]; maybeKnown[i] {
			unsure = append(unsure, i)
		}
	}
	unsure = k.notCached(ctx, domain, epoch, ids, unsure)
	if len(unsure) == 0 {
		return isNew, nil
	}
	lookup := make([]uuid.UUID, len(unsure))
	for i, at := range unsure {
		lookup[i] = ids[at]
	}
	known, err := k.Store.KnownURLs(ctx, domain, lookup)
	if err != nil {
		return nil, fmt.Errorf("look up known URLs: %w", err)
	}
	var remember []uuid.UUID
	for _, at := range unsure {
		if isNew[at] = !known[ids[at]]; !isNew[at] {
			remember = append(remember, ids[at])
		}
	}
	k.Remember(ctx, domain, epoch, remember)
	return isNew, nil
}

// notCached returns the URLs that are not cached as known.
func (k *Index) notCached(ctx context.Context, domain, epoch int, ids []uuid.UUID, unsure []int) []int {
	if len(unsure) == 0 {
		return nil
	}
	pipe := k.Redis.Pipeline()
	cached := make([]*redis.IntCmd, len(unsure))
	for i, at := range unsure {
		cached[i] = pipe.Exists(ctx, cacheKey(domain, epoch, ids[at]))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return unsure
	}
	var out []int
	for i, at := range unsure {
		if cached[i].Val() == 0 {
			out = append(out, at)
		}
	}
	return out
}

// Remember caches URLs that are in the Store. Call it only after the commit.
func (k *Index) Remember(ctx context.Context, domain, epoch int, ids []uuid.UUID) {
	if len(ids) == 0 {
		return
	}
	pipe := k.Redis.Pipeline()
	for _, id := range ids {
		pipe.Set(ctx, cacheKey(domain, epoch, id), "", cacheTTL)
	}
	_, _ = pipe.Exec(ctx) // looked up again the next time
}

func cacheKey(domain, epoch int, id uuid.UUID) string {
	return "crawl:known:" + strconv.Itoa(domain) + ":" + strconv.Itoa(epoch) + ":" + string(id[:])
}
