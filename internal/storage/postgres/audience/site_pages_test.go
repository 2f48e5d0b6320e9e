package audience_test

import (
	"fmt"
	"testing"
	"time"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/report"
	"dateline/internal/testing/storetest"
)

// The list of a completed month has its 5,000 most viewed pages with their visitors
// and engaged time, and the sum of the others; a late batch changes it.
func TestRollUpViews_ListsThePagesOfACompletedMonth(t *testing.T) {
	t.Parallel()
	n := open(t)
	site := storetest.NewID()
	first := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	october := first.AddDate(0, 1, 0)
	deltas := make([]counter.Delta, 5_010)
	for i := range deltas {
		views := int64(2)
		if i < 10 {
			views = int64(100 - i)
		}
		deltas[i] = counts(counter.PageID{Site: site, Page: fmt.Sprintf("/%04d", i)},
			first.Add(time.Duration(i%2)*20*24*time.Hour), views)
	}
	for i := range 2 { // the first page is also read on another day
		e := counter.EngagementDelta{Day: counter.DayOf(first) + counter.Day(9*i)}
		for b := range 12 {
			e.Engaged[b] = int64(10 * (i + 1))
		}
		e.Scrolled[counter.ScrollSteps-1] = int64(i + 1)
		deltas[0].Engagement = append(deltas[0].Engagement, e)
	}
	again := counts(deltas[0].PageID, first.Add(9*24*time.Hour), 50)
	n.apply(storetest.NewID(), append(deltas, again)...)
	n.rollUp()
	total := int64(50 + 100*10 - 45 + 2*5_000)
	pages := func(from, to counter.Day) []report.Row {
		t.Helper()
		r, err := (&report.Reporter{Store: n.Store.Audience.Reports}).Report(t.Context(), report.Query{
			Site: counter.Site{ID: site}, From: from, To: to, By: report.Pages, Limit: 3,
		})
		n.Must(err)
		sum := *r.Tables[0].Rest
		for _, row := range r.Tables[0].Rows {
			sum += *row.Views
		}
		if sum != total {
			t.Errorf("the rows and the rest have %d views, want %d", sum, total)
		}
		return r.Tables[0].Rows
	}
	check := func(when, sql string, want int) {
		t.Helper()
		if got := n.number(sql, site); got != want {
			t.Errorf("%s: %s: got %d, want %d", when, sql, got, want)
		}
	}
	check("the list", "select count(*) from site_page_months where site_id = $1 and month = '2026-09-01'", 5_001)
	check("the list", "select sum(views) from site_page_months where site_id = $1 and month = '2026-09-01'", int(total))
	check("the others", "select views from site_page_months where site_id = $1 and month = '2026-09-01' and "+
		"page_id = 0", 2*10)
	show := func(rows []report.Row) (text string) {
		for _, r := range rows {
			text += fmt.Sprint(r.Value, " ", *r.Views, " ", *r.Visitors)
			if e := r.Engagement; e != nil {
				text += fmt.Sprint(" engaged ", e.Engaged[0], " completed ", e.Scrolled[counter.ScrollSteps-1])
			}
			text += "; "
		}
		return text
	}
	month, edge := show(pages(counter.DayOf(first), counter.DayOf(october)-1)), show(pages(counter.DayOf(first)-1,
		counter.DayOf(october)+1))
	want := "/0000 150 150 engaged 30 completed 3; /0001 99 99; /0002 98 98; "
	if month != want || edge != want {
		t.Errorf("the month has %s and a range around it %s, want %s", month, edge, want)
	}
	// By day, without the list of the month.
	if got := show(pages(counter.DayOf(first), counter.DayOf(october)-2)); got != want {
		t.Errorf("the days have %s, want %s", got, want)
	}
	n.apply(storetest.NewID(), counts(counter.PageID{Site: site, Page: "/5009"}, first, 500)) // late
	n.rollUp()
	total += 500
	if got := pages(counter.DayOf(first), counter.DayOf(october)-1)[0]; got.Value != "/5009" || *got.Views != 502 {
		t.Errorf("after a late batch, the first page is %s with %d views, want /5009 with 502", got.Value, *got.Views)
	}
}

// A day stores 200 values of a dimension. Further ones are added to other, also those
// of later batches; known values grow.
func TestApplyViewBatch_LimitsTheValuesOfADay(t *testing.T) {
	t.Parallel()
	n := open(t)
	site, hour := storetest.NewID(), time.Now().UTC().Truncate(time.Hour)
	day := counter.Day(hour.Unix() / 86400)
	visits := func(from, to int, count int64) {
		d := counts(counter.PageID{Site: site, Page: "/a"}, hour, 1)
		for i := from; i < to; i++ {
			d.Visits = append(d.Visits, counter.DimensionDelta{
				Day: day, Dimension: counter.Source, Value: fmt.Sprintf("source%03d.example", i), Count: count,
			})
		}
		n.apply(storetest.NewID(), d)
	}
	visits(0, 150, 3)
	visits(100, 260, 2) // fifty are known, fifty fit, sixty do not
	visits(250, 300, 1)
	for sql, want := range map[string]int{
		"select count(*) from site_dimension_days where site_id = $1 and dimension = 'source' and value " +
			"<> 'other'": 200,
		"select visits from site_dimension_days where site_id = $1 and dimension = 'source' and " +
			"value = 'other'": 60*2 + 50,
		"select visits from site_dimension_days where site_id = $1 and dimension = 'source' and value = " +
			"'source120.example'": 5,
		"select sum(visits) from site_dimension_days where site_id = $1 and dimension " +
			"= 'source'": 150*3 + 160*2 + 50,
		"select count(*) from site_dimension_days where site_id = $1 and dimension = 'country' and value = 'VN' and " +
			"visits = 0": 1,
	} {
		if got := n.number(sql, site); got != want {
			t.Errorf("%s: got %d, want %d", sql, got, want)
		}
	}
}
