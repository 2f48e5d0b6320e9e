package counter_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"dateline/internal/audience/counter"
)

// meter sums up the recorded numbers.
type meter struct {
	hits, failed                int
	quarantined, discarded      int64
	counted, repeated, filtered map[string]int
}

func (m *meter) Batch(_ context.Context, hits int, _ time.Duration, counted, repeated, filtered map[string]int) {
	m.hits += hits
	for into, from := range map[*map[string]int]map[string]int{
		&m.counted: counted, &m.repeated: repeated,
		&m.filtered: filtered,
	} {
		if *into == nil {
			*into = map[string]int{}
		}
		for name, n := range from {
			(*into)[name] += n
		}
	}
}

func (m *meter) BatchFailed(context.Context, time.Duration) { m.failed++ }

func (m *meter) Quarantined(_ context.Context, n int64) { m.quarantined += n }

func (m *meter) QuarantineDiscarded(_ context.Context, n int64) { m.discarded += n }

// The meter records the outcome of every hit; the entries that await a flush can be
// queried until they are taken and dropped.
func TestMeter_RecordsOutcomes(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		var m meter
		clock := newClock()
		c := counter.New(client, counter.Options{Now: clock.Now, Meter: &m})
		site := newSite(t, counter.Set)
		hit := counter.Hit{
			Site: site, Page: "a", Kind: counter.View, Visitor: counter.Visitor{Hash: 7},
			At: clock.Now(),
		}
		click, other := hit, hit
		click.Kind, other.Visitor.Hash = counter.Click, 8
		count(t, c, hit, other, click, hit)
		if err := c.CountFiltered(t.Context(),
			[]counter.FilteredHit{{Site: site, Page: "a", Reason: "crawler", At: clock.Now()}}); err != nil {
			t.Fatal(err)
		}
		require.Equal(t, 5, m.hits)
		require.Equal(t, 0, m.failed)
		require.Equal(t, map[string]int{"view": 2, "click": 1}, m.counted)
		require.Equal(t, map[string]int{"view": 1}, m.repeated)
		require.Equal(t, map[string]int{"crawler": 1}, m.filtered)
		waiting := func() int64 { return must[int64](t)(c.PendingEntries(t.Context())) }
		if waiting() == 0 {
			t.Error("nothing waits for the flush")
		}
		aggregate(t, c) // in a cluster, moves visits to the shards of their pages
		for shard := range c.Shards() {
			if err := c.MarkSeeded(t.Context(), shard); err != nil {
				t.Fatal(err)
			}
			batch := uuid.New()
			if must[bool](t)(c.TakeBatch(t.Context(), shard, batch)) {
				if waiting() == 0 {
					t.Error("a batch that was taken is not in the database yet, and does not wait")
				}
				if err := c.DropBatch(t.Context(), shard, batch); err != nil {
					t.Fatal(err)
				}
			}
		}
		if n := waiting(); n != 0 {
			t.Errorf("%d entries wait behind the flush", n)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.Count(ended, []counter.Hit{hit}); err == nil || m.failed != 1 {
			t.Errorf("a batch that failed: %v, %d", err, m.failed)
		}
	})
}
