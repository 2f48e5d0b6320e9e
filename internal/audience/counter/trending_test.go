package counter_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/testing/enginetest"
)

func TestTrending_Rankings(t *testing.T) {
	skipSlow(t)
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		clock := newClock()
		c := counter.New(client, counter.Options{Now: clock.Now})
		site := newSite(t, counter.HyperLogLog)
		visitor := uint64(0)
		burst := func(page string, n int) {
			var hits []counter.Hit
			for range n {
				visitor++
				hits = append(hits, view(site, page, visitor*0x9e3779b97f4a7c15, clock.Now()))
			}
			count(t, c, hits...)
			aggregate(t, c)
		}
		expect := func(r counter.Ranking, want ...string) {
			t.Helper()
			var got []string
			for _, p := range must[[]counter.RankedPage](t)(c.Trending(t.Context(), site.ID, r, 3)) {
				score := math.Round(p.Score)
				if r == counter.Rising {
					got = append(got, p.Page)
					continue
				}
				got = append(got, fmt.Sprintf("%s %.0f", p.Page, score))
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s at %s: %q, want %q", r, clock.Now().Format("15:04"), got, want)
			}
		}
		// A page with steady views, day and night.
		for range 24 * 6 {
			burst("steady", 10)
			clock.add(10 * time.Minute)
		}
		burst("old", 40)
		clock.add(20 * time.Minute)
		burst("new", 30)
		expect(counter.TrendingNow, "new 30", "old 10", "steady 3")
		expect(counter.TrendingHour, "old 40", "new 30", "steady 30")
		expect(counter.TrendingDay, "steady 1380", "old 40", "new 30")
		expect(counter.Rising, "new", "old", "steady")
		clock.add(10 * time.Minute)
		aggregate(t, c)
		expect(counter.TrendingNow, "new 15", "old 5", "steady 1")
		clock.add(30 * time.Minute) // an hour after the burst of the old page
		aggregate(t, c)
		expect(counter.TrendingHour, "new 30")
		clock.add(30 * time.Minute)
		aggregate(t, c)
		expect(counter.TrendingHour)
		clock.add(21 * time.Hour)
		aggregate(t, c)
		expect(counter.TrendingDay, "steady 60", "old 40", "new 30")
		clock.add(3 * time.Hour)
		aggregate(t, c)
		expect(counter.TrendingDay)
	})
}

// Weights never overflow, and rescaling does not change the order.
func TestTrending_OverYears(t *testing.T) {
	t.Parallel()
	clock := newClock()
	c := counter.New(enginetest.RedisClient(t, enginetest.Redis(t)), counter.Options{Now: clock.Now, Shards: 1})
	site := newSite(t, counter.HyperLogLog)
	for n := range 1000 {
		first := view(site, "a", uint64(2*n)*0x9e3779b97f4a7c15, clock.Now())
		second := view(site, "a", uint64(2*n+1)*0x9e3779b97f4a7c15, clock.Now())
		count(t, c, first, second, view(site, "b", uint64(n)*0x9e3779b97f4a7c15, clock.Now()))
		aggregate(t, c)
		got := must[[]counter.RankedPage](t)(c.Trending(t.Context(), site.ID, counter.TrendingNow, 2))
		if len(got) != 2 || got[0].Page != "a" || math.Abs(got[0].Score-2) > 0.01 || math.Abs(got[1].Score-1) > 0.01 {
			t.Fatalf("after %d steps: %v, want a with 2 views and b with 1", n, got)
		}
		clock.add(17 * time.Hour)
	}
}

func TestTrending_MergesShards(t *testing.T) {
	t.Parallel()
	clock := newClock()
	c := counter.New(enginetest.RedisClient(t, enginetest.Redis(t)), counter.Options{Now: clock.Now})
	site := newSite(t, counter.Set)
	// Thirty pages of one shard are ahead of two of each other.
	crowded := c.Shard(site.ID, "0")
	var hits []counter.Hit
	inShard := map[int]int{}
	for n := 0; len(inShard) < c.Shards() || inShard[crowded] < 30; n++ {
		page := fmt.Sprint(n)
		shard := c.Shard(site.ID, page)
		if shard != crowded && inShard[shard] == 2 || inShard[crowded] == 30 && shard == crowded {
			continue
		}
		inShard[shard]++
		times := 1
		if shard == crowded {
			times = 2 + inShard[shard]
		}
		for v := range times {
			hits = append(hits, view(site, page, uint64(v), clock.Now()))
		}
	}
	count(t, c, hits...)
	aggregate(t, c)
	got := must[[]counter.RankedPage](t)(c.Trending(t.Context(), site.ID, counter.TrendingHour, 30))
	if len(got) != 30 {
		t.Fatalf("%d pages, want 30", len(got))
	}
	for i, p := range got {
		if int(p.Score) != 32-i || c.Shard(site.ID, p.Page) != crowded {
			t.Errorf("position %d: page %s with %.0f views, want one of the full shard with %d", i, p.Page, p.Score,
				32-i)
		}
	}
	if _, err := c.Trending(t.Context(), site.ID, "best", 3); err == nil {
		t.Error("unknown ranking: got no error, want ErrRanking")
	}
}

func TestRecent_CountsTheLastFiveMinutesOnly(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		clock := newClock()
		c := counter.New(client, counter.Options{Now: clock.Now})
		site := newSite(t, counter.Set)
		expect := func(want ...int64) {
			t.Helper()
			if got := must[[]int64](t)(c.RecentViews(t.Context(), site.ID, []string{"a", "b", "nobody"})); fmt.Sprint(
				got) != fmt.Sprint(want) {
				t.Errorf("at %s: got %v, want %v", clock.Now().Format("15:04:05"), got, want)
			}
		}
		expect(0, 0, 0)
		count(t, c, view(site, "a", 1, clock.Now()), view(site, "a", 2, clock.Now()))
		aggregate(t, c)
		expect(2, 0, 0)
		clock.add(4 * time.Minute)
		count(t, c, view(site, "a", 3, clock.Now()), view(site, "b", 1, clock.Now()))
		aggregate(t, c)
		expect(3, 1, 0)
		clock.add(time.Minute)
		expect(1, 1, 0)
		clock.add(4 * time.Minute)
		expect(0, 0, 0)
	})
}

// HyperLogLog estimates may be too high. A page had as many readers as views at
// most.
func TestUniques_NeverExceedViews(t *testing.T) {
	t.Parallel()
	c := counter.New(enginetest.RedisClient(t, enginetest.Redis(t)), counter.Options{Now: newClock().Now})
	site := newSite(t, counter.HyperLogLog)
	visitor := uint64(0)
	for page := range 20 {
		name := fmt.Sprint(page)
		var hits []counter.Hit
		for range 1000 { // each by another reader
			visitor++
			hits = append(hits, view(site, name, visitor*0x9e3779b97f4a7c15, monday()))
		}
		count(t, c, hits...)
		aggregate(t, c)
		if s := must[counter.Stats](t)(c.Stats(t.Context(), site, name)); max(s.Uniques.Day, s.Uniques.Week,
			s.Uniques.AllTime) > s.Views || s.Uniques.AllTime < 900 {
			t.Errorf("page %s: got %+v unique readers of %d views", name, s.Uniques, s.Views)
		}
	}
}
