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

// SiteStore knows how the pages of a site are read.
type SiteStore interface {
	SiteSelectors(ctx context.Context, domain int32) (Site, error)
}

// SiteCache gives the selectors of sites: compiled ones from memory, configurations
// from Redis, and the truth from Postgres. Redis may be away or empty.
type SiteCache struct {
	Store SiteStore
	Redis redis.UniversalClient
	Log   *slog.Logger

	mu       sync.Mutex
	compiled map[int32]compiled
}

type compiled struct {
	version  int
	selector *selector.Selector
}

const (
	// siteCacheTTL is how long Redis remembers a site. A change takes it out at once;
	// this bounds the harm where a reader puts an old one back.
	siteCacheTTL = time.Minute
	// maxCompiledSites bounds the memory; what is in use comes back at once.
	maxCompiledSites = 2000
)

func siteKey(domain int32) string {
	return "dateline:site-reading:" + strconv.Itoa(int(domain))
}

// Get says how the pages of a site are read. sel is nil where it has no
// selectors.
func (s *SiteCache) Get(ctx context.Context, domain int32) (site Site, sel *selector.Selector, err error) {
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

// compile gives nil for what does not compile any more: an older build may have
// written it. The page is read as on any other site then.
func (s *SiteCache) compile(site Site) *selector.Selector {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.compiled[site.DomainID]; ok && c.version == site.Version {
		return c.selector
	}
	sel, err := selector.Compile(site.Config)
	if err != nil {
		s.Log.Warn("selectors of a site are not valid any more", "domain", site.Domain, "version", site.Version, "error", err)
		sel = nil
	}
	if s.compiled == nil || len(s.compiled) >= maxCompiledSites {
		s.compiled = map[int32]compiled{}
	}
	s.compiled[site.DomainID] = compiled{site.Version, sel}
	return sel
}

func (s *SiteCache) cached(ctx context.Context, domain int32) (site Site, ok bool) {
	raw, err := s.Redis.Get(ctx, siteKey(domain)).Bytes()
	return site, err == nil && json.Unmarshal(raw, &site) == nil && site.DomainID == domain
}

func (s *SiteCache) store(ctx context.Context, site Site) {
	raw, err := json.Marshal(site)
	if err == nil {
		err = s.Redis.Set(ctx, siteKey(site.DomainID), raw, siteCacheTTL).Err()
	}
	if err != nil {
		s.Log.Debug("selectors are not cached", "domain", site.Domain, "error", err)
	}
}

// Invalidate has the next reader ask the database.
func (s *SiteCache) Invalidate(ctx context.Context, domain int32) {
	if err := s.Redis.Del(context.WithoutCancel(ctx), siteKey(domain)).Err(); err != nil {
		s.Log.Warn("selectors stay cached for a minute", "domain_id", domain, "error", err)
	}
}
