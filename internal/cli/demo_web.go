package cli

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/config"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/seeds"
	"dateline/internal/testing/crawltest"
)

// demoWeb is the small web of --demo: news sites on this machine that publish
// while somebody watches. nil is one that is off.
type demoWeb struct{ world *crawltest.World }

const (
	demoSites = 3
	// demoNames is the end of their names, which no real site has (RFC 6761 §6.2).
	demoNames = ".test"
	// demoNews is between two articles, on one site after the other.
	demoNews = 20 * time.Second
	// demoInterval is the shortest that a seed may have.
	demoInterval = time.Minute
)

// startDemoWeb starts the sites, unless nothing is crawled, or through a proxy,
// which would not know their names.
func startDemoWeb(cfg *config.Config) (*demoWeb, error) {
	if !cfg.Crawl || cfg.CrawlProxyURL != "" {
		return nil, nil //nolint:nilnil // off
	}
	world, err := crawltest.New(crawltest.Options{Sites: demoSites, Articles: 6, Sections: 2, ArticlesPerHub: 10})
	if err != nil {
		return nil, fmt.Errorf("starting the demo's sites: %w", err)
	}
	return &demoWeb{world}, nil
}

func (w *demoWeb) close() {
	if w != nil {
		w.world.Close()
	}
}

// allowed are the addresses of the sites: they are private, and may be reached.
func (w *demoWeb) allowed() []string {
	if w == nil {
		return nil
	}
	return w.world.AllowPrivate()
}

// resolver finds the sites, and all others as the machine does.
func (w *demoWeb) resolver() fetch.Resolver {
	if w == nil {
		return fetch.SystemResolver{}
	}
	return demoResolver{w.world.Resolver()}
}

type demoResolver struct{ sites crawltest.Resolver }

// Lookup implements fetch.Resolver.
func (r demoResolver) Lookup(ctx context.Context, host string) ([]netip.Addr, time.Duration, error) {
	if strings.HasSuffix(host, demoNames) {
		return r.sites.Lookup(ctx, host)
	}
	return fetch.SystemResolver{}.Lookup(ctx, host)
}

// seed has the sites crawled, and forgets those of an earlier demo, which are
// gone.
func (w *demoWeb) seed(ctx context.Context, p *parts, owner workspace.Principal) error {
	if p.crawl == nil {
		return nil
	}
	now := map[string]bool{}
	if w != nil {
		for _, site := range w.world.Sites() {
			now[site.Home()] = true
		}
	}
	for number := range demoSites {
		old, err := p.crawl.seeds.List(ctx, owner, fmt.Sprintf("site-%04d%s", number, demoNames), uuid.Nil, 100)
		if err != nil {
			return err
		}
		for _, n := range old {
			if !now[n.URL.String()] {
				if err := p.crawl.seeds.Delete(ctx, owner, n.ID); err != nil {
					return err
				}
			}
			delete(now, n.URL.String())
		}
	}
	interval := demoInterval
	for address := range now {
		if _, _, err := p.crawl.seeds.Create(ctx, owner, seeds.Draft{URL: address, MinInterval: &interval, MaxInterval: &interval}, idempotency.Key{}); err != nil {
			return fmt.Errorf("seeding the demo's sites: %w", err)
		}
	}
	return nil
}

// publish brings out articles until ctx ends.
func (w *demoWeb) publish(ctx context.Context, out io.Writer) {
	if w == nil {
		return
	}
	_, _ = fmt.Fprintf(out, "Demo: %d news sites publish all the while; what is crawled of them is under News in the dashboard.\n", demoSites)
	next := time.NewTicker(demoNews)
	defer next.Stop()
	for number := 0; ; number++ {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
			w.world.Site(number % demoSites).Publish()
		}
	}
}
