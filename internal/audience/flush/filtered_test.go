package flush_test

import (
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/testing/enginetest"
)

// refuse counts hits that the filter refused.
func (r *fixture) filter(page, reason string, n int) {
	r.t.Helper()
	hits := make([]counter.FilteredHit, n)
	for i := range hits {
		hits[i] = counter.FilteredHit{Site: r.site, Page: page, Reason: reason, At: time.Now()}
	}
	r.must(r.counter.CountFiltered(r.t.Context(), hits))
}

func (r *fixture) wantFiltered(when, page string, want map[string]int64) {
	r.t.Helper()
	got, err := flush.FilteredReader{Counter: r.counter, Store: r.store.Audience.Views}.FilteredCounts(r.t.Context(), r.site.ID, page)
	r.must(err)
	if !maps.Equal(got, want) {
		r.t.Errorf("%s: got %v, want %v", when, got, want)
	}
}

func (r *fixture) aggregate() {
	r.t.Helper()
	r.must(r.counter.Aggregate(r.t.Context()))
}

func TestFiltered_SurvivesALossOfRedis(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.flush()
	r.filter("post", "crawler", 7)
	r.filter("post", "rate", 2)
	r.filter("another", "crawler", 1)
	r.wantFiltered("before anything is aggregated", "post", map[string]int64{})
	r.aggregate()
	r.wantFiltered("in Redis alone", "post", map[string]int64{"crawler": 7, "rate": 2})
	r.flush()
	r.wantFiltered("in the database alone", "post", map[string]int64{"crawler": 7, "rate": 2})
	r.filter("post", "crawler", 3)
	r.aggregate()
	r.wantFiltered("in both", "post", map[string]int64{"crawler": 10, "rate": 2})
	r.flush()
	r.must(r.redis.FlushAll(t.Context()).Err())
	r.wantFiltered("after the loss", "post", map[string]int64{"crawler": 10, "rate": 2})
	r.flush() // restores Redis
	r.filter("post", "opt_out", 1)
	r.aggregate()
	r.wantFiltered("after that", "post", map[string]int64{"crawler": 10, "rate": 2, "opt_out": 1})
	r.wantFiltered("of another page", "another", map[string]int64{"crawler": 1})
	r.wantFiltered("of an unknown page", "none", map[string]int64{})
}

// A crashed flush leaves a batch that is taken, or applied and not dropped.
func TestFiltered_IsExactWhereverAFlushDies(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.flush()
	r.filter("post", "crawler", 5)
	shard, batch := r.counter.Shard(r.site.ID, "post"), uuid.Must(uuid.NewV7())
	took, err := r.counter.TakeBatch(t.Context(), shard, batch)
	if r.must(err); !took {
		t.Fatal("nothing was taken")
	}
	r.filter("post", "crawler", 2)
	r.aggregate()
	want := map[string]int64{"crawler": 7}
	r.wantFiltered("after the batch was taken", "post", want)
	read, err := r.counter.ReadBatch(t.Context(), shard, batch)
	r.must(err)
	_, err = r.store.Audience.Views.ApplyViewBatch(t.Context(), shard, batch, read)
	r.must(err)
	r.wantFiltered("after it was applied", "post", want)
	r.must(r.counter.DropBatch(t.Context(), shard, batch))
	r.wantFiltered("after it was dropped", "post", want)
	r.flush()
	r.wantFiltered("after the next flush", "post", want)
	if keys, err := r.redis.Keys(t.Context(), "*filtered*").Result(); err != nil || len(keys) != 0 {
		t.Errorf("Redis still has %v (%v)", keys, err)
	}
}

// During flushes the filtered count only grows, by the counted hits.
func TestFiltered_NeverDecreasesDuringFlushes(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.flush()
	var counted atomic.Int64
	stop := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		defer close(stop)
		for range 40 {
			r.filter("post", "crawler", 3)
			counted.Add(3)
			if err := r.counter.Aggregate(t.Context()); err != nil {
				t.Error(err)
			}
			if _, err := r.Flush(t.Context(), func() {}); err != nil {
				t.Error(err)
			}
		}
	})
	filtered, last := flush.FilteredReader{Counter: r.counter, Store: r.store.Audience.Views}, int64(0)
	for done := false; !done; {
		select {
		case <-stop:
			done = true
		default:
		}
		got, err := filtered.FilteredCounts(t.Context(), r.site.ID, "post")
		if err != nil {
			t.Fatal(err)
		}
		// The writer increments its own number after Redis has the hit.
		if n := got["crawler"]; n < last || n > counted.Load()+3 {
			t.Fatalf("got %d after %d; at most %d were counted", n, last, counted.Load()+3)
		}
		last = got["crawler"]
	}
	all.Wait()
	if last != counted.Load() {
		t.Errorf("got %d in the end, want %d", last, counted.Load())
	}
}
