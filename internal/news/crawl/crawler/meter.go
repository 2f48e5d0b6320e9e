package crawler

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/fetch"
)

// Meter counts what the crawler does.
type Meter interface {
	// Fetched notes a fetch with all its requests, by its outcome.
	Fetched(ctx context.Context, outcome string, requests int, bytes int64, took time.Duration)
	// Page notes what became of a page: kind is article or hub.
	Page(ctx context.Context, kind, result string)
	// Links notes links that a page has: new ones, and ones known before.
	Links(ctx context.Context, fresh, known int)
	// Fresh notes how long after its publication an article came to a stage.
	Fresh(ctx context.Context, stage string, after time.Duration)
}

// Tell has a meter told of all that d does from now on. It must not be called
// while d drains.
func (d *Drainer) Tell(m Meter) {
	record := d.Record
	d.Fetcher, d.Known = meteredFetcher{d.Fetcher, m}, meteredKnown{d.Known, m}
	d.Record = func(ctx context.Context, f crawl.Fetched) (bool, error) {
		held, err := record(ctx, f)
		if held && err == nil {
			tellPage(ctx, m, f)
		}
		return held, err
	}
}

type meteredFetcher struct {
	Fetcher
	meter Meter
}

func (f meteredFetcher) Fetch(ctx context.Context, r fetch.Request) (*fetch.Result, error) {
	start := time.Now()
	res, err := f.Fetcher.Fetch(ctx, r)
	switch {
	case err == nil:
		f.meter.Fetched(ctx, string(res.Outcome), res.Requests, res.WireBytes, res.Took)
	case errors.Is(err, context.DeadlineExceeded):
		f.meter.Fetched(ctx, string(fetch.Timeout), 1, 0, time.Since(start))
	}
	return res, err
}

type meteredKnown struct {
	Known
	meter Meter
}

func (k meteredKnown) New(ctx context.Context, domain, epoch int32, ids []uuid.UUID) ([]bool, error) {
	all, err := k.Known.New(ctx, domain, epoch, ids)
	fresh := 0
	for _, isNew := range all {
		if isNew {
			fresh++
		}
	}
	if err == nil {
		k.meter.Links(ctx, fresh, len(all)-fresh)
	}
	return all, err
}

// tellPage tells of a page that was recorded. What came too late is fetched, and
// told of, by another.
func tellPage(ctx context.Context, m Meter, f crawl.Fetched) {
	kind := "article"
	if f.URL.Kind.Hub() {
		kind = "hub"
	}
	m.Page(ctx, kind, resultOf(f))
	if f.Version != nil && !f.Published.IsZero() {
		m.Fresh(ctx, "stored", time.Since(f.Published))
	}
}

func resultOf(f crawl.Fetched) string {
	switch {
	case f.Timeout:
		return "timeout"
	case f.Failed && f.URL.State == crawl.Refused:
		return "refused"
	case f.Failed:
		return "failed"
	case f.Never:
		return "moved"
	case f.URL.State == crawl.Refused:
		return "robots"
	case f.First:
		return "new"
	case f.Version != nil:
		return "changed"
	default:
		return "unchanged"
	}
}
