package counter_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/timezone"
	"dateline/internal/testing/enginetest"
)

func TestCounter_MatchesModel(t *testing.T) {
	skipSlow(t)
	t.Parallel()
	engines(t, func(t *testing.T, client redis.UniversalClient) {
		n := 1_000_000 // hits in the comparison with the model
		if t.Name() == "TestCounter_MatchesModel/Cluster" {
			n /= 5
		}
		clock, tr, m := newClock(), newTraffic(t), newModel()
		c := counter.New(client, counter.Options{Now: clock.Now})
		b := counter.NewBatcher(c)
		defer b.Close()
		feed(t, c, b, m, clock, tr, n, 60*time.Hour)
		for _, site := range tr.sites {
			compare(t, c, m, clock, site, 0.02)
		}
	})
}

func compare(t *testing.T, c *counter.Counter, m *model, clock *clock, site counter.Site, precision float64) {
	t.Helper()
	local := clock.Now().In(site.Zone)
	year, week := local.ISOWeek()
	errs := 0.0 // sum of the HyperLogLogs' relative errors
	pages := 0
	for n := range 60 {
		page := fmt.Sprintf("/bài/%d", n)
		want := m.page(site.ID, page)
		got := must[counter.Stats](t)(c.Stats(t.Context(), site, page))
		totals := map[counter.Kind]int64{
			counter.View: got.Views, counter.Click: got.Clicks, counter.Conversion: got.Conversions,
		}
		for kind, total := range totals {
			if total != want.totals[kind] {
				t.Errorf("%s %s: %d %ss, want %d", site.UniqueMethod, page, total, kind, want.totals[kind])
			}
			compareSeries(t, c, want, site, page, kind)
		}
		f := must[counter.Funnel](t)(c.Funnel(t.Context(), site, page))
		if f != (counter.Funnel{
			Views: want.funnel[counter.View], Clicks: want.funnel[counter.Click],
			Conversions: want.funnel[counter.Conversion],
		}) {
			t.Errorf("%s %s: funnel %+v, want %v", site.UniqueMethod, page, f, want.funnel)
		}
		compareValues(t, c, want, site, page)
		if filtered := filteredOf(t, c, site, page); !maps.Equal(filtered, want.filtered) {
			t.Errorf("%s %s: filtered %v, want %v", site.UniqueMethod, page, filtered, want.filtered)
		}
		allTime := len(want.all)
		if site.UniqueMethod == counter.SetPerDay {
			allTime = 0
			for _, day := range want.day {
				allTime += len(day)
			}
		}
		uniques := counter.Uniques{
			Day: int64(len(want.day[local.Format(time.DateOnly)])), Week: int64(len(want.week[fmt.Sprint(year, week)])),
			AllTime: int64(allTime),
		}
		if site.UniqueMethod == counter.HyperLogLog {
			errs += off(got.Uniques.AllTime, uniques.AllTime) + off(got.Uniques.Week, uniques.Week) +
				off(got.Uniques.Day, uniques.Day)
			pages += 3
			missed := func(got, want int64) bool { // with few visitors, one or two may collide
				return math.Abs(float64(got-want)) > 2+2*precision*float64(want)
			}
			if missed(got.Uniques.AllTime, uniques.AllTime) || missed(got.Uniques.Week, uniques.Week) ||
				missed(got.Uniques.Day, uniques.Day) {
				t.Errorf("%s: uniques %+v, want %+v", page, got.Uniques, uniques)
			}
		} else if got.Uniques != uniques {
			t.Errorf("%s %s: uniques %+v, want %+v", site.UniqueMethod, page, got.Uniques, uniques)
		}
	}
	if pages > 0 && errs/float64(pages) > precision {
		t.Errorf("HyperLogLogs are off by %.1f %%, want %.0f at most", 100*errs/float64(pages), 100*precision)
	}
}

func off(got, want int64) float64 {
	if want == 0 {
		return float64(got)
	}
	return math.Abs(float64(got-want)) / float64(want)
}

func compareSeries(
	t *testing.T, c *counter.Counter, want *modelPage, site counter.Site, page string, kind counter.Kind,
) {
	t.Helper()
	for unit, layout := range map[counter.Unit]string{counter.ByHour: "2006-01-02 15", counter.ByDay: time.DateOnly} {
		series := must[[]counter.Bucket](t)(c.Series(t.Context(), site, page, kind, unit, 100))
		if limit := map[counter.Unit]int{
			counter.ByHour: counter.MaxHours,
			counter.ByDay:  counter.MaxDays,
		}[unit]; len(series) != limit {
			t.Fatalf("%d buckets by %s, want %d", len(series), unit, limit)
		}
		from := want.hours
		if unit == counter.ByDay {
			from = want.days
		}
		for _, bucket := range series {
			if n := from[bucket.Start.Format(layout)+string(kind)]; bucket.Count != n {
				t.Errorf("%s %s: %d %ss in the %s of %s, want %d", site.UniqueMethod, page, bucket.Count, kind, unit,
					bucket.Start, n)
			}
		}
	}
}

func compareValues(t *testing.T, c *counter.Counter, want *modelPage, site counter.Site, page string) {
	t.Helper()
	d := must[counter.Dimensions](t)(c.Dimensions(t.Context(), site, page))
	got := map[string]int64{}
	for name, values := range map[string]map[string]int64{
		"country": d.Country, "device": d.Device,
		"referrer": d.Referrer,
	} {
		for value, n := range values {
			got[name+" "+value] = n
		}
	}
	if !maps.Equal(got, want.values) {
		t.Errorf("%s %s: dimensions %v, want %v", site.UniqueMethod, page, got, want.values)
	}
}

// On Lord Howe Island, clocks are changed by half an hour. Each view is in one hour of the
// series, which has no gaps.
func TestSeries_ClocksChangedByHalfAnHour(t *testing.T) {
	t.Parallel()
	zone, err := timezone.Load("Australia/Lord_Howe")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]time.Time{
		"forward": time.Date(2026, 10, 3, 15, 30, 0, 0, time.UTC),
		"back":    time.Date(2026, 4, 4, 15, 0, 0, 0, time.UTC),
	} {
		clock := newClock()
		c := counter.New(enginetest.RedisClient(t, enginetest.Redis(t)), counter.Options{Now: clock.Now})
		site := newSite(t, counter.Set)
		site.Zone = zone
		views := 0
		for at := change.Add(-3 * time.Hour); !at.After(change.Add(3 * time.Hour)); at = at.Add(15 * time.Minute) {
			clock.set(at)
			views++
			count(t, c, view(site, "a", uint64(views), at))
		}
		aggregate(t, c)
		var counts []int64
		sum := 0
		for _, hour := range must[[]counter.Bucket](t)(c.Series(t.Context(), site, "a", counter.View, counter.ByHour,
			12)) {
			sum += int(hour.Count)
			if sum > 0 {
				counts = append(counts, hour.Count)
			}
		}
		if sum != views || slices.Contains(counts, 0) {
			t.Errorf("clocks go %s: got %v views by hour, want %d in all", name, counts, views)
		}
	}
}
