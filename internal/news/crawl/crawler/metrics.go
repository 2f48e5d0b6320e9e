package crawler

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/fetch"
)

// Metrics counts what the crawler does.
type Metrics interface {
	// Fetched records a fetch with all its requests, by its outcome.
	Fetched(ctx context.Context, outcome string, requests int, bytes int64, took time.Duration)
	// Page records the result for a page; kind is article or hub.
	Page(ctx context.Context, kind, result string)
	// Links records the new and the known links of a page.
	Links(ctx context.Context, newLinks, known int)
	// Freshness records how long after its publication an article reached a
	// stage.
	Freshness(ctx context.Context, stage string, after time.Duration)
}

// Instrument makes d report to m. It must not be called while d crawls.
func (c *Crawler) Instrument(m Metrics) {
	record := c.Record
	c.Fetcher, c.URLIndex = measuredFetcher{c.Fetcher, m}, measuredIndex{c.URLIndex, m}
	c.Record = func(ctx context.Context, f crawl.FetchRecord) (bool, error) {
		recorded, err := record(ctx, f)
		if recorded && err == nil {
			countPage(ctx, m, f)
		}
		return recorded, err
	}
}

type measuredFetcher struct {
	Fetcher
	metrics Metrics
}

func (f measuredFetcher) Fetch(ctx context.Context, r fetch.Request) (*fetch.Result, error) {
	start := time.Now()
	res, err := f.Fetcher.Fetch(ctx, r)
	switch {
	case err == nil:
		f.metrics.Fetched(ctx, string(res.Outcome), res.Requests, res.WireBytes, res.Duration)
	case errors.Is(err, context.DeadlineExceeded):
		f.metrics.Fetched(ctx, string(fetch.Timeout), 1, 0, time.Since(start))
	}
	return res, err
}

type measuredIndex struct {
	URLIndex
	metrics Metrics
}

func (k measuredIndex) New(ctx context.Context, domain, epoch int, ids []uuid.UUID) ([]bool, error) {
	all, err := k.URLIndex.New(ctx, domain, epoch, ids)
	newLinks := 0
	for _, isNew := range all {
		if isNew {
			newLinks++
		}
	}
	if err == nil {
		k.metrics.Links(ctx, newLinks, len(all)-newLinks)
	}
	return all, err
}

// countPage reports a recorded page. Pages whose lease expired are fetched, and
// reported, by another worker.
func countPage(ctx context.Context, m Metrics, f crawl.FetchRecord) {
	kind := "article"
	if f.URL.Kind.Hub() {
		kind = "hub"
	}
	m.Page(ctx, kind, pageResult(f))
	if f.Version != nil && !f.PublishedAt.IsZero() {
		m.Freshness(ctx, "stored", time.Since(f.PublishedAt))
	}
}

func pageResult(f crawl.FetchRecord) string {
	switch {
	case f.TimedOut:
		return "timeout"
	case f.Failed && f.URL.State == crawl.Excluded:
		return "excluded"
	case f.Failed:
		return "failed"
	case f.Unscheduled:
		return "moved"
	case f.URL.State == crawl.Excluded:
		return "blocked_by_robots"
	case f.IsFirstVersion:
		return "new"
	case f.Version != nil:
		return "changed"
	default:
		return "unchanged"
	}
}
