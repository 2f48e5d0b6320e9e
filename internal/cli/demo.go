package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"dateline/internal/cli/demo"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/config"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/testing/crawltest"
	"dateline/workflows"
)

// demoSites are the generated news sites of the demo. It is nil without the sandbox or the crawler.
type demoSites struct{ world *crawltest.World }

// startDemoSites starts the sites of the demo, which can be created at any time, at the port after that
// of the sandbox. Without the sandbox there is no demo, without the crawler there are no news, and a
// proxy could not resolve their names.
func startDemoSites(cfg *config.Config, box *sandbox) (*demoSites, error) {
	if box == nil || !cfg.Crawl || cfg.CrawlProxyURL != "" {
		return nil, nil //nolint:nilnil // off
	}
	port := ""
	if _, text, err := net.SplitHostPort(cfg.SandboxAddr); err == nil {
		if n, err := strconv.Atoi(text); err == nil {
			port = strconv.Itoa(n + 1)
		}
	}
	world, err := demo.NewSites(port)
	if err != nil {
		return nil, fmt.Errorf("starting the news sites of the demo: %w", err)
	}
	return &demoSites{world}, nil
}

func (s *demoSites) close() {
	if s != nil {
		s.world.Close()
	}
}

// allowed returns the private addresses of the sites, which must be reachable, and their names, which
// watches may name with a port.
func (s *demoSites) allowed() []string {
	if s == nil {
		return nil
	}
	out := s.world.AllowPrivate()
	for _, site := range s.world.Sites() {
		if home, err := url.Parse(site.Home()); err == nil {
			out = append(out, home.Host)
		}
	}
	return out
}

// resolver resolves the demo sites locally and all other names with the system resolver.
func (s *demoSites) resolver() fetch.Resolver {
	if s == nil {
		return fetch.SystemResolver{}
	}
	return demoResolver{s.world.Resolver()}
}

type demoResolver struct{ sites crawltest.Resolver }

// Lookup implements fetch.Resolver.
func (r demoResolver) Lookup(ctx context.Context, host string) ([]netip.Addr, time.Duration, error) {
	if slices.Contains(demo.Hosts(), host) {
		return r.sites.Lookup(ctx, host)
	}
	return fetch.SystemResolver{}.Lookup(ctx, host)
}

// addDemo makes the demo possible, if the sandbox is on.
func (p *parts) addDemo(box *sandbox, sites *demoSites) {
	if box == nil {
		return
	}
	p.demo = demo.New(&demo.Demo{
		Store: p.store.Identity.Workspaces, Sandbox: box.server, RunSchedule: p.runSchedule, Log: p.log,
		Schedules: []string{
			workflows.CrawlSchedule, workflows.ExtractArticlesSchedule, workflows.IndexArticlesSchedule,
			workflows.PlaceStoriesSchedule, workflows.EvaluateRulesSchedule, workflows.FlushViewsSchedule,
			workflows.MeasurePostsSchedule, workflows.CheckWatchesSchedule,
		},
	})
	if sites != nil {
		p.demo.Sites = sites.world
	}
}

// demoService creates and removes the demo; nil without the sandbox.
func (p *parts) demoService() *workspace.Demo {
	if p.demo == nil {
		return nil
	}
	return &workspace.Demo{
		Store: p.store.Identity.Workspaces, Content: p.demo, Zone: p.cfg.TimeZone.String(), Log: p.log,
	}
}

// runDemo fills and simulates the demo through the API of this process until ctx ends.
func (p *parts) runDemo(ctx context.Context, api http.Handler) {
	if p.demo == nil {
		return
	}
	p.demo.API = api
	p.demo.Run(ctx)
}

// runSchedule runs a schedule of Temporal now, unless it is running.
func (p *parts) runSchedule(ctx context.Context, id string) error {
	return p.temporal.ScheduleClient().GetHandle(ctx, id).Trigger(ctx,
		client.ScheduleTriggerOptions{Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP})
}
