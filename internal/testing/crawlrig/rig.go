// Package crawlrig assembles a crawler for tests and benchmarks: the production code on
// real engines, crawling a synthetic web.
package crawlrig

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/activities"
	"dateline/internal/identity/workspace"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/pagestore"
	"dateline/internal/news/crawl/seen"
	"dateline/internal/news/crawl/warc"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/storage/objects"
	"dateline/internal/storage/postgres"
	"dateline/internal/testing/crawltest"
	"dateline/worker"
)

// Options configure a Rig.
type Options struct {
	Store   *postgres.Store
	Redis   redis.UniversalClient
	Objects *objects.Bucket
	Limits  crawler.Limits
	Policy  crawl.RevisitPolicy
	Log     *slog.Logger
	Browser fetch.Renderer // nil: pages are not rendered

	// Access to the synthetic web.
	AllowPrivate []string
	Resolver     crawltest.Resolver
}

// Rig is an assembled crawler.
type Rig struct {
	Options
	Crawler    *crawler.Crawler
	Pages      *pagestore.Store
	Activities worker.Activities
	Fetcher    *fetch.Fetcher
}

// New assembles a crawler. It stops with ctx.
func New(ctx context.Context, p Options) (*Rig, error) {
	r := &Rig{Options: p}
	var err error
	if r.Fetcher, err = fetch.New(fetch.Options{
		Product: "Dateline", Version: "1",
		Contact: "https://dateline.example/bot", AllowPrivate: p.AllowPrivate,
		Resolver: p.Resolver, Renderer: p.Browser, Limits: fetch.Limits{Timeout: p.Limits.FetchTimeout},
	}); err != nil {
		return nil, err
	}
	if r.Pages, err = pagestore.New(p.Objects); err != nil {
		return nil, err
	}
	filter := &seen.Filter{Redis: p.Redis}
	record := crawler.NewRecorder(ctx, p.Store.News.Frontier.RecordFetches)
	r.Crawler = &crawler.Crawler{
		Domains: p.Store.News.Domains, URLs: p.Store.News.Frontier, Seeds: p.Store.News.Domains,
		Rules: p.Store.News.Frontier, Slots: p.Store.News.Frontier,
		Fetcher: r.Fetcher, Parser: crawler.PageParser{}, Resolver: r.Fetcher,
		URLIndex: &seen.Index{
			Filter: filter,
			Redis:  p.Redis,
			Store:  p.Store.News.Frontier,
		}, Pages: r.Pages, Record: record,
		Policy: p.Policy, Limits: p.Limits, Log: p.Log,
	}
	r.Crawler.Robots = crawler.NewRobots("Dateline", crawler.RobotsCache{Redis: p.Redis}, r.Crawler.FetchRobots)
	r.Activities = worker.Activities{
		Crawl: &activities.Crawl{
			Frontier: p.Store.News.Domains, Crawler: r.Crawler, MaxDomains: 500,
		},
		CrawlMaintenance: &activities.CrawlMaintenance{
			Records: p.Store.Crawl(), Filter: filter, DeleteObject: p.Objects.Delete,
			MaxVersions: 5, MaxAge: time.Hour,
			Exporter: &warc.Exporter{
				Store: p.Store.News.Domains, Pages: r.Pages, Objects: p.Objects, Software: "Dateline", Log: p.Log,
			},
		},
	}
	return r, nil
}

// CreateWorkspace creates a workspace and returns it with a token of its owner.
func CreateWorkspace(ctx context.Context, s *postgres.Store) (w workspace.Workspace, token string, err error) {
	w = workspace.Workspace{ID: uuid.Must(uuid.NewV7()), Name: "Newsroom", TimeZone: "Asia/Ho_Chi_Minh"}
	t, token := workspace.NewToken(w.ID, uuid.Must(uuid.NewV7()), "test")
	return w, token, s.Identity.Workspaces.Found(ctx, w, "Owner", t)
}

// CreateWorkspaceWithSeeds creates a workspace with seeds.
func CreateWorkspaceWithSeeds(
	ctx context.Context, s *postgres.Store, pace crawl.RevisitPolicy, kind crawl.Kind, addresses ...string,
) (workspace.Workspace, error) {
	w, _, err := CreateWorkspace(ctx, s)
	if err != nil {
		return w, err
	}
	return w, CreateSeeds(ctx, s, w, pace, kind, addresses...)
}

// CreateSeeds creates seeds in a workspace.
func CreateSeeds(ctx context.Context, s *postgres.Store, w workspace.Workspace, pace crawl.RevisitPolicy,
	kind crawl.Kind, addresses ...string,
) error {
	var all []crawl.Seed
	for _, address := range addresses {
		u, err := weburl.Parse(address, weburl.Rules{})
		if err != nil {
			return err
		}
		all = append(all, crawl.Seed{
			ID: uuid.Must(uuid.NewV7()), WorkspaceID: w.ID, URL: u, Kind: kind,
			Status: crawl.Active, Priority: 50,
			MinInterval: pace.MinHubInterval, MaxInterval: pace.MaxHubInterval, Interval: pace.HubInterval,
			Rules: crawl.Rules{MaxDepth: 1},
		})
	}
	_, _, err := s.News.Domains.CreateSeeds(ctx, all, idempotency.Key{})
	return err
}
