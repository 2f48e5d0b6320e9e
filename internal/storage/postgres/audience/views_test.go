package audience_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/testing/storetest"
)

// counts returns the delta of a page's views in an hour.
func counts(page counter.PageID, hour time.Time, n int64) counter.Delta {
	day := counter.Day(hour.Unix() / 86400)
	return counter.Delta{
		PageID: page, UniqueMethod: counter.HyperLogLog,
		Hours:      []counter.HourDelta{{Kind: counter.View, Hour: hour, Day: day, Count: n}},
		Funnel:     []counter.HourDelta{{Kind: counter.View, Hour: hour, Day: day, Count: n - 1}},
		Dimensions: []counter.DimensionDelta{{Day: day, Dimension: counter.Country, Value: "VN", Count: n}},
		Filtered:   []counter.FilteredDelta{{Day: day, Reason: "bot", Count: 2}},
		Uniques:    []counter.DayUniques{{Day: day, Uniques: n, WeekToDate: n + 1}}, AllTime: n,
	}
}

func (n *newsroom) apply(batch uuid.UUID, deltas ...counter.Delta) bool {
	n.T.Helper()
	applied, err := n.Audience.Views.ApplyViewBatch(n.T.Context(), 3, batch, counter.Batch{Deltas: deltas})
	n.Must(err)
	return applied
}

func (n *newsroom) total(page counter.PageID) flush.Totals {
	n.T.Helper()
	all, err := n.Audience.Views.ViewTotals(n.T.Context(), []counter.PageID{page})
	n.Must(err)
	return all[page]
}

// number returns the result of a query.
func (n *newsroom) number(sql string, args ...any) (count int) {
	n.T.Helper()
	c, err := pgx.Connect(n.T.Context(), n.URL)
	n.Must(err)
	defer func() { _ = c.Close(n.T.Context()) }()
	n.Must(c.QueryRow(n.T.Context(), sql, args...).Scan(&count))
	return count
}

func (n *newsroom) rollUp() {
	n.T.Helper()
	for more := true; more; {
		var err error
		more, err = n.Audience.Views.RollUpViews(n.T.Context())
		n.Must(err)
	}
}

func TestApplyViewBatch_IsIdempotent(t *testing.T) {
	n := open(t)
	page := counter.PageID{Site: storetest.NewID(), Page: "a post"}
	hour := time.Now().UTC().Truncate(time.Hour)
	first, second := storetest.NewID(), storetest.NewID()
	// Out of order, and the first one twice.
	for _, c := range []struct {
		batch uuid.UUID
		n     int64
		want  bool
	}{{second, 200, true}, {first, 1000, true}, {first, 1000, false}, {second, 200, false}} {
		if got := n.apply(c.batch, counts(page, hour, c.n)); got != c.want {
			t.Errorf("the batch of %d was applied: %v", c.n, got)
		}
	}
	if got := n.total(page); got.Views != 1200 {
		t.Errorf("%+v", got)
	}
	for sql, want := range map[string]int{
		"select sum(count) from view_hours": 1200, "select sum(funnel) from view_hours": 1198,
		"select funnel_views from view_pages":    1198,
		"select sum(count) from view_dimensions": 1200, "select sum(count) from view_filtered": 4,
		// Snapshots: the larger one is correct, whichever was written last.
		"select uniques from view_pages": 1000, "select uniques from view_uniques": 1000,
		"select week from view_uniques":        1001,
		"select sum(counts) from view_batches": 1200,
	} {
		if got := n.number(sql); got != want {
			t.Errorf("%s: %d, want %d", sql, got, want)
		}
	}
	h, err := n.Audience.Views.ViewsHealth(t.Context())
	n.Must(err)
	got := fmt.Sprint(h.Batches, h.Counts, h.FlushedAt.IsZero(), h.Check == nil, h.Loss == nil)
	if want := "2 1200 false true true"; got != want {
		t.Errorf("batches, counts, no flush, no check, no loss: got %s, want %s", got, want)
	}
}

func TestApplyViewBatch_ManyPages(t *testing.T) {
	n := open(t)
	site, hour := storetest.NewID(), time.Now().UTC().Truncate(time.Hour)
	deltas := make([]counter.Delta, 12_001)
	for i := range deltas {
		deltas[i] = counts(counter.PageID{Site: site, Page: fmt.Sprint(i)}, hour, 2)
	}
	n.apply(storetest.NewID(), deltas...)
	if got := n.number("select sum(views) from view_pages"); got != 24_002 {
		t.Errorf("%d views", got)
	}
}

// A name that cannot be stored as text must not block a shard's flush.
func TestApplyViewBatch_SanitizesNames(t *testing.T) {
	n := open(t)
	site, hour := storetest.NewID(), time.Now().UTC().Truncate(time.Hour)
	odd := counts(counter.PageID{Site: site, Page: "a\xff\x00"}, hour, 2)
	odd.Dimensions[0].Value = "\x00"
	same := counts(counter.PageID{Site: site, Page: "a\xfe\x00"}, hour, 3)
	if !n.apply(storetest.NewID(), odd, same) || n.total(counter.PageID{Site: site, Page: "a??"}).Views != 5 {
		t.Error("the batch was not applied")
	}
}

func TestRollUpViews_AddsHoursOnce(t *testing.T) {
	n := open(t)
	page := counter.PageID{Site: storetest.NewID(), Page: "a post"}
	midnight := time.Date(2026, 10, 31, 0, 0, 0, 0, time.UTC)
	day := counter.Day(midnight.Unix() / 86400)
	check := func(when string, wantDays, wantMonths string) {
		t.Helper()
		days, err := n.Audience.Views.ViewDays(t.Context(), page, day, day+3)
		n.Must(err)
		months, err := n.Audience.Views.ViewMonths(t.Context(), page, time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC),
			time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
		n.Must(err)
		show := func(list []string) string { return fmt.Sprint(list) }
		var d, m []string
		for _, one := range days {
			d = append(d, fmt.Sprint(one.Start.Format("01-02"), "=", one.Count, "/", one.Funnel))
		}
		for _, one := range months {
			m = append(m, fmt.Sprint(one.Start.Format("01"), "=", one.Count, "/", one.Funnel))
		}
		if show(d) != wantDays || show(m) != wantMonths {
			t.Errorf("%s: %v and %v", when, d, m)
		}
	}
	n.apply(storetest.NewID(), counts(page, midnight, 5), counts(page, midnight.Add(23*time.Hour), 7),
		counts(page, midnight.Add(24*time.Hour), 11))
	check("before", "[10-31=12/10 11-01=11/10]", "[10=12/10 11=11/10]")
	n.rollUp()
	check("rolled up", "[10-31=12/10 11-01=11/10]", "[10=12/10 11=11/10]")
	n.rollUp()
	// A late batch, whose hours are already rolled up.
	n.apply(storetest.NewID(), counts(page, midnight, 100))
	check("late", "[10-31=112/109 11-01=11/10]", "[10=112/109 11=11/10]")
	n.rollUp()
	n.rollUp()
	check("late and rolled up", "[10-31=112/109 11-01=11/10]", "[10=112/109 11=11/10]")
	for sql, want := range map[string]int{
		"select sum(count) from view_days":   123,
		"select sum(count) from view_months": 123, "select sum(funnel) from view_months": 119,
		"select count(*) from view_hours_due": 0, "select count(*) from view_days_due": 0,
	} {
		if got := n.number(sql); got != want {
			t.Errorf("%s: %d, want %d", sql, got, want)
		}
	}
}

// A flush in progress while its hour is rolled up is not lost.
func TestRollUpViews_ConcurrentWithFlush(t *testing.T) {
	n := open(t)
	page := counter.PageID{Site: storetest.NewID(), Page: "a post"}
	hour := time.Now().UTC().Truncate(time.Hour)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 60 {
			if _, err := n.Audience.Views.ApplyViewBatch(t.Context(), 0, storetest.NewID(),
				counter.Batch{Deltas: []counter.Delta{counts(page, hour, 3)}}); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		n.rollUp()
	}
	n.rollUp()
	if got := n.number("select sum(count) from view_months"); got != 180 {
		t.Errorf("%d of 180 views reached the months", got)
	}
}

func TestViewPartitions_CreatedAheadAndDropped(t *testing.T) {
	n := open(t)
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	page := counter.PageID{Site: storetest.NewID(), Page: "a post"}
	n.Must(n.Audience.Views.CreateViewPartitions(t.Context(), now))
	n.Must(n.Audience.Views.CreateViewPartitions(t.Context(), now)) // again
	ahead := n.number("select count(*) from pg_inherits where inhparent = 'view_hours'::regclass")
	if ahead < 4 {
		t.Errorf("%d partitions of hours", ahead)
	}
	old, fresh := now.AddDate(0, 0, -100), now.AddDate(0, 0, -10)
	n.apply(storetest.NewID(), counts(page, old.Truncate(time.Hour), 5), counts(page, fresh.Truncate(time.Hour), 7))
	keep := flush.Retention{Hours: 90 * 24 * time.Hour, Days: 760 * 24 * time.Hour}
	n.Must(n.Audience.Views.DropExpiredViews(t.Context(), now, keep, nil))
	if got := n.number("select sum(count) from view_hours"); got != 12 {
		t.Errorf("%d: hours were dropped before they were days", got)
	}
	n.rollUp()
	n.Must(n.Audience.Views.DropExpiredViews(t.Context(), now, keep, nil))
	if got := n.number("select sum(count) from view_hours"); got != 7 {
		t.Errorf("%d views by the hour", got)
	}
	if got := n.number("select sum(count) from view_days"); got != 12 {
		t.Errorf("%d views by the day", got)
	}
	// A late batch recreates a dropped partition.
	if !n.apply(storetest.NewID(), counts(page, old.Truncate(time.Hour), 1)) || n.total(page).Views != 13 {
		t.Error("a late batch was not applied")
	}
}

// Partitions are created while reports read. A report that reads one table and then the others must not wait for
// partitions that wait for it.
func TestCreateViewPartitions_DoesNotDeadlockWithReports(t *testing.T) {
	n := open(t)
	for round := range 3 { // tables are created in any order
		report, err := n.Pool().Begin(t.Context())
		n.Must(err)
		t.Cleanup(func() { _ = report.Rollback(context.Background()) })
		read := func(table string) {
			_, err := report.Exec(t.Context(), "select count(*) from "+table)
			n.Must(err)
		}
		read("view_days")
		created := make(chan error, 1)
		go func() {
			created <- n.Audience.Views.CreateViewPartitions(t.Context(), time.Now().AddDate(2+round, 0, 0))
		}()
		for deadline := time.Now().Add(30 * time.Second); n.Count("select count(*) from pg_locks where not granted "+
			"and relation = 'view_days'::regclass") == 0; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the partitions did not wait for the report")
			}
		}
		for _, table := range []string{
			"view_hours", "view_months", "view_dimensions", "view_filtered", "view_uniques", "view_engagement",
		} {
			read(table)
		}
		n.Must(report.Rollback(t.Context()))
		n.Must(<-created)
	}
}

func TestDropExpiredViews_RetainsPendingBatches(t *testing.T) {
	n := open(t)
	page, hour := counter.PageID{Site: storetest.NewID(), Page: "a post"}, time.Now().UTC().Truncate(time.Hour)
	pending, flushed := storetest.NewID(), storetest.NewID()
	n.apply(pending, counts(page, hour, 5))
	n.apply(flushed, counts(page, hour, 5))
	n.Exec("update view_batches set applied_at = now() - interval '8 days'")
	n.Must(n.Audience.Views.DropExpiredViews(t.Context(), time.Now(), flush.Retention{}, []uuid.UUID{pending}))
	if n.number("select count(*) from view_batches") != 1 || n.apply(pending, counts(page, hour, 5)) {
		t.Error("the ledger row of a batch that Redis still has was deleted")
	}
}

func TestViewPageTotals_ForSeeding(t *testing.T) {
	n := open(t)
	site := storetest.NewID()
	hour := time.Now().UTC().Truncate(time.Hour)
	for _, name := range []string{"a", "b", "c"} {
		page := counter.PageID{Site: site, Page: name}
		n.apply(storetest.NewID(), counts(page, hour, 5), counts(page, hour.Add(-5*24*time.Hour), 7),
			counts(page, hour.Add(-60*24*time.Hour), 11))
	}
	n.rollUp()
	n.apply(storetest.NewID(), counts(counter.PageID{Site: site, Page: "b"}, hour, 100)) // not rolled up
	n.Must(n.Audience.Views.SaveViewSketches(t.Context(), []counter.PageID{{Site: site, Page: "b"}, {Site: site, Page: "c"}},
		[][]byte{{1, 2, 3}, nil}))
	due, err := n.Audience.Views.ViewSketchesDue(t.Context(), counter.PageID{}, 10)
	if n.Must(err); len(due) != 1 || due[0].Page != "a" {
		t.Errorf("%v are due", due)
	}
	first, err := n.Audience.Views.ViewPageTotals(t.Context(), counter.PageID{}, 2)
	n.Must(err)
	rest, err := n.Audience.Views.ViewPageTotals(t.Context(), first[len(first)-1].PageID, 2)
	n.Must(err)
	if len(first) != 2 || len(rest) != 1 || rest[0].Page != "c" {
		t.Fatalf("%v, %v", first, rest)
	}
	b := first[1]
	if got, want := fmt.Sprintf("%d %d %d %s %x", b.Views, b.Funnel.Views, b.Uniques, b.UniqueMethod,
		b.Sketch), "123 119 100 "+string(counter.HyperLogLog)+" 010203"; got != want {
		t.Errorf("views, funnel, uniques, method, sketch: got %s, want %s", got, want)
	}
	if rest[0].Sketch != nil {
		t.Errorf("sketch of a page without one: got %v, want nil", rest[0].Sketch)
	}
	if len(b.Hours) != 1 || b.Hours[0].Count != 105 || !b.Hours[0].Hour.Equal(hour) {
		t.Errorf("hours %+v", b.Hours)
	}
	days := map[counter.Day]int64{}
	for _, d := range b.Days {
		days[d.Day] = d.Count
	}
	if today := counter.Day(hour.Unix() / 86400); len(days) != 2 || days[today] != 105 || days[today-5] != 7 {
		t.Errorf("days %+v", b.Days)
	}
}

func TestWithFlushLock_IsExclusive(t *testing.T) {
	n := open(t)
	ok, err := n.Audience.Views.WithFlushLock(t.Context(), func(ctx context.Context) error {
		second, err := n.Audience.Views.WithFlushLock(ctx, func(context.Context) error { return nil })
		if second || err != nil {
			t.Errorf("a second one ran: %v", err)
		}
		return nil
	})
	if !ok || err != nil {
		t.Errorf("the first did not run: %v", err)
	}
	if ok, err = n.Audience.Views.WithFlushLock(t.Context(), func(context.Context) error { return nil }); !ok || err != nil {
		t.Errorf("the next did not run: %v", err)
	}
}
