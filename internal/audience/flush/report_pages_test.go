package flush_test

import (
	"maps"
	"testing"
	"time"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/report"
	"dateline/internal/testing/enginetest"
)

// A report lists pages from their first view on: before, between and after roll-ups the rows
// add up to the total.
func TestReport_ListsPagesFromTheFirstView(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.flush() // a new installation is seeded
	today := counter.DayAt(time.Now(), time.UTC)
	expect := func(when string, want map[string]int64) {
		t.Helper()
		for _, by := range []report.Table{report.Pages, report.EntryPages} {
			got, err := (&report.Reporter{Store: r.store.Audience.Reports}).Report(t.Context(), report.Query{
				Site: r.site, From: today - 6, To: today, By: by, Limit: 10,
			})
			r.must(err)
			views := map[string]int64{}
			for _, row := range got.Tables[0].Rows {
				views[row.Value] = *row.Views
				if *row.Visitors != *row.Views { // each view is of another reader
					t.Errorf("%s: %s of %s has %d visitors, want %d", when, by, row.Value, *row.Visitors, *row.Views)
				}
			}
			if !maps.Equal(views, want) {
				t.Errorf("%s: got %s %v, want %v", when, by, views, want)
			}
			if rest := got.Tables[0].Rest; rest == nil || *rest != 0 {
				t.Errorf("%s: the rest of %s is %v, want 0", when, by, rest)
			}
		}
	}
	r.view("/a", 5)
	r.view("/b", 2)
	r.flush()
	expect("before the first roll-up", map[string]int64{"/a": 5, "/b": 2})
	for more := true; more; {
		var err error
		more, err = r.store.Audience.Views.RollUpViews(t.Context())
		r.must(err)
	}
	expect("after a roll-up", map[string]int64{"/a": 5, "/b": 2})
	r.view("/a", 3)
	r.view("/c", 4)
	r.flush()
	expect("with newer views", map[string]int64{"/a": 8, "/b": 2, "/c": 4})
}
