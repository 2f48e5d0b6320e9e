package counter_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/testing/enginetest"
)

func TestBatcher_KilledRedisLosesNoAcknowledgedView(t *testing.T) {
	t.Parallel()
	for _, fsync := range []string{"everysec", "always"} {
		t.Run(fsync, func(t *testing.T) {
			t.Parallel()
			server := enginetest.NewDurableRedis(t, fsync)
			client := enginetest.RedisClient(t, server.URL)
			c := counter.New(client, counter.Options{})
			markSeeded(t, c)
			b := counter.NewBatcher(c)
			defer b.Close()
			site := newSite(t, counter.Set)
			var sent, answered atomic.Int64
			readers(t, 40, func(reader int) {
				for n := range 300 {
					h := counter.Hit{
						Site: site, Page: fmt.Sprint("p", n%10), Kind: counter.View,
						Visitor: counter.Visitor{Hash: uint64(reader*1000 + n)}, At: time.Now(),
					}
					sent.Add(1)
					for { // resent until it is acknowledged
						if _, err := b.Count(t.Context(), h); err == nil {
							break
						}
						time.Sleep(5 * time.Millisecond)
					}
					answered.Add(1)
				}
			}, func() {
				for range 3 {
					before := answered.Load()
					for answered.Load() < before+2000 && answered.Load() < 12_000 {
						_ = c.Aggregate(context.Background()) // fails while Redis is down
						time.Sleep(time.Millisecond)
					}
					server.Kill()
					server.Start()
				}
			})
			aggregate(t, c)
			var total, hours, delta int64
			for n := range 10 {
				s := must[counter.Stats](t)(c.Stats(t.Context(), site, fmt.Sprint("p", n)))
				total += s.Views
				for _, hour := range must[[]counter.Bucket](t)(c.Series(t.Context(), site, fmt.Sprint("p", n),
					counter.View, counter.ByHour, 2)) {
					hours += hour.Count
				}
				if s.Views != s.Uniques.AllTime {
					t.Errorf("page %d has %d views of %d visitors, want the same", n, s.Views, s.Uniques.AllTime)
				}
			}
			for _, d := range takeAll(t, c) {
				for _, h := range d.Hours {
					delta += h.Count
				}
			}
			if total != sent.Load() || hours != total || delta != total {
				t.Errorf("%d views were acknowledged; the totals have %d, the hours %d, the flush gets %d", sent.Load(),
					total, hours, delta)
			}
		})
	}
}

// A part of a script that a crash cut off stays in the append-only file until it is
// rewritten.
func TestRun_RewritesTheAppendOnlyFileOnceAfterAStart(t *testing.T) {
	t.Parallel()
	server := enginetest.NewDurableRedis(t, "everysec")
	client := enginetest.RedisClient(t, server.URL)
	c := counter.New(client, counter.Options{})
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { c.Run(ctx, func(err error) { t.Error(err) }) })
		rewrites := func() string {
			return must[map[string]map[string]string](t)(client.InfoMap(t.Context(),
				"persistence").Result())["Persistence"]["aof_last_rewrite_time_sec"]
		}
		for deadline := time.Now().Add(30 * time.Second); rewrites() == "-1"; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the append-only file was not rewritten")
			}
		}
		cancel()
		running.Wait()
		server.Kill()
		server.Start()
	}
}

// readers runs readers concurrently with a fault.
func readers(t *testing.T, n int, read func(int), happens func()) {
	t.Helper()
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() { read(i) })
	}
	wait.Go(happens)
	wait.Wait()
}

// markSeeded marks all shards as seeded.
func markSeeded(t testing.TB, c *counter.Counter) {
	t.Helper()
	for shard := range c.Shards() {
		if err := c.MarkSeeded(context.Background(), shard); err != nil {
			t.Fatal(err)
		}
	}
}

// takeAll takes and reads a batch of every shard, and drops it.
func takeAll(t testing.TB, c *counter.Counter) []counter.Delta {
	t.Helper()
	var all []counter.Delta
	for shard := range c.Shards() {
		batch := uuid.New()
		if !must[bool](t)(c.TakeBatch(context.Background(), shard, batch)) {
			continue
		}
		all = append(all, must[counter.Batch](t)(c.ReadBatch(context.Background(), shard, batch)).Deltas...)
		if err := c.DropBatch(context.Background(), shard, batch); err != nil {
			t.Fatal(err)
		}
	}
	return withoutVisits(all)
}

func TestCount_ReloadsScripts(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		clock := newClock()
		c := counter.New(client, counter.Options{Now: clock.Now})
		site := newSite(t, counter.HyperLogLog)
		var want int64
		for range 3 {
			var hits []counter.Hit
			for n := range 250 { // several calls, even without a cluster
				hits = append(hits, counter.Hit{
					Site: site, Page: fmt.Sprint(n % 40), Kind: counter.View,
					Visitor: counter.Visitor{Hash: uint64(want) + uint64(n)}, At: clock.Now(),
				})
			}
			want += 250
			for i, outcome := range count(t, c, hits...) {
				if !outcome.Counted {
					t.Fatalf("hit %d was not counted", i)
				}
			}
			aggregate(t, c)
			flushScripts(t, client)
		}
		var got int64
		for n := range 40 {
			got += must[counter.Stats](t)(c.Stats(t.Context(), site, fmt.Sprint(n))).Views
		}
		if got != want {
			t.Errorf("%d views, want %d", got, want)
		}
	})
}

func flushScripts(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	var err error
	if cluster, ok := client.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
			return node.ScriptFlush(ctx).Err()
		})
	} else {
		err = client.ScriptFlush(t.Context()).Err()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// dropped loses the response to a call once, like a broken connection.
type dropped struct{ lose atomic.Bool }

func (d *dropped) DialHook(next redis.DialHook) redis.DialHook { return next }

func (d *dropped) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if err == nil && d.lose.CompareAndSwap(true, false) {
			return next(ctx, cmd) // go-redis resends commands without a response
		}
		return err
	}
}

func (d *dropped) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestCount_ResentCallsCountOnce(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	lost := &dropped{}
	client.AddHook(lost)
	c := counter.New(client, counter.Options{})
	site := newSite(t, counter.Set)
	site.Window = 0 // each hit counts
	hit := counter.Hit{Site: site, Page: "a", Kind: counter.View, Visitor: counter.Visitor{Hash: 1}, At: time.Now()}
	count(t, c, hit)
	lost.lose.Store(true)
	if got := count(t, c, hit)[0]; !got.Counted || got.Total != 2 {
		t.Errorf("a call that was sent twice: got %+v, want the second view", got)
	}
	lost.lose.Store(true)
	if err := c.CountFiltered(t.Context(),
		[]counter.FilteredHit{{Site: site, Page: "a", Reason: "bot", At: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	aggregate(t, c)
	if got := filteredOf(t, c, site, "a"); got["bot"] != 1 {
		t.Errorf("filtered: %v, want one bot", got)
	}
}

func TestBatcher_RedisUnavailable(t *testing.T) {
	t.Parallel()
	url, stop := enginetest.StoppableRedis(t)
	b := counter.NewBatcher(counter.New(enginetest.RedisClient(t, url), counter.Options{}))
	hit := counter.Hit{
		Site: newSite(t, counter.Set), Page: "a", Kind: counter.View, Visitor: counter.Visitor{Hash: 1},
		At: time.Now(),
	}
	if _, err := b.Count(t.Context(), hit); err != nil {
		t.Fatal(err)
	}
	stop()
	if _, err := b.Count(t.Context(), hit); err == nil {
		t.Error("a hit that is not in Redis was acknowledged")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Count(ctx, hit); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled caller: got %v", err)
	}
	b.Close()
	if _, err := b.Count(t.Context(), hit); !errors.Is(err, counter.ErrClosed) {
		t.Errorf("after closing: got %v, want ErrClosed", err)
	}
}

func TestBatcher_CloseDrainsQueue(t *testing.T) {
	t.Parallel()
	c := counter.New(enginetest.RedisClient(t, enginetest.Redis(t)), counter.Options{})
	b := counter.NewBatcher(c)
	site := newSite(t, counter.Set)
	var answered, refused atomic.Int64
	readers(t, 200, func(reader int) {
		for n := range 50 {
			_, err := b.Count(context.Background(), counter.Hit{
				Site: site, Page: "a", Kind: counter.View, Visitor: counter.Visitor{Hash: uint64(reader*100 + n)},
				At: time.Now(),
			})
			switch {
			case err == nil:
				answered.Add(1)
			case errors.Is(err, counter.ErrClosed):
				refused.Add(1)
			default:
				t.Error(err)
			}
		}
	}, func() {
		for answered.Load() < 1000 {
			time.Sleep(time.Millisecond)
		}
		b.Close()
	})
	if got := must[counter.Stats](t)(c.Stats(t.Context(), site, "a")).Views; got != answered.Load() ||
		answered.Load()+refused.Load() != 10_000 {
		t.Errorf("got %d views in Redis, %d acknowledged and %d rejected, want equal numbers that add up to 10000", got,
			answered.Load(), refused.Load())
	}
}
