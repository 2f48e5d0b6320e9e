package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/seen"
)

// PageRecords is the database as it lists what the crawler keeps.
type PageRecords interface {
	EstimateURLCount(ctx context.Context) (int64, error)
	ListURLKeys(ctx context.Context, after crawl.URLKey, limit int) ([]crawl.URLKey, error)
	ListCrawlDomainIDs(ctx context.Context, after int32, limit int) ([]int32, error)
	DeleteOldVersions(ctx context.Context, domain int32, keep int, age time.Duration, limit int, drop func(ctx context.Context, key string) error) (found, dropped int, err error)
}

// URLFilter is the filter of URLs that were seen.
type URLFilter interface {
	BeginRebuild(ctx context.Context, capacity int64) seen.Rebuild
	AddToRebuild(ctx context.Context, r seen.Rebuild, names []crawl.URLKey) error
	FinishRebuild(ctx context.Context, r seen.Rebuild) error
}

// PageExporter writes archives of what was crawled.
type PageExporter interface {
	Export(ctx context.Context, domain string, from, to time.Time, key string, beat func(pages int)) (pages int, bytes int64, err error)
}

// CrawlMaintenance keeps what the crawler stores in order.
type CrawlMaintenance struct {
	Records      PageRecords
	Filter       URLFilter
	DeleteObject func(ctx context.Context, key string) error // deletes an object
	Exporter     PageExporter
	MaxVersions  int           // versions of a page
	MaxAge       time.Duration // of versions but the newest
}

const (
	filterBatchSize = 5000
	deleteBatchSize = 500
)

// rebuildProgress is how far a rebuild has come; a retry goes on from there.
type rebuildProgress struct {
	Rebuild seen.Rebuild
	After   crawl.URLKey
	URLs    int
}

// RebuildURLFilter makes the filter of seen URLs anew from the database.
func (k *CrawlMaintenance) RebuildURLFilter(ctx context.Context) (urls int, err error) {
	var at rebuildProgress
	if !activity.HasHeartbeatDetails(ctx) || activity.GetHeartbeatDetails(ctx, &at) != nil || at.Rebuild.Chunks == 0 {
		n, err := k.Records.EstimateURLCount(ctx)
		if err != nil {
			return 0, err
		}
		at = rebuildProgress{Rebuild: k.Filter.BeginRebuild(ctx, n)}
	}
	for {
		names, err := k.Records.ListURLKeys(ctx, at.After, filterBatchSize)
		if err != nil {
			return at.URLs, err
		}
		if err := k.Filter.AddToRebuild(ctx, at.Rebuild, names); err != nil {
			return at.URLs, err
		}
		at.URLs += len(names)
		if len(names) < filterBatchSize {
			return at.URLs, k.Filter.FinishRebuild(ctx, at.Rebuild)
		}
		at.After = names[len(names)-1]
		activity.RecordHeartbeat(ctx, at)
	}
}

// DeleteOldPageVersions drops the versions of pages that are too many or too old.
func (k *CrawlMaintenance) DeleteOldPageVersions(ctx context.Context) (dropped int, err error) {
	for after := int32(0); ; {
		ids, err := k.Records.ListCrawlDomainIDs(ctx, after, deleteBatchSize)
		if err != nil || len(ids) == 0 {
			return dropped, err
		}
		for _, id := range ids {
			for {
				found, n, err := k.Records.DeleteOldVersions(ctx, id, k.MaxVersions, k.MaxAge, deleteBatchSize, k.DeleteObject)
				dropped += n
				if err != nil {
					return dropped, err
				}
				activity.RecordHeartbeat(ctx, dropped)
				// What is being fetched right now is left for the next run.
				if found < deleteBatchSize || n == 0 {
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
func (k *CrawlMaintenance) ExportPages(ctx context.Context, in ExportInput) (out ExportResult, err error) {
	out.Pages, out.Bytes, err = k.Exporter.Export(ctx, in.Domain, in.From, in.To, in.Key, func(pages int) { activity.RecordHeartbeat(ctx, pages) })
	return out, err
}
