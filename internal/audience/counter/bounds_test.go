package counter_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/testing/enginetest"
)

func TestDimensions_AreBounded(t *testing.T) {
	skipSlow(t)
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		clock := newClock()
		c := counter.New(client, counter.Options{Now: clock.Now})
		markSeeded(t, c)
		site := newSite(t, counter.HyperLogLog)
		visitor := uint64(0)
		look := func(times int, country, device, referrer string) {
			for range times {
				visitor++
				h := view(site, "a", visitor, clock.Now())
				h.Country, h.Device, h.Referrer = country, device, referrer
				count(t, c, h)
			}
		}
		look(3, "vn", "mobile", "Facebook.com.")
		look(2, "XX", "fridge", strings.Repeat("a", 300)+".example")
		look(1, "", "", "")
		aggregate(t, c)
		d := must[counter.Dimensions](t)(c.Dimensions(t.Context(), site, "a"))
		long := strings.Repeat("a", 52) + ".example"
		want := counter.Dimensions{
			Country: map[string]int64{"VN": 3, counter.Other: 2},
			Device:  map[string]int64{"mobile": 3, counter.Other: 2}, Referrer: map[string]int64{
				"facebook.com": 3, long: 2,
			},
		}
		if fmt.Sprint(d) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", d, want)
		}
		for n := range 1000 {
			look(1, "VN", "tablet", fmt.Sprintf("spam%d.example", n))
			if n%10 == 0 {
				look(1, "VN", "mobile", "facebook.com")
				aggregate(t, c)
			}
		}
		aggregate(t, c)
		d = must[counter.Dimensions](t)(c.Dimensions(t.Context(), site, "a"))
		var sum int64
		for _, n := range d.Referrer {
			sum += n
		}
		if len(d.Referrer) > 101 || d.Referrer["facebook.com"] != 103 || sum != 1105 {
			t.Errorf("%d referrers with %d views, %d of them from facebook.com; want at most 101, 1105, 103",
				len(d.Referrer), sum, d.Referrer["facebook.com"])
		}
		referrers, sum := 0, int64(0)
		for _, delta := range takeAll(t, c) {
			for _, v := range delta.Dimensions {
				if v.Dimension == counter.Referrer {
					referrers++
					sum += v.Count
				}
			}
		}
		if referrers > 101 || sum != 1105 {
			t.Errorf("the flush gets %d referrers with %d views, want at most 101 with 1105", referrers, sum)
		}
		var refused []counter.FilteredHit
		for n := range 100 {
			refused = append(refused, counter.FilteredHit{
				Site: site, Page: "a", Reason: fmt.Sprint("reason", n), At: clock.Now(),
			})
		}
		if err := c.CountFiltered(t.Context(), refused); err != nil {
			t.Fatal(err)
		}
		aggregate(t, c)
		if got := filteredOf(t, c, site, "a"); len(got) != 21 || got[counter.Other] != 80 {
			t.Errorf("filtered: %v, want 20 reasons and 80 others", got)
		}
	})
}

func TestCount_ClampsFutureTimes(t *testing.T) {
	t.Parallel()
	clock := newClock()
	c := counter.New(enginetest.RedisClient(t, enginetest.Redis(t)), counter.Options{Now: clock.Now})
	site := newSite(t, counter.Set)
	count(t, c, view(site, "a", 1, clock.Now().Add(24*time.Hour)), view(site, "a", 2, clock.Now()))
	aggregate(t, c)
	s := must[counter.Stats](t)(c.Stats(t.Context(), site, "a"))
	if len(s.Today) != 1 || s.Today[0].Count != 2 || s.Uniques.Day != 2 {
		t.Errorf("%+v, want both views in this hour", s)
	}
}

func TestHasSeen_PerMethod(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		clock := newClock()
		c := counter.New(client, counter.Options{Now: clock.Now})
		for _, w := range []counter.UniqueMethod{counter.Set, counter.SetPerDay, counter.Bitmap} {
			site := newSite(t, w)
			h := view(site, "a", 1<<63+5, clock.Now())
			h.Visitor.ID = 5
			count(t, c, h)
			for _, row := range []struct {
				visitor counter.Visitor
				want    bool
			}{{h.Visitor, true}, {counter.Visitor{Hash: 6, ID: 6}, false}, {counter.Visitor{}, false}} {
				if got := must[bool](t)(c.HasSeen(t.Context(), site, "a", row.visitor)); got != row.want {
					t.Errorf("%s: seen by %v: %v", w, row.visitor, got)
				}
			}
		}
		if _, err := c.HasSeen(t.Context(), newSite(t, counter.HyperLogLog), "a",
			counter.Visitor{Hash: 1}); err == nil {
			t.Error("HasSeen with HyperLogLog: got no error, want ErrNoMembership")
		}
	})
}

// A visitor is remembered for 15 to 30 days, independent of the number of later
// visitors, and counted as a new one after that.
func TestEraseVisitor_RemovesEntries(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	for _, w := range []counter.UniqueMethod{counter.Set, counter.Bitmap} {
		clock := newClock()
		c := counter.New(client, counter.Options{Now: clock.Now})
		site := newSite(t, w)
		reader := func(n uint32) counter.Outcome {
			h := view(site, "a", uint64(n), clock.Now())
			h.Visitor.ID = n
			return count(t, c, h)[0]
		}
		all := func() int64 { return must[counter.Stats](t)(c.Stats(t.Context(), site, "a")).Uniques.AllTime }
		reader(1)
		for day := range 14 { // visitor 2 returns every day, visitor 1 does not
			clock.add(24 * time.Hour)
			reader(2)
			aggregate(t, c)
			for _, key := range must[[]string](t)(client.Keys(t.Context(),
				"*:a:*u"+map[counter.UniqueMethod]string{counter.Set: "S", counter.Bitmap: "B"}[w]).Result()) {
				if left := must[time.Duration](t)(client.TTL(t.Context(), key).Result()); left <= 0 ||
					left > 30*24*time.Hour {
					t.Errorf("%s, day %d: %q has a TTL of %s", w, day, key, left)
				}
			}
		}
		if o := reader(1); o.New || all() != 2 {
			t.Errorf("%s: after 14 days %+v is new, of %d", w, o, all())
		}
		clock.add(45 * 24 * time.Hour)
		if seen := must[bool](t)(c.HasSeen(t.Context(), site, "a", counter.Visitor{Hash: 1, ID: 1})); seen {
			t.Errorf("%s: a visitor is remembered for more than 30 days", w)
		}
		if o := reader(1); !o.New || all() != 3 {
			t.Errorf("%s: after 45 days %+v is not new, of %d", w, o, all())
		}
	}
}

// TestKeys_Expire covers all keys except running totals, visitors of all time, and
// batches on their way to Postgres.
func TestKeys_Expire(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	clock := newClock()
	clock.set(monday().Add(12*time.Hour - 30*time.Second)) // shortly before midnight in Hanoi
	c := counter.New(client, counter.Options{Now: clock.Now})
	markSeeded(t, c)
	for range 3 { // days
		for _, w := range []counter.UniqueMethod{counter.Set, counter.SetPerDay, counter.HyperLogLog, counter.Bitmap} {
			site := newSite(t, w)
			hit := func(n uint32) counter.Hit {
				h := view(site, "a", uint64(n), clock.Now())
				h.Visitor.ID, h.Referrer = n, "t.co"
				return h
			}
			site.Window = 0 // calls are recorded
			before := hit(1)
			clock.add(time.Minute)
			count(t, c, before, hit(2), hit(3)) // both days in one aggregation
			site.Window = time.Hour
			count(t, c, hit(4))
			for n := range uint32(20) { // too many for a list in the page's hash
				count(t, c, hit(5+n))
			}
			if err := c.CountFiltered(t.Context(),
				[]counter.FilteredHit{{Site: site, Page: "a", Reason: "bot", At: clock.Now()}}); err != nil {
				t.Fatal(err)
			}
			aggregate(t, c)
			count(t, c, before) // too late
			aggregate(t, c)
			clock.add(-time.Minute)
		}
		clock.add(24 * time.Hour)
		aggregate(t, c)
	}
	takeAll(t, c)
	persistent := map[string]int{}
	for _, key := range must[[]string](t)(client.Keys(t.Context(), "*").Result()) {
		if must[time.Duration](t)(client.TTL(t.Context(), key).Result()) >= 0 {
			continue
		}
		switch {
		case strings.HasSuffix(key, "}state"):
		case strings.HasSuffix(key, ":t"), strings.Contains(key, ":u"):
			persistent[key[len(key)-2:]]++
		case strings.HasSuffix(key, "dH"): // of the newest day, which belongs to the all-time data
			persistent["dH"]++
		default:
			t.Errorf("%q never expires", key)
		}
	}
	if persistent[":t"] != 12 || persistent["dH"] != 3 {
		t.Errorf("keys without TTL: %v, want 12 totals and 3 latest days", persistent)
	}
}

func TestErasePage_RemovesKeys(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	clock := newClock()
	c := counter.New(client, counter.Options{Now: clock.Now})
	markSeeded(t, c)
	for _, w := range []counter.UniqueMethod{counter.Set, counter.SetPerDay, counter.HyperLogLog, counter.Bitmap} {
		site := newSite(t, w)
		for range 3 {
			h := view(site, "secret", 1, clock.Now())
			h.Visitor.ID = 1
			count(t, c, h)
			aggregate(t, c)
			clock.add(24 * time.Hour)
		}
		takeAll(t, c)
		clock.add(2 * time.Hour)
		aggregate(t, c)
		if err := c.ErasePage(context.Background(), counter.PageID{Site: site.ID, Page: "secret"}); err != nil {
			t.Fatal(err)
		}
	}
	if left := must[[]string](t)(client.Keys(t.Context(), "*secret*").Result()); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// An epoch's visits are split into fields by the number of visits in the previous
// epoch, and more finely when they outgrow that. An epoch that begins with 512 fields
// for 20,000 views, each of which also starts a visit, continues with 4,096 after about
// 12,500 of them.
func TestCount_DedupFieldsSplit(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	clock := newClock()
	clock.set(monday().Truncate(time.Hour))
	c := counter.New(client, counter.Options{Now: clock.Now, Shards: 1})
	site := newSite(t, counter.HyperLogLog)
	const visits = 20_000
	all := func() (counted int) {
		for from := 0; from < visits; from += 1000 {
			var hits []counter.Hit
			for n := range 1000 {
				hits = append(hits, view(site, fmt.Sprint(n%7), uint64(from+n), clock.Now()))
			}
			for _, o := range count(t, c, hits...) {
				if o.Counted {
					counted++
				}
			}
		}
		return counted
	}
	digits := func(ago int64) string {
		return must[string](t)(client.Get(t.Context(), fmt.Sprintf("{v00}d3600:%d:n", clock.Now().Unix()/3600-ago)).
			Result())
	}
	if err := client.Set(t.Context(), fmt.Sprintf("{v00}d3600:%d:n", clock.Now().Unix()/3600), "3", 2*time.Hour).
		Err(); err != nil {
		t.Fatal(err)
	}
	if got := all(); got != visits {
		t.Errorf("%d of %d first views were counted", got, visits)
	}
	if got := all(); got != 0 {
		t.Errorf("%d reloads were counted", got)
	}
	if got := digits(0); got != "34" {
		t.Errorf("the first hour has fields of %s digits, want of 3 and then of 4", got)
	}
	clock.add(time.Hour)
	if got := all(); got != visits { // none is within the window
		t.Errorf("%d of %d views an hour later were counted", got, visits)
	}
	if got := all(); got != 0 {
		t.Errorf("%d reloads were counted an hour later", got)
	}
	if got := digits(0); got != "4" {
		t.Errorf("the second hour has fields of %s digits, want of 4", got)
	}
}

// One visitor with many hits has a long field. It must not make all other fields finer,
// because each new hash of an epoch costs all hits another look-up.
func TestCount_OneVisitorDoesNotSplitDedupFields(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	clock := newClock()
	c := counter.New(client, counter.Options{Now: clock.Now})
	site := newSite(t, counter.HyperLogLog)
	const pages = 600
	all := func() (counted int) {
		for from := 0; from < pages; from += 100 {
			var hits []counter.Hit
			for n := range 100 {
				hits = append(hits, view(site, fmt.Sprint(from+n), 1, clock.Now()))
			}
			for _, o := range count(t, c, hits...) {
				if o.Counted {
					counted++
				}
			}
		}
		return counted
	}
	if first, again := all(), all(); first != pages || again != 0 {
		t.Errorf("%d of %d pages of one visitor were counted, then %d reloads", first, pages, again)
	}
	key := fmt.Sprintf("{v00}d3600:%d:n", clock.Now().Unix()/3600)
	if got := must[string](t)(client.Get(t.Context(), key).Result()); got != "6" {
		t.Errorf("the hour has fields of %s digits, want of 6", got)
	}
}
