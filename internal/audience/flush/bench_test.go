package flush_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/storage/postgres/audience"
	"dateline/internal/testing/enginetest"
)

// BenchmarkFlush flushes 100,000 existing posts with a view each, like a minute of a
// large site, without the wait for the append-only file (AOFSyncDelay).
func BenchmarkFlush(b *testing.B) {
	const pages = 100_000
	r := open(b, enginetest.Redis(b))
	r.counter = counter.New(r.redis, counter.Options{})
	var readTime, writeTime atomic.Int64
	r.Counter, r.Store = timedCounter{r.counter, &readTime}, timedStore{r.store.Audience.Views, &writeTime}
	names := make([]string, pages)
	for i := range names {
		names[i] = uuid.Must(uuid.NewV7()).String()
	}
	count := func() {
		for from := 0; from < pages; from += 1000 {
			hits := make([]counter.Hit, 1000)
			for i := range hits {
				hits[i] = counter.Hit{
					Site: r.site, Page: names[from+i], Kind: counter.View, Visitor: counter.Visitor{
						Hash: r.visitors.Add(1) * 0x9e3779b97f4a7c15,
					},
					At: time.Now(), Country: "VN", Device: "mobile", Referrer: "facebook.com",
				}
			}
			_, err := r.counter.Count(b.Context(), hits)
			r.must(err)
		}
		r.must(r.counter.Aggregate(b.Context()))
	}
	count()
	r.flush() // all rows are new
	readTime.Store(0)
	writeTime.Store(0)
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		count()
		b.StartTimer()
		if done := r.flush(); done.Pages != pages {
			b.Fatalf("%+v", done)
		}
	}
	b.ReportMetric(time.Duration(readTime.Load()).Seconds()/float64(b.N), "s-reading/op")
	b.ReportMetric(time.Duration(writeTime.Load()).Seconds()/float64(b.N), "s-writing/op")
}

// timedCounter measures how long reading batches takes, summed over concurrent ones.
type timedCounter struct {
	*counter.Counter
	took *atomic.Int64
}

func (c timedCounter) ReadBatch(ctx context.Context, shard int, batch uuid.UUID) (counter.Batch, error) {
	start := time.Now()
	defer func() { c.took.Add(int64(time.Since(start))) }()
	return c.Counter.ReadBatch(ctx, shard, batch)
}

// timedStore measures how long writing them takes.
type timedStore struct {
	*audience.ViewStore
	took *atomic.Int64
}

func (s timedStore) ApplyViewBatch(
	ctx context.Context, shard int, batch uuid.UUID, deltas counter.Batch,
) (bool, error) {
	start := time.Now()
	defer func() { s.took.Add(int64(time.Since(start))) }()
	return s.ViewStore.ApplyViewBatch(ctx, shard, batch, deltas)
}
