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

func view(site counter.Site, page string, visitor uint64, at time.Time) counter.Hit {
	return counter.Hit{Site: site, Page: page, Kind: counter.View, Visitor: counter.Visitor{Hash: visitor}, At: at}
}

func TestTakeBatch_ContainsEachHitOnce(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		ctx := t.Context()
		clock := newClock()
		c := counter.New(client, counter.Options{Now: clock.Now})
		site := newSite(t, counter.Set)
		shard, batch := c.Shard(site.ID, "a"), uuid.New()
		first := view(site, "a", 1, clock.Now())
		first.Country, first.Device, first.Referrer = "VN", "mobile", "facebook.com"
		click := view(site, "a", 1, clock.Now())
		click.Kind = counter.Click
		count(t, c, first, first, click)
		if err := c.CountFiltered(ctx,
			[]counter.FilteredHit{{Site: site, Page: "a", Reason: "bot", At: clock.Now()}}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.TakeBatch(ctx, shard, batch); !errors.Is(err, counter.ErrLost) {
			t.Fatalf("a batch was taken from a shard that was not seeded: %v", err)
		}
		markSeeded(t, c)
		for range 2 { // the second is the retry of an activity
			if !must[bool](t)(c.TakeBatch(ctx, shard, batch)) {
				t.Fatal("nothing was taken")
			}
		}
		count(t, c, view(site, "a", 2, clock.Now()))
		got := withoutVisits(must[counter.Batch](t)(c.ReadBatch(ctx, shard, batch)).Deltas)
		day := counter.Day(monday().Unix() / 86400)
		want := []counter.Delta{{
			PageID: counter.PageID{Site: site.ID, Page: "a"}, UniqueMethod: counter.Set,
			Hours: []counter.HourDelta{
				{Kind: counter.View, Hour: monday(), Day: day, Count: 1}, {
					Kind: counter.Click, Hour: monday(), Day: day, Count: 1,
				},
			},
			Funnel: []counter.HourDelta{
				{Kind: counter.View, Hour: monday(), Day: day, Count: 1}, {
					Kind: counter.Click, Hour: monday(), Day: day, Count: 1,
				},
			},
			Dimensions: []counter.DimensionDelta{
				{Day: day, Dimension: "country", Value: "VN", Count: 1},
				{Day: day, Dimension: "device", Value: "mobile", Count: 1},
				{
					Day: day, Dimension: "referrer", Value: "facebook.com", Count: 1,
				},
			},
			Filtered: []counter.FilteredDelta{{Day: day, Reason: "bot", Count: 1}},
			Uniques:  []counter.DayUniques{{Day: day, Uniques: 2, WeekToDate: 2}}, AllTime: 2,
		}}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("the batch is\n%+v, want\n%+v", got, want)
		}
		second := uuid.New()
		if !must[bool](t)(c.TakeBatch(ctx, shard, second)) {
			t.Fatal("the next batch has nothing")
		}
		if left := must[[]uuid.UUID](t)(c.Batches(ctx, shard)); len(left) != 2 || left[0] != batch ||
			left[1] != second {
			t.Errorf("batches %v, want %v", left, []uuid.UUID{batch, second})
		}
		for range 2 {
			if err := c.DropBatch(ctx, shard, batch); err != nil {
				t.Fatal(err)
			}
		}
		count(t, c, view(site, "a", 3, clock.Now()))
		if must[bool](t)(c.TakeBatch(ctx, shard, batch)) {
			t.Error("a batch that was dropped was taken again, under an id that the ledger has")
		}
		if got := must[counter.Batch](t)(c.ReadBatch(ctx, shard, batch)).Deltas; len(got) != 0 {
			t.Errorf("a batch that was dropped has %v", got)
		}
		if left := must[[]uuid.UUID](t)(c.Batches(ctx, shard)); len(left) != 1 {
			t.Errorf("batches %v, want one", left)
		}
		if s := must[counter.Stats](t)(c.Stats(ctx, site, "a")); s.Views != 3 {
			t.Errorf("%d views after flushes, want 3: a flush takes nothing from totals", s.Views)
		}
	})
}

// With two concurrent aggregations and a flush, the batches add up to the totals.
func TestTakeBatch_ConcurrentWithCounting(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	c, other := counter.New(client, counter.Options{Shards: 2}), counter.New(client, counter.Options{Shards: 2})
	markSeeded(t, c)
	b := counter.NewBatcher(c)
	defer b.Close()
	site := newSite(t, counter.HyperLogLog)
	ctx, cancel := context.WithCancel(t.Context())
	var beside sync.WaitGroup
	for _, c := range []*counter.Counter{c, other} {
		beside.Go(func() {
			for ctx.Err() == nil {
				if err := c.Aggregate(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var flushed atomic.Int64
	take := func() {
		for _, d := range takeAll(t, other) {
			for _, h := range d.Hours {
				flushed.Add(h.Count)
			}
		}
	}
	beside.Go(func() {
		for ctx.Err() == nil {
			take()
		}
	})
	const n = 20_000
	readers(t, 50, func(reader int) {
		for i := range n / 50 {
			if _, err := b.Count(context.Background(),
				view(site, fmt.Sprint(i%30), uint64(reader*n+i), time.Now())); err != nil {
				t.Error(err)
			}
		}
	}, func() {})
	cancel()
	beside.Wait()
	aggregate(t, c)
	take()
	var total, hours int64
	for page := range 30 {
		total += must[counter.Stats](t)(c.Stats(t.Context(), site, fmt.Sprint(page))).Views
		for _, hour := range must[[]counter.Bucket](t)(c.Series(t.Context(), site, fmt.Sprint(page), counter.View,
			counter.ByHour, 2)) {
			hours += hour.Count
		}
	}
	if total != n || hours != n || flushed.Load() != n {
		t.Errorf("%d views; the totals have %d, the hours %d, the batches %d", n, total, hours, flushed.Load())
	}
}

// While Postgres is unavailable, deltas are compacted.
func TestAggregate_CompactsDeltas(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	clock := newClock()
	c := counter.New(client, counter.Options{Now: clock.Now, Shards: 1})
	markSeeded(t, c)
	site := newSite(t, counter.Set)
	for n := range 250 {
		count(t, c, view(site, "a", uint64(n), clock.Now()))
		clock.add(time.Minute)
		aggregate(t, c)
	}
	if n := must[int64](t)(client.LLen(t.Context(), "{v00}deltas").Result()); n > 110 {
		t.Errorf("%d deltas wait for the flush", n)
	}
	var got int64
	for _, d := range takeAll(t, c) {
		for _, h := range d.Hours {
			got += h.Count
		}
	}
	if got != 250 {
		t.Errorf("the batch has %d views, want 250", got)
	}
}

func TestSeed_RestoresTotals(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		ctx := t.Context()
		clock := newClock()
		c := counter.New(client, counter.Options{Now: clock.Now})
		for _, w := range []counter.UniqueMethod{counter.Set, counter.SetPerDay, counter.HyperLogLog, counter.Bitmap} {
			site := newSite(t, w)
			visitor := func(n int, page string) counter.Hit {
				h := view(site, page, uint64(n)*0x9e3779b97f4a7c15, clock.Now())
				h.Visitor.ID = uint32(n)
				return h
			}
			markSeeded(t, c)
			for n := range 100 {
				count(t, c, visitor(n+1, "a"))
			}
			aggregate(t, c)
			a := counter.PageID{Site: site.ID, Page: "a"}
			sketches := must[[][]byte](t)(c.Sketches(ctx, []counter.PageID{a, {Site: site.ID, Page: "nobody"}}))
			keepsSketches := w == counter.HyperLogLog
			if (sketches[0] != nil) != keepsSketches || sketches[1] != nil {
				t.Fatalf("%s: sketches %v", w, sketches)
			}
			emptyRedis(t, client)
			if lost := must[[]int](t)(c.LostShards(ctx)); len(lost) != c.Shards() {
				t.Fatalf("%d shards are lost, want all", len(lost))
			}
			// Views continue, including those of 50 earlier visitors.
			clock.add(time.Hour)
			for n := range 50 {
				count(t, c, visitor(n+1, "a"), visitor(n+1, "b"))
			}
			aggregate(t, c)
			day := counter.Day(monday().Unix() / 86400)
			total := counter.PageTotals{
				PageID: a, UniqueMethod: w, Views: 100, Clicks: 7,
				Funnel: counter.Funnel{Views: 90, Clicks: 6}, Uniques: 100, Sketch: sketches[0],
				Hours: []counter.HourDelta{{Kind: counter.View, Hour: monday(), Day: day, Count: 100}},
				Days:  []counter.DayCount{{Kind: counter.View, Day: day, Count: 100}},
			}
			for range 2 { // the second is a retry
				if err := c.Seed(ctx, []counter.PageTotals{total}); err != nil {
					t.Fatal(err)
				}
			}
			markSeeded(t, c)
			if err := c.Seed(ctx, []counter.PageTotals{{
				PageID:       counter.PageID{Site: site.ID, Page: "b"},
				UniqueMethod: w, Views: 1000,
			}}); err != nil {
				t.Fatal(err)
			}
			s := must[counter.Stats](t)(c.Stats(ctx, site, "a"))
			if got, want := fmt.Sprint(s.Views, s.Clicks, len(s.Today), len(s.Days)), "150 7 2 1"; got != want ||
				s.Days[0].Count != 150 {
				t.Errorf("%s: views, clicks, hours and days after the loss: got %s (%+v), want %s with 150 views "+
					"on the day", w, got, s, want)
			}
			// Only a sketch still contains earlier visitors.
			want := int64(150)
			if keepsSketches {
				want = 100
			}
			if off(s.Uniques.AllTime, want) > 0.05 {
				t.Errorf("%s: %d uniques of all time, want %d", w, s.Uniques.AllTime, want)
			}
			if f := must[counter.Funnel](t)(c.Funnel(ctx, site, "a")); f != (counter.Funnel{Views: 140, Clicks: 6}) {
				t.Errorf("%s: funnel %+v", w, f)
			}
			if s := must[counter.Stats](t)(c.Stats(ctx, site, "b")); s.Views != 50 {
				t.Errorf("%s: a page of a complete shard was seeded: %d views, want 50", w, s.Views)
			}
			emptyRedis(t, client)
		}
	})
}

func emptyRedis(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	var err error
	if cluster, ok := client.(*redis.ClusterClient); ok {
		err = cluster.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
			return node.FlushAll(ctx).Err()
		})
	} else {
		err = client.FlushAll(t.Context()).Err()
	}
	if err != nil {
		t.Fatal(err)
	}
}
