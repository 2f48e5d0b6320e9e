// Package crawlrig puts a crawler together for tests and benchmarks: the real
// one, on real engines, against a synthetic web.
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
	"dateline/internal/news/crawl/crawltest"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/news/crawl/pagestore"
	"dateline/internal/news/crawl/seen"
	"dateline/internal/news/crawl/warc"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/storage/objects"
	"dateline/internal/storage/postgres"
	"dateline/worker"
)

// Parts are what a crawler is made of.
type Parts struct {
	Store   *postgres.Store
	Redis   redis.UniversalClient
	Objects *objects.Bucket
	Limits  crawler.Limits
	Pace    crawl.Pace
	Log     *slog.Logger
	Browser fetch.Renderer // nil: pages are not rendered

	// Where the synthetic web is.
	AllowPrivate []string
	Resolver     crawltest.Resolver
}

// Rig is a crawler.
type Rig struct {
	Parts
	Drainer *crawler.Drainer
	Pages   *pagestore.Pages
	Crawler *worker.Crawler
	Fetcher *fetch.Fetcher
}

// New puts a crawler together, which lasts as long as ctx.
func New(ctx context.Context, p Parts) (*Rig, error) {
	r := &Rig{Parts: p}
	var err error
	if r.Fetcher, err = fetch.New(fetch.Options{Product: "Dateline", Version: "1", Contact: "https://dateline.example/bot", AllowPrivate: p.AllowPrivate,
		Resolver: p.Resolver, Renderer: p.Browser, Limits: fetch.Limits{Total: p.Limits.Fetch}}); err != nil {
		return nil, err
	}
	if r.Pages, err = pagestore.New(p.Objects); err != nil {
		return nil, err
	}
	filter := &seen.Filter{Redis: p.Redis}
	record := crawler.Recorder(ctx, p.Store.RecordFetches)
	r.Drainer = &crawler.Drainer{Store: p.Store, Gates: p.Store, Fetcher: r.Fetcher, Finder: crawler.PageFinder{}, Resolver: r.Fetcher,
		Known: &seen.Known{Filter: filter, Redis: p.Redis, Store: p.Store}, Pages: r.Pages, Record: record, Pace: p.Pace, Limits: p.Limits, Log: p.Log}
	r.Drainer.Robots = crawler.NewRobots("Dateline", crawler.RobotsStore{Redis: p.Redis}, r.Drainer.FetchRobots)
	r.Crawler = &worker.Crawler{Crawl: &activities.Crawl{Frontier: p.Store, Drainer: r.Drainer, Most: 500},
		Keep: &activities.CrawlKeeper{Rows: p.Store, Filter: filter, Drop: p.Objects.Delete, Keep: 5, Age: time.Hour,
			Export: &warc.Exporter{Store: p.Store, Pages: r.Pages, Objects: p.Objects, Software: "Dateline", Log: p.Log}}}
	return r, nil
}

// Found makes a workspace, and a token of its owner's.
func Found(ctx context.Context, s *postgres.Store) (w workspace.Workspace, token string, err error) {
	w = workspace.Workspace{ID: uuid.Must(uuid.NewV7()), Name: "Desk", TimeZone: "Asia/Ho_Chi_Minh"}
	t, token := workspace.NewToken(w.ID, uuid.Must(uuid.NewV7()), "test")
	return w, token, s.Found(ctx, w, "Owner", t)
}

// Seed makes seeds of a new workspace.
func Seed(ctx context.Context, s *postgres.Store, pace crawl.Pace, kind crawl.Kind, addresses ...string) (workspace.Workspace, error) {
	w, _, err := Found(ctx, s)
	if err != nil {
		return w, err
	}
	return w, Plant(ctx, s, w, pace, kind, addresses...)
}

// Plant makes seeds of a workspace.
func Plant(ctx context.Context, s *postgres.Store, w workspace.Workspace, pace crawl.Pace, kind crawl.Kind, addresses ...string) error {
	var all []crawl.Seed
	for _, address := range addresses {
		u, err := weburl.Parse(address, weburl.Rules{})
		if err != nil {
			return err
		}
		all = append(all, crawl.Seed{ID: uuid.Must(uuid.NewV7()), WorkspaceID: w.ID, URL: u, Kind: kind, Status: crawl.Active, Priority: 50,
			Min: pace.Min, Max: pace.Max, Every: pace.Every, Rules: crawl.Rules{Depth: 1}})
	}
	_, _, err := s.CreateSeeds(ctx, all, idempotency.Key{})
	return err
}
