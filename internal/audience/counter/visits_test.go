package counter_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/testing/enginetest"
)

// takeDeltas takes and reads a batch of every shard.
func takeDeltas(t testing.TB, c *counter.Counter) (deltas []counter.Delta) {
	t.Helper()
	aggregate(t, c) // in a cluster, moves visits to the shards of their pages
	for shard := range c.Shards() {
		batch := uuid.New()
		if !must[bool](t)(c.TakeBatch(t.Context(), shard, batch)) {
			continue
		}
		deltas = append(deltas, must[counter.Batch](t)(c.ReadBatch(t.Context(), shard, batch)).Deltas...)
		if err := c.DropBatch(t.Context(), shard, batch); err != nil {
			t.Fatal(err)
		}
	}
	return deltas
}

// withoutVisits removes the kinds that are derived from views.
func withoutVisits(deltas []counter.Delta) []counter.Delta {
	for i := range deltas {
		d := &deltas[i]
		d.Visits = nil
		d.Hours = slices.DeleteFunc(d.Hours, func(h counter.HourDelta) bool {
			return isDerived(h.Kind)
		})
	}
	return deltas
}

func isDerived(k counter.Kind) bool {
	return k == counter.Entry || k == counter.SecondView || k == counter.EngagedVisit || k == counter.Recirculation
}

// derived sums up the kinds that are derived from views: page, kind, hour.
func derived(deltas []counter.Delta) map[string]int64 {
	sums := map[string]int64{}
	for _, d := range deltas {
		for _, h := range d.Hours {
			if isDerived(h.Kind) {
				sums[fmt.Sprint(d.Page, " ", h.Kind, " ", h.Day.Time().Format("01-02"), " ",
					h.Hour.Format("15:04"))] += h.Count
			}
		}
	}
	return sums
}

func TestVisits_StartAndSecondView(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		clock := newClock()
		clock.set(time.Date(2026, 11, 16, 16, 50, 0, 0, time.UTC)) // 23:50 in Hanoi
		c := counter.New(client, counter.Options{Now: clock.Now})
		markSeeded(t, c)
		site := newSite(t, counter.Set)
		read := func(page string, visitor uint64, from string) {
			h := view(site, page, visitor, clock.Now())
			h.From, h.Channel, h.Source, h.Browser, h.OS, h.Campaign, h.Country, h.Device = from, "social", "zalo.me",
				"Chrome", "Android", "tet", "VN", "mobile"
			count(t, c, h)
		}
		read("a", 1, "") // starts a visit
		read("b", 2, "") // another reader
		clock.add(15 * time.Minute)
		read("b", 1, "a") // after midnight; its visit started before
		read("c", 1, "b") // the third one has no effect
		clock.add(15 * time.Minute)
		read("d", 1, "c") // 30 minutes after the start
		clock.add(time.Minute)
		read("e", 1, "d") // a new visit
		deltas := takeDeltas(t, c)
		want := map[string]int64{
			"a entry 11-16 16:00": 1, "b entry 11-16 16:00": 1, "e entry 11-17 17:00": 1,
			"b second_view 11-16 16:00": 1, "b engaged_visit 11-16 16:00": 1,
			"a recirculation 11-17 17:00": 1, "b recirculation 11-17 17:00": 1, "c recirculation 11-17 17:00": 1,
			"d recirculation 11-17 17:00": 1,
		}
		if got := derived(deltas); !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		values := map[string]int64{}
		for _, d := range deltas {
			for _, v := range d.Visits {
				values[v.Dimension+" "+v.Value] += v.Count
			}
		}
		if want := (map[string]int64{
			"channel social": 3, "source zalo.me": 3, "browser Chrome": 3, "os Android": 3,
			"campaign tet": 3, "country VN": 3, "device mobile": 3,
		}); !maps.Equal(values, want) {
			t.Errorf("got %v, want %v", values, want)
		}
		for day, want := range map[int]int64{16: 2, 17: 1} {
			var all counter.Sketch
			for _, raw := range must[[][]byte](t)(c.SiteSketches(t.Context(), site.ID,
				counter.Day(time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC).Unix()/86400))) {
				if err := all.Merge(raw); err != nil {
					t.Fatal(err)
				}
			}
			if got := all.Count(); got != want {
				t.Errorf("visitors of November %d: got %d, want %d", day, got, want)
			}
		}
	})
}

// A visit is engaged once: with its second page load, or when one of its views was
// read for ten seconds. It counts in the hour of its start.
// A repeated view does not count, but its page load does: it is the second one of its
// visit, or starts another. A call that was sent twice is one page load.
func TestVisits_OfRepeatedViews(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	lost := &dropped{}
	client.AddHook(lost)
	for _, window := range []time.Duration{time.Hour, 2 * time.Hour} { // in the same hashes as visits, and in others
		clock := newClock()
		c := counter.New(client, counter.Options{Now: clock.Now})
		markSeeded(t, c)
		site := newSite(t, counter.HyperLogLog)
		site.Window = window
		read := func(page string, visitor uint64) {
			count(t, c, view(site, page, visitor, clock.Now()))
		}
		lost.lose.Store(true)
		read("once", 1)
		read("reloaded", 2)
		clock.add(10 * time.Minute)
		read("reloaded", 2)
		read("later", 3)
		clock.add(40 * time.Minute)
		read("later", 3)
		deltas := takeDeltas(t, c)
		want := map[string]int64{
			"once entry 11-16 05:00": 1, "reloaded entry 11-16 05:00": 1, "reloaded second_view 11-16 05:00": 1,
			"reloaded engaged_visit 11-16 05:00": 1, "later entry 11-16 05:00": 2,
		}
		if got := derived(deltas); !maps.Equal(got, want) {
			t.Errorf("window of %s: got %v, want %v", window, got, want)
		}
		views := int64(0)
		for _, d := range deltas {
			for _, h := range d.Hours {
				if h.Kind == counter.View {
					views += h.Count
				}
			}
		}
		if views != 3 {
			t.Errorf("window of %s: got %d views, want 3", window, views)
		}
	}
}

func TestVisits_AreEngagedOnce(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		clock := newClock()
		clock.set(time.Date(2026, 11, 16, 16, 50, 0, 0, time.UTC)) // 23:50 in Hanoi
		c := counter.New(client, counter.Options{Now: clock.Now})
		markSeeded(t, c)
		site := newSite(t, counter.HyperLogLog)
		read := func(page string, visitor uint64) {
			h := view(site, page, visitor, clock.Now())
			h.View = fmt.Sprint("view of ", visitor)
			count(t, c, h)
		}
		sendHeartbeat := func(page string, visitor uint64, engaged time.Duration) {
			t.Helper()
			// The visitor's hash is that of its hits.
			h := counter.Heartbeat{
				Site: site, Page: page, View: fmt.Sprint("view of ", visitor),
				Visitor: view(site, page, visitor, clock.Now()).Visitor, Engaged: engaged, At: clock.Now(),
			}
			must[int](t)(c.Heartbeats(t.Context(), []counter.Heartbeat{h}))
		}
		for visitor := range uint64(6) {
			read("start", visitor+1)
		}
		clock.add(5 * time.Minute)
		sendHeartbeat("start", 1, 10*time.Second-time.Millisecond) // not long enough
		sendHeartbeat("start", 2, 10*time.Second)                  // engaged
		sendHeartbeat("start", 2, 10*time.Second)                  // repeated
		sendHeartbeat("start", 2, time.Minute)
		sendHeartbeat("start", 2, 2*time.Minute) // its visit is known to be marked
		read("second", 2)                        // was engaged before
		read("second", 3)                        // engaged with the second page load
		sendHeartbeat("second", 3, time.Minute)
		sendHeartbeat("start", 7, time.Minute) // no visit
		read("twice", 8)
		twice := counter.Heartbeat{
			Site: site, Page: "twice", View: "view of 8", Visitor: view(site, "twice", 8, clock.Now()).Visitor,
			Engaged: time.Minute, At: clock.Now(),
		}
		must[int](t)(c.Heartbeats(t.Context(), []counter.Heartbeat{twice, twice})) // in one call
		clock.add(15 * time.Minute)                                                // after midnight
		sendHeartbeat("start", 4, time.Minute)
		clock.add(11 * time.Minute) // 31 minutes after the start
		sendHeartbeat("start", 5, time.Minute)
		read("later", 6) // a new visit
		sendHeartbeat("later", 6, 0)
		got := derived(takeDeltas(t, c))
		want := map[string]int64{
			"start entry 11-16 16:00": 6, "twice entry 11-16 16:00": 1,
			"twice engaged_visit 11-16 16:00": 1, "later entry 11-17 17:00": 1, "second second_view 11-16 16:00": 2,
			"start engaged_visit 11-16 16:00": 2, "second engaged_visit 11-16 16:00": 1,
		}
		if !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// The visits of the heartbeats of one call may be in different hashes: of this hour, of
// this hour before its fields became shorter, and of the hour before.
func TestVisits_AreEngagedInAnyHash(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	clock := newClock()
	clock.set(time.Date(2026, 11, 16, 4, 50, 0, 0, time.UTC)) // 11:50 in Hanoi
	c := counter.New(client, counter.Options{Now: clock.Now})
	markSeeded(t, c)
	site := newSite(t, counter.HyperLogLog)
	read := func(from, to uint64) {
		for visitor := from; visitor < to; visitor++ {
			count(t, c, view(site, "a", visitor, clock.Now()))
		}
	}
	read(1, 6)
	clock.add(12 * time.Minute)
	read(6, 10)
	epoch := fmt.Sprintf("{v00}d3600:%d:", clock.Now().Unix()/3600)
	digits := must[string](t)(client.Get(t.Context(), epoch+"n").Result())
	client.Set(t.Context(), epoch+"n", digits+"7", time.Hour) // a second hash
	read(10, 13)
	if n := must[int64](t)(client.HLen(t.Context(), epoch+"2").Result()); n != 3 {
		t.Fatalf("the newest hash has %d fields, want 3", n)
	}
	clock.add(time.Minute)
	var beats []counter.Heartbeat
	for _, visitor := range []uint64{12, 1, 7, 99, 10, 5, 6, 11, 98, 2} { // 98 and 99 are unknown
		beats = append(beats, counter.Heartbeat{
			Site: site, Page: "a", View: fmt.Sprint("view of ", visitor),
			Visitor: view(site, "a", visitor, clock.Now()).Visitor, Engaged: time.Minute, At: clock.Now(),
		})
	}
	for range 2 { // the second time, all are marked
		must[int](t)(c.Heartbeats(t.Context(), beats))
	}
	got := derived(takeDeltas(t, c))
	want := map[string]int64{
		"a entry 11-16 04:00": 5, "a entry 11-16 05:00": 7, "a engaged_visit 11-16 04:00": 3,
		"a engaged_visit 11-16 05:00": 5,
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The union of HyperLogLogs and its estimate match Redis.
func TestSketch_MatchesRedis(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	for _, n := range []int{0, 1, 100, 3_000, 200_000} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			var all counter.Sketch
			var keys []string
			for k := range 3 {
				key := fmt.Sprintf("sketch %d %d", n, k)
				keys = append(keys, key)
				for part := range slices.Chunk(slices.Repeat([]any{nil}, n), 1000) {
					for i := range part {
						part[i] = fmt.Sprint(n, k%2, uuid.New())
					}
					if err := client.PFAdd(t.Context(), key, part...).Err(); err != nil {
						t.Fatal(err)
					}
				}
				raw, err := client.Get(t.Context(), key).Bytes()
				if err != nil && n > 0 {
					t.Fatal(err)
				}
				if err := all.Merge(raw); err != nil {
					t.Fatal(err)
				}
			}
			want := must[int64](t)(client.PFCount(t.Context(), keys...).Result())
			if got := all.Count(); got != want {
				t.Errorf("%d visitors: got %d, want %d", 3*n, got, want)
			}
			if got := float64(all.Count()); math.Abs(got-float64(3*n)) > 0.05*float64(3*n) {
				t.Errorf("%d visitors: got %v", 3*n, got)
			}
			raw := all.Bytes()
			if err := client.Set(t.Context(), "written", raw, 0).Err(); err != nil {
				t.Fatal(err)
			}
			if got := must[int64](t)(client.PFCount(t.Context(), "written").Result()); got != want {
				t.Errorf("Redis reads %d from the written sketch of %d bytes, want %d", got, len(raw), want)
			}
			var again counter.Sketch
			if err := again.Merge(raw); err != nil || again != all {
				t.Errorf("an encoded sketch decodes differently: %v", err)
			}
		})
	}
}

func FuzzSketch(f *testing.F) {
	var empty counter.Sketch
	f.Add(empty.Bytes())
	f.Add([]byte("HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x84\x7f\xff"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var s, again counter.Sketch
		if s.Merge(raw) != nil {
			return
		}
		if err := again.Merge(s.Bytes()); err != nil || again != s {
			t.Errorf("an encoded sketch decodes differently: %v", err)
		}
		_ = s.Count()
	})
}
