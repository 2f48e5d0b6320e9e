package crawler

import (
	"context"
	"time"

	"dateline/internal/infra/batch"
	"dateline/internal/news/crawl"
)

// Of how fetches are recorded: what a statement costs over 32 partitions is worth
// waiting for others, and nobody waits for the record of a page.
const (
	recordDelay     = 80 * time.Millisecond
	recordBatchSize = 400
	recorderCount   = 2
)

// NewRecorder has fetches recorded, many in one transaction; it ends with ctx.
func NewRecorder(ctx context.Context, record func(context.Context, []crawl.FetchRecord) ([]bool, error)) func(context.Context, crawl.FetchRecord) (bool, error) {
	return batch.Lingering(ctx, recordDelay, recordBatchSize, recorderCount, record).Do
}
