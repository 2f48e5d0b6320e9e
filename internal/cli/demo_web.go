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

// demoWeb runs the local news sites of --demo, which publish articles continuously. It
// is nil if it is off.
type demoWeb struct{ world *crawltest.World }

const (
	demoSites = 3
	// demoNames is the reserved top-level domain of the sites (RFC 6761 section 6.2).
	demoNames = ".test"
	// demoNews is the interval between two articles, on alternating sites.
	demoNews = 20 * time.Second
	// demoInterval is the crawl interval of the seeds, which is the allowed minimum.
	demoInterval = time.Minute
)

// startDemoWeb starts the sites, unless the crawler is off or uses a proxy, which
// cannot resolve their names.
func startDemoWeb(cfg *config.Config) (*demoWeb, error) {
	if !cfg.Crawl || cfg.CrawlProxyURL != "" {
		return nil, nil //nolint:nilnil // off
	}
	world, err := crawltest.New(crawltest.Options{
		Sites: demoSites, Articles: 6, Sections: 2, ArticlesPerHub: 10, Readable: true,
	})
	if err != nil {
		return nil, fmt.Errorf("starting the demo sites: %w", err)
	}
	return &demoWeb{world}, nil
}

func (w *demoWeb) close() {
	if w != nil {
		w.world.Close()
	}
}

// allowed returns the private addresses of the sites, which must be reachable.
func (w *demoWeb) allowed() []string {
	if w == nil {
		return nil
	}
	return w.world.AllowPrivate()
}

// resolver resolves the demo sites locally and all other names with the system resolver.
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

// seed creates seeds for the sites, and deletes those of previous runs.
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
		if _, _, err := p.crawl.seeds.Create(ctx, owner,
			seeds.Draft{URL: address, MinInterval: &interval, MaxInterval: &interval}, idempotency.Key{}); err != nil {
			return fmt.Errorf("creating the seeds of the demo sites: %w", err)
		}
	}
	return nil
}

// publish publishes articles until ctx ends.
func (w *demoWeb) publish(ctx context.Context, out io.Writer) {
	if w == nil {
		return
	}
	_, _ = fmt.Fprintf(out, "Demo: %d news sites publish continuously; their articles appear under News in the "+
		"dashboard.\n", demoSites)
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
