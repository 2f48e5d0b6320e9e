package pipeline

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/news/article/selector"
)

// SiteStore loads the extraction configuration of a site.
type SiteStore interface {
	SiteSelectors(ctx context.Context, domain int) (Site, error)
}

// SiteCache caches the selectors of sites: compiled in memory, as JSON in Redis, with
// Postgres as the source of truth. It works without Redis.
type SiteCache struct {
	Store SiteStore
	Redis redis.Cmdable
	Log   *slog.Logger

	mu       sync.Mutex
	compiled map[int]compiled
}

type compiled struct {
	version  int
	selector *selector.Selector
}

const (
	// siteCacheTTL is the TTL in Redis. Changes invalidate entries immediately; the TTL
	// limits the effect of a concurrent write of an old value.
	siteCacheTTL = time.Minute
	// maxCompiledSites limits the memory cache, which is cleared when full.
	maxCompiledSites = 2000
)

func siteKey(domain int) string {
	return "dateline:site-selectors:" + strconv.Itoa(domain)
}

// Get returns the configuration of a site. sel is nil if it has no valid selectors.
func (s *SiteCache) Get(ctx context.Context, domain int) (site Site, sel *selector.Selector, err error) {
	site, ok := s.cached(ctx, domain)
	if !ok {
		if site, err = s.Store.SiteSelectors(ctx, domain); err != nil {
			return site, nil, err
		}
		s.store(ctx, site)
	}
	if site.Version == 0 {
		return site, nil, nil
	}
	return site, s.compile(site), nil
}

// compile returns nil for selectors that are no longer valid, which makes the site use
// generic extraction.
func (s *SiteCache) compile(site Site) *selector.Selector {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.compiled[site.DomainID]; ok && c.version == site.Version {
		return c.selector
	}
	sel, err := selector.Compile(site.Config)
	if err != nil {
		s.Log.Warn("selectors of a site are no longer valid", "domain", site.Domain, "version", site.Version, "error",
			err)
		sel = nil
	}
	if s.compiled == nil || len(s.compiled) >= maxCompiledSites {
		s.compiled = map[int]compiled{}
	}
	s.compiled[site.DomainID] = compiled{site.Version, sel}
	return sel
}

func (s *SiteCache) cached(ctx context.Context, domain int) (site Site, ok bool) {
	raw, err := s.Redis.Get(ctx, siteKey(domain)).Bytes()
	return site, err == nil && json.Unmarshal(raw, &site) == nil && site.DomainID == domain
}

func (s *SiteCache) store(ctx context.Context, site Site) {
	raw, err := json.Marshal(site)
	if err == nil {
		err = s.Redis.Set(ctx, siteKey(site.DomainID), raw, siteCacheTTL).Err()
	}
	if err != nil {
		s.Log.Debug("could not cache selectors", "domain", site.Domain, "error", err)
	}
}

// Invalidate removes a site from Redis.
func (s *SiteCache) Invalidate(ctx context.Context, domain int) {
	if err := s.Redis.Del(context.WithoutCancel(ctx), siteKey(domain)).Err(); err != nil {
		s.Log.Warn("could not invalidate cached selectors; they expire within a minute", "domain_id", domain, "error",
			err)
	}
}
