package counter_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/testing/enginetest"
)

// reading is a site with readers that send heartbeats.
type reading struct {
	t       *testing.T
	clock   *clock
	counter *counter.Counter
	site    counter.Site
	readers uint64
}

func newReaders(t *testing.T, client redis.UniversalClient) *reading {
	t.Helper()
	r := &reading{t: t, clock: newClock(), site: newSite(t, counter.HyperLogLog)}
	r.counter = counter.New(client, counter.Options{Shards: 4, Now: r.clock.Now})
	for shard := range 4 {
		if err := r.counter.MarkSeeded(t.Context(), shard); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// open counts a view of a new reader.
func (r *reading) open(page, view string) {
	r.t.Helper()
	r.readers++
	r.openAs(r.readers*0x9e3779b97f4a7c15, page, view)
}

func (r *reading) openAs(visitor uint64, page, view string) {
	r.t.Helper()
	count(r.t, r.counter, counter.Hit{
		Site: r.site, Page: page, Kind: counter.View, Visitor: counter.Visitor{Hash: visitor}, At: r.clock.Now(),
		View: view,
	})
}

// heartbeat sends a heartbeat and reports whether the view is known.
func (r *reading) heartbeat(page, view string, engaged time.Duration, scroll int, hidden bool) bool {
	r.t.Helper()
	known := must[int](r.t)(r.counter.Heartbeats(r.t.Context(), []counter.Heartbeat{
		{Site: r.site, Page: page, View: view, Engaged: engaged, Scroll: scroll, Hidden: hidden, At: r.clock.Now()},
	}))
	return known == 1
}

func (r *reading) now() int64 {
	r.t.Helper()
	return must[int64](r.t)(r.counter.Concurrents(r.t.Context(), r.site.ID))
}

// takeLinks returns the engagement by link since the last call.
func (r *reading) takeLinks() map[string]counter.EngagementDelta {
	r.t.Helper()
	all := map[string]counter.EngagementDelta{}
	r.takeDeltas(func(d counter.Delta) {
		for _, l := range d.Links {
			addEngagement(all, map[string]counter.EngagementDelta{
				fmt.Sprint(l.Link, " ", d.Page, " ", l.Day.Time().Format("01-02")): l.EngagementDelta,
			})
		}
	})
	return all
}

// take returns the engagement of all pages since the last call, by page and day.
func (r *reading) take() map[string]counter.EngagementDelta {
	r.t.Helper()
	all := map[string]counter.EngagementDelta{}
	r.takeDeltas(func(d counter.Delta) {
		for _, e := range d.Engagement {
			addEngagement(all, map[string]counter.EngagementDelta{
				fmt.Sprint(d.Page, " ", e.Day.Time().Format("01-02")): e,
			})
		}
	})
	return all
}

func (r *reading) takeDeltas(add func(counter.Delta)) {
	r.t.Helper()
	for shard := range 4 {
		batch := uuid.New()
		must[bool](r.t)(r.counter.TakeBatch(r.t.Context(), shard, batch))
		for _, d := range must[counter.Batch](r.t)(r.counter.ReadBatch(r.t.Context(), shard, batch)).Deltas {
			add(d)
		}
		if err := r.counter.DropBatch(r.t.Context(), shard, batch); err != nil {
			r.t.Fatal(err)
		}
	}
}

func (r *reading) expect(
	what string, got counter.EngagementDelta, views int64, median time.Duration, scrolled ...int64,
) {
	r.t.Helper()
	if m := got.Median(); got.Engaged[0] != views || math.Abs(m.Seconds()-median.Seconds()) > 0.2*median.Seconds() ||
		!slices.Equal(got.Scrolled[:], scrolled) {
		r.t.Errorf("%s: got %d views, a median of %s, scrolled %v; want %d, about %s, %v", what, got.Engaged[0], m,
			got.Scrolled, views, median, scrolled)
	}
}

func TestHeartbeat_LargerTotalWins(t *testing.T) {
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		r := newReaders(t, client)
		r.open("/a", "v1")
		r.open("/b", "v1")
		r.clock.add(time.Minute)
		for _, total := range []time.Duration{
			15 * time.Second, 5 * time.Second, 40 * time.Second, 40 * time.Second,
			15 * time.Second,
		} {
			if !r.heartbeat("/a", "v1", total, int(total.Seconds()), false) {
				t.Error("the view is not known")
			}
		}
		r.heartbeat("/b", "v1", 5*time.Second, 100, false)
		got := r.take()
		r.expect("/a", got["/a 11-16"], 1, 40*time.Second, 1, 0, 0, 0)
		r.expect("/b", got["/b 11-16"], 1, 5*time.Second, 1, 1, 1, 1)
		if len(got) != 2 {
			t.Errorf("got %v, want two pages", got)
		}
		// After a flush, only new engagement counts.
		r.heartbeat("/a", "v1", 40*time.Second, 40, false)
		if more := r.take(); len(more) != 0 {
			t.Errorf("a repeated heartbeat added %v", more)
		}
		r.heartbeat("/a", "v1", 58*time.Second, 80, true)
		if more := r.take()["/a 11-16"]; more.Engaged[0] != 0 ||
			more.Scrolled != [counter.ScrollSteps]int64{0, 1, 1, 0} {
			t.Errorf("added %+v", more)
		}
	})
}

// A view that a short link opened counts for the link, too, on the day of the view.
func TestHeartbeat_CountsForTheLinkThatOpenedTheView(t *testing.T) {
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		r := newReaders(t, client)
		beats := func(engaged time.Duration) (all []counter.Heartbeat) {
			for i, link := range []string{"first", "first", "second", ""} {
				all = append(all, counter.Heartbeat{
					Site: r.site, Page: fmt.Sprint("/", i%2), View: fmt.Sprint("v", i),
					Link: link, Engaged: engaged, Scroll: 30 * i, At: r.clock.Now(),
				})
			}
			return all
		}
		for i := range 4 {
			r.open(fmt.Sprint("/", i%2), fmt.Sprint("v", i))
		}
		r.clock.add(time.Minute)
		must[int](t)(r.counter.Heartbeats(t.Context(), beats(5*time.Second)))
		must[int](t)(r.counter.Heartbeats(t.Context(), beats(40*time.Second)))
		got := r.takeLinks()
		r.expect("the first link on /0", got["first /0 11-16"], 1, 40*time.Second, 0, 0, 0, 0)
		r.expect("the first link on /1", got["first /1 11-16"], 1, 40*time.Second, 1, 0, 0, 0)
		r.expect("the second link", got["second /0 11-16"], 1, 40*time.Second, 1, 1, 0, 0)
		if len(got) != 3 {
			t.Errorf("got %v, want three numbers", got)
		}
		must[int](t)(r.counter.Heartbeats(t.Context(), beats(40*time.Second)))
		if more := r.takeLinks(); len(more) != 0 {
			t.Errorf("repeated heartbeats added %v", more)
		}
	})
}

func TestHeartbeat_IsLimitedToTheTimeSinceTheView(t *testing.T) {
	r := newReaders(t, enginetest.RedisClient(t, enginetest.Redis(t)))
	r.open("/a", "v1")
	r.clock.add(20 * time.Second)
	r.heartbeat("/a", "v1", time.Hour, 1000, false)
	r.expect("after 20 s", r.take()["/a 11-16"], 1, 21*time.Second, 1, 1, 1, 1)
	r.clock.add(40 * time.Minute)
	r.heartbeat("/a", "v1", time.Hour, 0, false)
	if got := r.take()["/a 11-16"]; got.Engaged[0] != 0 || got.Engaged[counter.EngagedBuckets-1] != 1 {
		t.Errorf("after 40 minutes: got %+v, want the last bucket", got)
	}
	// Its number expires after an hour.
	r.clock.add(20 * time.Minute)
	if r.heartbeat("/a", "v1", time.Hour, 100, false) {
		t.Error("the view is still known after an hour")
	}
}

func TestHeartbeat_CountsForTheDayOfTheView(t *testing.T) {
	r := newReaders(t, enginetest.RedisClient(t, enginetest.Redis(t)))
	r.clock.set(time.Date(2026, 11, 16, 16, 59, 50, 0, time.UTC)) // ten seconds to midnight in Hanoi
	r.open("/a", "v1")
	r.clock.add(5 * time.Second)
	r.heartbeat("/a", "v1", 5*time.Second, 30, false)
	r.clock.add(25 * time.Second)
	r.open("/a", "v2")
	r.clock.add(5 * time.Second)
	r.heartbeat("/a", "v1", 30*time.Second, 60, false)
	r.heartbeat("/a", "v2", 5*time.Second, 30, false)
	got := r.take()
	r.expect("the view before midnight", got["/a 11-16"], 1, 30*time.Second, 1, 1, 0, 0)
	r.expect("the view after midnight", got["/a 11-17"], 1, 5*time.Second, 1, 0, 0, 0)
}

// Only counted views have engaged time, but a reader who reloads a page is still
// reading it.
func TestHeartbeat_OfViewsThatDidNotCount(t *testing.T) {
	r := newReaders(t, enginetest.RedisClient(t, enginetest.Redis(t)))
	r.openAs(7, "/a", "v1")
	r.openAs(7, "/a", "reloaded")
	r.openAs(7, "/a", "v1") // sent twice
	r.clock.add(10 * time.Second)
	if r.heartbeat("/a", "unknown", 10*time.Second, 50, false) || r.heartbeat("/b", "v1", 10*time.Second, 50, false) {
		t.Error("a view that was not counted is known")
	}
	if r.now() != 0 {
		t.Errorf("%d views are being read, want 0", r.now())
	}
	if !r.heartbeat("/a", "reloaded", 10*time.Second, 50, false) || r.now() != 1 {
		t.Errorf("the reloaded page is not being read")
	}
	if got := r.take(); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
	if !r.heartbeat("/a", "v1", 10*time.Second, 50, false) || len(r.take()) != 1 {
		t.Error("a view that was sent twice is missing")
	}
	// Erased views no longer count.
	if err := r.counter.EraseViewsInProgress(t.Context(), r.site.ID); err != nil {
		t.Fatal(err)
	}
	if r.heartbeat("/a", "v1", 10*time.Second, 90, false) || r.now() != 0 || len(r.take()) != 0 {
		t.Error("an erased view is still known")
	}
}

func TestConcurrents_ForgetsHiddenAndSilentViews(t *testing.T) {
	r := newReaders(t, enginetest.RedisClient(t, enginetest.Redis(t)))
	for i := range 20 {
		r.open(fmt.Sprint("/", i), "v")
	}
	r.clock.add(5 * time.Second)
	for i := range 20 {
		r.heartbeat(fmt.Sprint("/", i), "v", 5*time.Second, 0, false)
		r.heartbeat(fmt.Sprint("/", i), "v", 5*time.Second, 0, false)
	}
	if got := r.now(); got != 20 {
		t.Errorf("%d views are being read, want 20", got)
	}
	r.heartbeat("/0", "v", 6*time.Second, 0, true)
	r.clock.add(70 * time.Second)
	for i := range 5 {
		r.heartbeat(fmt.Sprint("/", i+1), "v", 20*time.Second, 0, false)
	}
	if got := r.now(); got != 19 {
		t.Errorf("%d views are being read after one was hidden, want 19", got)
	}
	r.clock.add(6 * time.Second)
	if got := r.now(); got != 5 {
		t.Errorf("%d views are being read after 14 were silent, want 5", got)
	}
}

// The number of views being read matches the last heartbeat of each view, whatever the
// order of heartbeats, their number in a call, and pauses.
func TestConcurrents_Model(t *testing.T) {
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		const window = 75 * time.Second
		const steps = 250
		r := newReaders(t, client)
		random := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // a test
		pages := 0
		last := map[string]time.Time{} // of visible views
		for step := range steps {
			for range random.IntN(3) {
				r.openAs(uint64(1+random.IntN(30)), fmt.Sprint("/", pages), "v") // reloads are being read too
				pages++
			}
			var all []counter.Heartbeat
			for range min(random.IntN(12), pages) {
				page := fmt.Sprint("/", random.IntN(pages))
				h := counter.Heartbeat{
					Site: r.site, Page: page, View: "v",
					Engaged: time.Duration(random.IntN(60)) * time.Second, Hidden: random.IntN(4) == 0,
					At: r.clock.Now(),
				}
				all = append(all, h)
				last[page] = h.At
				if h.Hidden {
					delete(last, page)
				}
			}
			if got := must[int](t)(r.counter.Heartbeats(t.Context(), all)); got != len(all) {
				t.Fatalf("step %d: %d of %d views are known", step, got, len(all))
			}
			r.clock.add(time.Duration(random.IntN(5)) * time.Second)
			if step%10 == 9 {
				r.clock.add(time.Duration(random.IntN(90)) * time.Second)
			}
			want := int64(0)
			for _, at := range last {
				if r.clock.Now().Sub(at) < window {
					want++
				}
			}
			if got := r.now(); got != want {
				t.Fatalf("step %d: %d views are being read, want %d", step, got, want)
			}
		}
	})
}

// What is stored of a site's views being read stays small, and expires.
func TestConcurrents_DeletesOldSeconds(t *testing.T) {
	t.Parallel()
	client := enginetest.RedisClient(t, enginetest.Redis(t))
	r := newReaders(t, client)
	r.open("/a", "v")
	for second := range 400 {
		r.heartbeat("/a", "v", time.Duration(second)*time.Second, 0, false)
		if got := r.now(); got != 1 {
			t.Fatalf("second %d: %d views are being read, want 1", second, got)
		}
		r.clock.add(time.Second)
	}
	keys := must[[]string](t)(client.Keys(t.Context(), "*;reading").Result())
	if len(keys) != 1 {
		t.Fatalf("got the keys %q, want one", keys)
	}
	if n := must[int64](t)(client.HLen(t.Context(), keys[0]).Result()); n > 111 {
		t.Errorf("%d seconds are stored, want 111 at most", n)
	}
	if ttl := must[time.Duration](t)(client.TTL(t.Context(), keys[0]).Result()); ttl <= 0 || ttl > 80*time.Second {
		t.Errorf("the key expires in %s, want at most 80 s", ttl)
	}
}

// Any mix of heartbeats, including lost, repeated and reordered ones, adds up to each
// view's largest total.
func TestHeartbeat_Model(t *testing.T) {
	r := newReaders(t, enginetest.RedisClient(t, enginetest.Redis(t)))
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test
	want, got := map[string]counter.EngagementDelta{}, map[string]counter.EngagementDelta{}
	type view struct{ engaged, scroll int }
	views := map[string]view{}
	for i := range 60 {
		r.open(fmt.Sprint("/", i%7), fmt.Sprint("v", i))
	}
	r.clock.add(40 * time.Minute)
	for range 300 {
		i := random.IntN(60)
		name, page := fmt.Sprint("v", i), fmt.Sprint("/", i%7)
		one := view{random.IntN(2000), random.IntN(101)}
		r.heartbeat(page, name, time.Duration(one.engaged)*time.Second, one.scroll, random.IntN(2) == 0)
		views[name] = view{max(one.engaged, views[name].engaged), max(one.scroll, views[name].scroll)}
		if random.IntN(40) == 0 {
			addEngagement(got, r.take())
		}
	}
	addEngagement(got, r.take())
	for name, v := range views {
		var i int
		_, _ = fmt.Sscanf(name, "v%d", &i)
		key := fmt.Sprint("/", i%7, " 11-16")
		e := want[key]
		for b := range e.Engaged {
			if b == 0 || float64(min(v.engaged, 1800)) >= math.Pow(1800, float64(b)/counter.EngagedBuckets) {
				e.Engaged[b]++
			}
		}
		for s := range e.Scrolled {
			if v.scroll >= 25*(s+1) {
				e.Scrolled[s]++
			}
		}
		want[key] = e
	}
	for key, e := range want {
		if got[key] != e {
			t.Errorf("%s: got %v, want %v", key, got[key], e)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %d pages, want %d", len(got), len(want))
	}
}

func addEngagement(to, more map[string]counter.EngagementDelta) {
	for key, e := range more {
		sum := to[key]
		sum.Add(&e)
		to[key] = sum
	}
}

// The median of a histogram is close to that of the values.
func TestEngagement_MedianIsCloseToTheMedian(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // a test
	for _, n := range []int{1000, 10_000} {
		var all counter.EngagementDelta
		values := make([]float64, n)
		for i := range values {
			values[i] = math.Exp(math.Log(45) + random.NormFloat64()) // log-normal around 45 s
			for b := range all.Engaged {
				if b == 0 || values[i] >= math.Pow(1800, float64(b)/counter.EngagedBuckets) {
					all.Engaged[b]++
				}
			}
		}
		slices.Sort(values)
		if got, want := all.Median().Seconds(), values[n/2]; math.Abs(got-want) > 0.03*want {
			t.Errorf("%d views: got %.2f s, want %.2f s within 3 %%", n, got, want)
		}
	}
	if got := new(counter.EngagementDelta).Median(); got != 0 {
		t.Errorf("without views: got %s, want 0", got)
	}
}
