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

// Store is the authority.
type Store interface {
	KnownURLs(ctx context.Context, domain int32, ids []uuid.UUID) (map[uuid.UUID]bool, error)
}

// Index answers which URLs of a domain are new, by filter, cache and authority.
type Index struct {
	Filter *Filter
	Redis  redis.UniversalClient
	Store  Store
}

// cacheTTL is how long Redis keeps that a URL is known.
const cacheTTL = 24 * time.Hour

// New says of each id of a domain whether it is to be added. It says yes too
// often rather than too seldom. A domain whose frontier was emptied has a new
// epoch, under which nothing is remembered. When Redis does not answer,
// everything is asked of the authority.
func (k *Index) New(ctx context.Context, domain, epoch int32, ids []uuid.UUID) ([]bool, error) {
	fresh := make([]bool, len(ids))
	names := make([]crawl.URLKey, len(ids))
	for i, id := range ids {
		names[i] = crawl.URLKey{DomainID: domain, ID: id}
	}
	maybe, err := k.Filter.Add(ctx, names)
	if err != nil {
		maybe = make([]bool, len(ids))
		for i := range maybe {
			maybe[i] = true
		}
	}
	var unsure []int
	for i := range ids {
		if fresh[i] = !maybe[i]; maybe[i] {
			unsure = append(unsure, i)
		}
	}
	unsure = k.notCached(ctx, domain, epoch, ids, unsure)
	if len(unsure) == 0 {
		return fresh, nil
	}
	ask := make([]uuid.UUID, len(unsure))
	for i, at := range unsure {
		ask[i] = ids[at]
	}
	known, err := k.Store.KnownURLs(ctx, domain, ask)
	if err != nil {
		return nil, fmt.Errorf("asking which URLs are known: %w", err)
	}
	var remember []uuid.UUID
	for _, at := range unsure {
		if fresh[at] = !known[ids[at]]; !fresh[at] {
			remember = append(remember, ids[at])
		}
	}
	k.Remember(ctx, domain, epoch, remember)
	return fresh, nil
}

// notCached leaves those that Redis does not know.
func (k *Index) notCached(ctx context.Context, domain, epoch int32, ids []uuid.UUID, unsure []int) []int {
	if len(unsure) == 0 {
		return nil
	}
	pipe := k.Redis.Pipeline()
	answers := make([]*redis.IntCmd, len(unsure))
	for i, at := range unsure {
		answers[i] = pipe.Exists(ctx, cacheKey(domain, epoch, ids[at]))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return unsure
	}
	var out []int
	for i, at := range unsure {
		if answers[i].Val() == 0 {
			out = append(out, at)
		}
	}
	return out
}

// Remember notes URLs that the authority has. It is called after the commit,
// never before.
func (k *Index) Remember(ctx context.Context, domain, epoch int32, ids []uuid.UUID) {
	if len(ids) == 0 {
		return
	}
	pipe := k.Redis.Pipeline()
	for _, id := range ids {
		pipe.Set(ctx, cacheKey(domain, epoch, id), "", cacheTTL)
	}
	_, _ = pipe.Exec(ctx) // asked again the next time
}

func cacheKey(domain, epoch int32, id uuid.UUID) string {
	return "crawl:known:" + strconv.Itoa(int(domain)) + ":" + strconv.Itoa(int(epoch)) + ":" + string(id[:])
}
