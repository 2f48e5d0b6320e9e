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
	// Fetched notes a fetch with all its requests, by its outcome.
	Fetched(ctx context.Context, outcome string, requests int, bytes int64, took time.Duration)
	// Page notes what became of a page: kind is article or hub.
	Page(ctx context.Context, kind, result string)
	// Links notes links that a page has: new ones, and ones known before.
	Links(ctx context.Context, fresh, known int)
	// Freshness notes how long after its publication an article came to a stage.
	Freshness(ctx context.Context, stage string, after time.Duration)
}

// Instrument has a meter told of all that d does from now on. It must not be called
// while d drains.
func (d *Crawler) Instrument(m Metrics) {
	record := d.Record
	d.Fetcher, d.URLIndex = measuredFetcher{d.Fetcher, m}, measuredIndex{d.URLIndex, m}
	d.Record = func(ctx context.Context, f crawl.FetchRecord) (bool, error) {
		held, err := record(ctx, f)
		if held && err == nil {
			countPage(ctx, m, f)
		}
		return held, err
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

func (k measuredIndex) New(ctx context.Context, domain, epoch int32, ids []uuid.UUID) ([]bool, error) {
	all, err := k.URLIndex.New(ctx, domain, epoch, ids)
	fresh := 0
	for _, isNew := range all {
		if isNew {
			fresh++
		}
	}
	if err == nil {
		k.metrics.Links(ctx, fresh, len(all)-fresh)
	}
	return all, err
}

// countPage tells of a page that was recorded. What came too late is fetched, and
// told of, by another.
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
		return "refused"
	case f.Failed:
		return "failed"
	case f.Unscheduled:
		return "moved"
	case f.URL.State == crawl.Excluded:
		return "robots"
	case f.IsFirstVersion:
		return "new"
	case f.Version != nil:
		return "changed"
	default:
		return "unchanged"
	}
}
