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
	gather    = 80 * time.Millisecond
	together  = 400
	recorders = 2
)

// Recorder has fetches recorded, many in one transaction; it ends with ctx.
func Recorder(ctx context.Context, record func(context.Context, []crawl.Fetched) ([]bool, error)) func(context.Context, crawl.Fetched) (bool, error) {
	return batch.NewWithDelay(ctx, gather, together, recorders, record).Do
}
