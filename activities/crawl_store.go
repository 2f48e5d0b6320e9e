package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/seen"
)

// CrawlRows is the database as it lists what the crawler keeps.
type CrawlRows interface {
	CountURLs(ctx context.Context) (int64, error)
	URLsAfter(ctx context.Context, after crawl.Name, limit int) ([]crawl.Name, error)
	CrawlDomainIDs(ctx context.Context, after int32, limit int) ([]int32, error)
	SweepVersions(ctx context.Context, domain int32, keep int, age time.Duration, limit int, drop func(ctx context.Context, key string) error) (found, dropped int, err error)
}

// CrawlFilter is the filter of URLs that were seen.
type CrawlFilter interface {
	Begin(ctx context.Context, capacity int64) seen.Rebuild
	Fill(ctx context.Context, r seen.Rebuild, names []crawl.Name) error
	Finish(ctx context.Context, r seen.Rebuild) error
}

// PageExporter writes archives of what was crawled.
type PageExporter interface {
	Export(ctx context.Context, domain string, from, to time.Time, key string, beat func(pages int)) (pages int, bytes int64, err error)
}

// CrawlKeeper keeps what the crawler stores in order.
type CrawlKeeper struct {
	Rows   CrawlRows
	Filter CrawlFilter
	Drop   func(ctx context.Context, key string) error // deletes an object
	Export PageExporter
	Keep   int           // versions of a page
	Age    time.Duration // of versions but the newest
}

const (
	seenBatch  = 5000
	sweepBatch = 500
)

// seenProgress is how far a rebuild has come; a retry goes on from there.
type seenProgress struct {
	Rebuild seen.Rebuild
	After   crawl.Name
	URLs    int
}

// RebuildSeen makes the filter of seen URLs anew from the database.
func (k *CrawlKeeper) RebuildSeen(ctx context.Context) (urls int, err error) {
	var at seenProgress
	if !activity.HasHeartbeatDetails(ctx) || activity.GetHeartbeatDetails(ctx, &at) != nil || at.Rebuild.Chunks == 0 {
		n, err := k.Rows.CountURLs(ctx)
		if err != nil {
			return 0, err
		}
		at = seenProgress{Rebuild: k.Filter.Begin(ctx, n)}
	}
	for {
		names, err := k.Rows.URLsAfter(ctx, at.After, seenBatch)
		if err != nil {
			return at.URLs, err
		}
		if err := k.Filter.Fill(ctx, at.Rebuild, names); err != nil {
			return at.URLs, err
		}
		at.URLs += len(names)
		if len(names) < seenBatch {
			return at.URLs, k.Filter.Finish(ctx, at.Rebuild)
		}
		at.After = names[len(names)-1]
		activity.RecordHeartbeat(ctx, at)
	}
}

// SweepPages drops the versions of pages that are too many or too old.
func (k *CrawlKeeper) SweepPages(ctx context.Context) (dropped int, err error) {
	for after := int32(0); ; {
		ids, err := k.Rows.CrawlDomainIDs(ctx, after, sweepBatch)
		if err != nil || len(ids) == 0 {
			return dropped, err
		}
		for _, id := range ids {
			for {
				found, n, err := k.Rows.SweepVersions(ctx, id, k.Keep, k.Age, sweepBatch, k.Drop)
				dropped += n
				if err != nil {
					return dropped, err
				}
				activity.RecordHeartbeat(ctx, dropped)
				// What is being fetched right now is left for the next run.
				if found < sweepBatch || n == 0 {
					break
				}
			}
		}
		after = ids[len(ids)-1]
	}
}

// ExportInput says what to export, and where to in the object store.
type ExportInput struct {
	Domain   string
	From, To time.Time
	Key      string
}

// ExportResult says what was exported.
type ExportResult struct {
	Pages int
	Bytes int64
}

// ExportPages writes an archive of a domain into the object store.
func (k *CrawlKeeper) ExportPages(ctx context.Context, in ExportInput) (out ExportResult, err error) {
	out.Pages, out.Bytes, err = k.Export.Export(ctx, in.Domain, in.From, in.To, in.Key, func(pages int) { activity.RecordHeartbeat(ctx, pages) })
	return out, err
}
