package flush_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/testing/enginetest"
)

func TestFlush_WritesEverythingOnce(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.viewPages(20, 5) // before any flush
	r.expectConsistent("at first")
	if done := r.flush(); done.Batches != 0 || done.AlreadyApplied != 0 || done.Seeded != 0 {
		t.Errorf("nothing was new: %+v", done)
	}
	r.viewPages(3, 2)
	if done := r.flush(); done.Pages != 3 {
		t.Errorf("three pages were read: %+v", done)
	}
	r.expectConsistent("again")
	if n := r.number("select count(*) from view_losses"); n != 0 {
		t.Errorf("a new installation reports %d losses", n)
	}
}

func TestFlush_BatchesOutOfOrder(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.flush()
	var taken []uuid.UUID
	for range 3 {
		r.viewPages(30, 4) // on both shards
		for shard := range shards {
			batch := uuid.Must(uuid.NewV7())
			_, err := r.counter.TakeBatch(t.Context(), shard, batch)
			r.must(err)
			taken = append(taken, batch)
		}
	}
	// The last one is applied first, and not dropped.
	last := len(taken) - 1
	deltas, err := r.counter.ReadBatch(t.Context(), last%shards, taken[last])
	r.must(err)
	applied, err := r.store.Audience.Views.ApplyViewBatch(t.Context(), last%shards, taken[last], deltas)
	if r.must(err); !applied {
		t.Error("it was not applied")
	}
	if done := r.flush(); done.AlreadyApplied != 1 || done.Batches < shards {
		t.Errorf("%+v", done)
	}
	r.expectConsistent("in the end")
}

func TestFlush_ConcurrentFlushes(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.flush()
	for range 10 {
		r.viewPages(10, 1)
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if _, err := r.Flush(t.Context(), func() {}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	r.expectConsistent("in the end")
}

// wiped is a Redis that restarted empty after a flush.
func wiped(t *testing.T) *fixture {
	r := open(t, enginetest.Redis(t))
	r.viewPages(10, 100)
	r.expectConsistent("before")
	_, err := r.Maintain(t.Context(), func() {})
	r.must(err)
	r.must(r.redis.FlushAll(t.Context()).Err())
	return r
}

func TestFlush_SeedsAfterLoss(t *testing.T) {
	r := wiped(t)
	r.viewPages(12, 7) // views before the loss is detected; two pages are new
	if done := r.flush(); done.Seeded != 10 {
		t.Errorf("%+v", done)
	}
	r.expectConsistent("after the loss")
	s := r.shown("post 3")
	if s.Uniques.AllTime < 103+10-3 || s.Uniques.AllTime > 103+10+3 {
		t.Errorf("%d different visitors of 113", s.Uniques.AllTime)
	}
	series, err := r.counter.Series(t.Context(), r.site, "post 3", counter.View, counter.ByDay, 3)
	r.must(err)
	var days int64
	for _, b := range series {
		days += b.Count
	}
	if days != r.want["post 3"] {
		t.Errorf("the days have %d views of %d", days, r.want["post 3"])
	}
	h, err := r.store.Audience.Views.ViewsHealth(t.Context())
	r.must(err)
	if h.Loss == nil || h.Loss.Pages != 10 || time.Since(h.Loss.FoundAt) > time.Minute {
		t.Errorf("loss: got %+v, want one of 10 pages just now", h.Loss)
	}
	if h.Check == nil || h.Check.Differing != 0 {
		t.Errorf("check: got %+v, want one without differences", h.Check)
	}
	r.viewPages(12, 1)
	r.expectConsistent("and then")
}

// If Redis loses its data, only hits since the last flush are lost.
func TestFlush_LossCostsOnlyUnflushedHits(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.viewPages(10, 100)
	r.flush()
	retained := map[string]int64{}
	for page, n := range r.want {
		retained[page] = n
	}
	r.viewPages(10, 5)
	r.must(r.redis.FlushAll(t.Context()).Err())
	r.want = retained
	r.expectConsistent("after the loss")
}

func TestFlush_KilledRedisLosesNothing(t *testing.T) {
	server := enginetest.NewDurableRedis(t, "always")
	r := open(t, server.URL)
	restart := func() {
		t.Helper()
		server.Start()
		for r.redis.Ping(t.Context()).Err() != nil { // after repeated failures a client waits a moment
			time.Sleep(20 * time.Millisecond)
		}
	}
	r.viewPages(10, 10)
	r.flush()
	for range 3 {
		r.viewPages(10, 3)
		batch := uuid.Must(uuid.NewV7())
		_, err := r.counter.TakeBatch(t.Context(), 0, batch) // one is in progress
		r.must(err)
		server.Kill()
		if _, err := r.Flush(t.Context(), func() {}); err == nil {
			t.Error("a flush without Redis succeeded")
		}
		restart()
	}
	r.expectConsistent("after three crashes")
	if n := r.number("select count(*) from view_losses"); n != 0 {
		t.Errorf("%d losses were recorded", n)
	}
	server.Kill()
	server.Wipe()
	restart()
	r.viewPages(10, 1)
	r.expectConsistent("after its file was lost, too")
}

func TestCheck_ReportsDifferences(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.viewPages(6, 10)
	r.expectConsistent("at first")
	// Both stores are modified.
	key := func(page string) string {
		t.Helper()
		for keys := r.redis.Scan(t.Context(), 0, "*:"+page+":t", 1000).Iterator(); keys.Next(t.Context()); {
			return keys.Val()
		}
		t.Fatal("the page has no key")
		return ""
	}
	r.must(r.redis.HIncrBy(t.Context(), key("post 2"), "v", 5).Err())
	r.must(r.redis.HIncrBy(t.Context(), key("post 4"), "v", -3).Err())
	r.must(r.redis.Del(t.Context(), key("post 5")).Err())
	r.view("post 1", 4) // pending, which is no difference
	c, done, err := r.Check(t.Context(), func() {})
	r.must(err)
	if got, want := fmt.Sprint(done, c.Compared, c.Differing, c.Surplus, c.Missing, len(c.Examples)), fmt.Sprint(true,
		18, 3, 5, 3+15, 3); got != want {
		t.Errorf("done, compared, differing, surplus, missing, examples: got %s, want %s", got, want)
	}
	if _, again, err := r.CheckIfDue(t.Context(), func() {}); again || err != nil {
		t.Errorf("it was compared again immediately: %v", err)
	}
	h, err := r.store.Audience.Views.ViewsHealth(t.Context())
	if r.must(err); h.Check == nil || h.Check.Surplus != 5 || fmt.Sprint(h.Check.Examples) != fmt.Sprint(c.Examples) {
		t.Errorf("%+v", h.Check)
	}
}

// Views during the comparison are no differences.
func TestCheck_ConcurrentWithCounting(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.viewPages(6, 10)
	r.flush()
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				r.viewPages(6, 1)
			}
		}
	}()
	for range 10 {
		if c, _, err := r.Check(t.Context(), func() {}); err != nil || c.Differing != 0 {
			t.Errorf("%+v %v", c, err)
		}
	}
	close(stop)
	<-ended
	r.expectConsistent("in the end")
}

func TestFlush_Cluster(t *testing.T) {
	client := enginetest.RedisCluster(t)
	r := open(t, enginetest.Redis(t))
	r.counter = counter.New(client, counter.Options{})
	r.Counter = r.counter
	r.viewPages(40, 5)
	r.expectConsistent("at first")
	r.must(client.ForEachMaster(t.Context(), func(ctx context.Context, c *redis.Client) error {
		return c.FlushAll(ctx).Err()
	}))
	r.viewPages(40, 2)
	r.expectConsistent("after it was wiped")
}
