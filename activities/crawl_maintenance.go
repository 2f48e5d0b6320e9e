package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/seen"
)

// PageRecords lists URLs, domains and page versions in the database.
type PageRecords interface {
	EstimateURLCount(ctx context.Context) (int64, error)
	ListURLKeys(ctx context.Context, after crawl.URLKey, limit int) ([]crawl.URLKey, error)
	ListCrawlDomainIDs(ctx context.Context, after int, limit int) ([]int, error)
	DeleteOldVersions(ctx context.Context, domain int, maxVersions int, maxAge time.Duration, limit int,
		deleteObject func(ctx context.Context, key string) error) (found, deleted int, err error)
}

// URLFilter is the filter of known URLs.
type URLFilter interface {
	BeginRebuild(ctx context.Context, capacity int64) seen.Rebuild
	AddToRebuild(ctx context.Context, r seen.Rebuild, names []crawl.URLKey) error
	FinishRebuild(ctx context.Context, r seen.Rebuild) error
}

// PageExporter writes WARC files.
type PageExporter interface {
	Export(ctx context.Context, domain string, from, to time.Time, key string, heartbeat func(pages int)) (pages int,
		bytes int64, err error)
}

// CrawlMaintenance contains the activities that maintain the crawler's storage.
type CrawlMaintenance struct {
	Records      PageRecords
	Filter       URLFilter
	DeleteObject func(ctx context.Context, key string) error // deletes an object
	Exporter     PageExporter
	MaxVersions  int           // versions stored per page
	MaxAge       time.Duration // of versions, except for the newest
}

const (
	filterBatchSize = 5000
	deleteBatchSize = 500
)

// rebuildProgress is how far a rebuild got; a retry continues from it.
type rebuildProgress struct {
	Rebuild seen.Rebuild
	After   crawl.URLKey
	URLs    int
}

// RebuildURLFilter rebuilds the filter of known URLs from the database.
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

// DeleteOldPageVersions deletes versions of pages beyond MaxVersions or MaxAge.
func (k *CrawlMaintenance) DeleteOldPageVersions(ctx context.Context) (deleted int, err error) {
	for after := int(0); ; {
		ids, err := k.Records.ListCrawlDomainIDs(ctx, after, deleteBatchSize)
		if err != nil || len(ids) == 0 {
			return deleted, err
		}
		for _, id := range ids {
			for {
				found, n, err := k.Records.DeleteOldVersions(ctx, id, k.MaxVersions, k.MaxAge, deleteBatchSize,
					k.DeleteObject)
				deleted += n
				if err != nil {
					return deleted, err
				}
				activity.RecordHeartbeat(ctx, deleted)
				// Leased URLs are left for the next run.
				if found < deleteBatchSize || n == 0 {
					break
				}
			}
		}
		after = ids[len(ids)-1]
	}
}

// ExportInput is the input of ExportPages.
type ExportInput struct {
	Domain   string
	From, To time.Time
	Key      string
}

// ExportResult counts what was exported.
type ExportResult struct {
	Pages int
	Bytes int64
}

// ExportPages writes a WARC file of a domain into the object store.
func (k *CrawlMaintenance) ExportPages(ctx context.Context, in ExportInput) (out ExportResult, err error) {
	out.Pages, out.Bytes, err = k.Exporter.Export(ctx, in.Domain, in.From, in.To, in.Key, func(pages int) {
		activity.RecordHeartbeat(ctx, pages)
	})
	return out, err
}
