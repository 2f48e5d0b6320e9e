package report_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/report"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/timezone"
)

// store has one view in each hour of the zone's clock. Everything else that it is asked
// for panics.
type store struct {
	report.Store
	now  time.Time
	zone *time.Location
}

func (s store) Time(context.Context) (time.Time, error)            { return s.now, nil }
func (s store) ReportUpdatedAt(context.Context) (time.Time, error) { return s.now, nil }

// views returns when the views of a range were.
func (s store) views(from, to time.Time) (all []time.Time) {
	for at := from.Truncate(quarter); at.Before(to); at = at.Add(quarter) {
		if !counter.HourAt(at, s.zone).Equal(counter.HourAt(at.Add(-quarter), s.zone)) {
			all = append(all, at)
		}
	}
	return all
}

const quarter = 15 * time.Minute

func (s store) ReportHours(_ context.Context, _ uuid.UUID, from, to time.Time) (rows []report.Bucket, err error) {
	for _, at := range s.views(from.Add(-time.Hour), to.Add(time.Hour)) {
		if hour := counter.HourAt(at, s.zone); !hour.Before(from) && hour.Before(to) {
			n := int64(1)
			rows = append(rows, report.Bucket{Start: hour, Totals: report.Totals{Views: &n}})
		}
	}
	return rows, nil
}

// ReportDays returns the hours of each day.
func (s store) ReportDays(_ context.Context, _ uuid.UUID, from, to counter.Day) (days []report.DayTotals, err error) {
	for d := from; d < to; d++ {
		n := int64(0)
		for _, at := range s.views(d.StartIn(s.zone), (d + 1).StartIn(s.zone)) {
			if at.Before(s.now) {
				n++
			}
		}
		if n > 0 {
			days = append(days, report.DayTotals{Day: d, Totals: report.Totals{Views: &n}})
		}
	}
	return days, nil
}

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	zone, err := timezone.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

func day(t *testing.T, text string) counter.Day {
	t.Helper()
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return counter.DayOf(at)
}

// A day on which clocks change has 23 or 25 hours, also where they change at midnight.
func TestReport_DaysOnWhichClocksChange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, day, first string
		hours            int
	}{
		{"Europe/Berlin", "2026-03-29", "2026-03-29T00:00:00+01:00", 23},
		{"Europe/Berlin", "2026-10-25", "2026-10-25T00:00:00+02:00", 25},
		{"Africa/Cairo", "2026-04-24", "2026-04-24T01:00:00+03:00", 23}, // midnight is skipped
		{"Africa/Cairo", "2026-10-29", "2026-10-29T00:00:00+03:00", 25}, // its last hour is repeated
		{"Africa/Cairo", "2026-10-30", "2026-10-30T00:00:00+02:00", 24},
		{"America/Havana", "2025-11-02", "2025-11-02T00:00:00-04:00", 25}, // its first hour is repeated
		{"Asia/Kolkata", "2026-11-01", "2026-11-01T00:00:00+05:30", 24},
		{"Asia/Kathmandu", "2026-11-01", "2026-11-01T00:00:00+05:45", 24},
		{"Australia/Lord_Howe", "2026-10-04", "2026-10-04T00:00:00+10:30", 24}, // half of the third hour is skipped
		{"Australia/Lord_Howe", "2026-04-05", "2026-04-05T00:00:00+11:00", 25}, // half of the second hour is repeated
	} {
		zone := location(t, c.zone)
		now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		r, err := (&report.Reporter{Store: store{now: now, zone: zone}}).Report(t.Context(),
			report.Query{
				Site: counter.Site{Zone: zone}, From: day(t, c.day), To: day(t, c.day), By: report.Hours,
				Limit: 100,
			})
		if err != nil {
			t.Fatal(err)
		}
		series := r.Period.Series
		if len(series) != c.hours || series[0].Start.In(zone).Format(time.RFC3339) != c.first {
			t.Errorf("%s in %s: got %d hours from %s, want %d from %s", c.day, c.zone, len(series),
				series[0].Start.In(zone).Format(time.RFC3339), c.hours, c.first)
		}
		views := int64(0)
		for _, b := range series {
			views += *b.Views
		}
		if want := int64(c.hours); views != want || *r.Period.Views != want {
			t.Errorf("%s in %s: got %d views by hour and %d in total, want %d", c.day, c.zone, views, *r.Period.Views,
				want)
		}
	}
}

// Today is a day of the site, and is compared with the same hours of another day.
func TestReport_TodayIsThatOfTheSite(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 16, 17, 30, 0, 0, time.UTC) // 0:30 on the 17th in Hanoi, 9:30 on the 16th in Los Angeles
	for _, c := range []struct{ zone, today, compared, until string }{
		{"Asia/Ho_Chi_Minh", "2026-11-17", "2026-11-16", "2026-11-16T00:30:00+07:00"},
		{"America/Los_Angeles", "2026-11-16", "2026-11-15", "2026-11-15T09:30:00-08:00"},
	} {
		zone := location(t, c.zone)
		reporter := &report.Reporter{Store: store{now: now, zone: zone}}
		query := report.Query{
			Site: counter.Site{Zone: zone}, From: day(t, c.today), To: day(t, c.today),
			By: report.Days, Compare: report.PreviousPeriod, Limit: 1,
		}
		r, err := reporter.Report(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Compared.From.Time().Format(time.DateOnly) + " " +
			r.Compared.Until.Format(time.RFC3339); got != c.compared+" "+c.until {
			t.Errorf("%s: compared with %s, want %s %s", c.zone, got, c.compared, c.until)
		}
		if now, before := *r.Period.Views, *r.Compared.Views; now != before {
			t.Errorf("%s: got %d views today and %d in the same hours of yesterday, want as many", c.zone, now, before)
		}
		query.From++
		query.To++
		var refused *apperr.Error
		if _, err := reporter.Report(t.Context(), query); !errors.As(err, &refused) ||
			refused.Fields[0].Field != "from" {
			t.Errorf("%s: tomorrow: got %v, want an error of the field from", c.zone, err)
		}
	}
}

// The compared period has as many days, whatever the lengths of months are.
func TestReport_ComparesAsManyDays(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		from, to string
		compare  report.Comparison
		want     string
	}{
		{"2026-02-01", "2026-02-28", report.PreviousPeriod, "2026-01-04 2026-01-31"}, // after a longer month
		{"2026-03-01", "2026-03-31", report.PreviousPeriod, "2026-01-29 2026-02-28"}, // after a shorter one
		{"2026-03-01", "2026-03-31", report.PreviousYear, "2025-03-02 2025-04-01"},   // the same weekdays
		{"2024-02-29", "2024-02-29", report.PreviousYear, "2023-03-02 2023-03-02"},
	} {
		r, err := (&report.Reporter{Store: store{now: now, zone: time.UTC}}).Report(t.Context(),
			report.Query{
				Site: counter.Site{Zone: time.UTC}, From: day(t, c.from), To: day(t, c.to), By: report.Days,
				Compare: c.compare, Limit: 1,
			})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Compared.From.Time().Format(time.DateOnly) + " " +
			r.Compared.To.Time().Format(time.DateOnly); got != c.want {
			t.Errorf("%s to %s: compared with %s, want %s", c.from, c.to, got, c.want)
		}
	}
}

// Every combination of a table and a filter that is not counted is refused with an
// explanation. The store would panic if it were asked.
func TestReport_RefusesWhatIsNotCounted(t *testing.T) {
	t.Parallel()
	all := []report.Table{
		report.Pages, report.EntryPages, report.Sources, report.Channels, report.Campaigns,
		report.Countries, report.Devices, report.Browsers,
		report.Systems, report.Referrers, report.Authors, report.Sections, report.Tags, report.Ages, report.Published,
		report.Events, report.Properties, report.Goals,
		report.Posts, report.PostAccounts, report.PostNetworks, report.Hours, report.Days, report.Months,
	}
	counted := map[string]string{
		"": "pages entry_pages sources channels campaigns countries devices browsers systems authors sections " +
			"tags ages published events goals posts post_accounts post_networks hours days months",
		"page":   "pages countries devices referrers days months",
		"author": "pages days months", "section": "pages days months", "tag": "pages days months",
		"event":  "properties days months",
		"source": "sources days months", "channel": "channels days months", "campaign": "campaigns days months",
		"country": "countries days months", "device": "devices days months", "browser": "browsers days months",
		"os":            "systems days months",
		"page country":  "pages countries days months",
		"device author": "pages devices days months",
		"section tag":   "pages days months",
		"page section":  "pages countries devices referrers days months",
	}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for names, want := range counted {
		var filters report.Filters
		for _, name := range strings.Fields(names) {
			filters = filters.With(name, "x").With(name, "y")
		}
		for _, table := range all {
			if strings.Contains(" "+want+" ", " "+string(table)+" ") {
				continue
			}
			_, err := (&report.Reporter{Store: store{now: now, zone: time.UTC}}).Report(t.Context(),
				report.Query{
					Site: counter.Site{Zone: time.UTC},
					From: day(t, "2026-11-01"), To: day(t, "2026-11-02"), By: table,
					Filters: filters, Limit: 1,
				})
			var refused *apperr.Error
			if !errors.As(err, &refused) || refused.Kind != apperr.KindNotComputable ||
				refused.Code != "report_not_computable" || !strings.Contains(refused.Message, " ") {
				t.Errorf("%s filtered by %q: got %v, want it refused with a reason", table, names, err)
			}
		}
	}
}

// Filters combine if what matches all of them is counted: pages, and what they are grouped by, with each other and
// with country or device. Every other combination is refused, and the report lists what can be added.
func TestFilters_Combine(t *testing.T) {
	t.Parallel()
	for filters, want := range map[string]string{
		"":                                  strings.Join(report.FilterNames(), " "),
		"channel:search":                    "channel",
		"source:zalo.me source:google.com":  "source",
		"browser:Safari":                    "browser",
		"event:signup":                      "event",
		"country:VN":                        "page country author section tag",
		"device:mobile device:tablet":       "page device author section tag",
		"page:/a":                           "page country device author section tag",
		"author:An":                         "page country device author section tag",
		"section:World tag:flood":           "page country device author section tag",
		"page:/a page:/b country:VN":        "page country author section tag",
		"tag:flood device:mobile author:An": "page device author section tag",
		"country:VN device:mobile page:/a":  "",
		"channel:search country:VN":         "",
		"event:signup page:/a":              "",
		"os:iOS browser:Safari":             "",
	} {
		parsed := report.ParseFilters(strings.Fields(filters))
		var refused *apperr.Error
		err := parsed.Check()
		if want == "" {
			if !errors.As(err, &refused) || refused.Fields[0].Code != "not_combinable" {
				t.Errorf("%s: got %v, want it refused", filters, err)
			}
			continue
		}
		if got := strings.Join(parsed.Combinable(), " "); err != nil || got != want {
			t.Errorf("%s: got %v and %q to add, want %q", filters, err, got, want)
		}
	}
	if got := report.ParseFilters([]string{"page:/a:b", "page:/a:b", "page:/c"}).Texts(); len(got) != 2 ||
		got[0] != "page:/a:b" {
		t.Errorf("texts: got %v, want both pages once", got)
	}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	_, err := (&report.Reporter{Store: store{now: now, zone: time.UTC}}).Report(t.Context(), report.Query{
		Site: counter.Site{Zone: time.UTC}, From: day(t, "2026-08-22"), To: day(t, "2026-11-20"), Limit: 1,
		Filters: report.ParseFilters([]string{"page:/a", "country:VN"}),
	})
	var refused *apperr.Error
	if !errors.As(err, &refused) || refused.Fields[0].Field != "from" {
		t.Errorf("a page and a country, 91 days: got %v, want an error of the field from", err)
	}
}

func (s store) ReportLast24Hours(
	_ context.Context, _ uuid.UUID, since, until time.Time,
) ([]report.RecentArticle, error) {
	hours, err := s.ReportHours(context.Background(), uuid.Nil, since, until)
	return []report.RecentArticle{{Views: int64(len(hours))}}, err
}

// The last 24 hours are hours of the site's clock, whenever they start.
func TestLast24Hours_AreHoursOfTheSitesClock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, now, since string }{
		{"Asia/Kolkata", "2026-11-20T10:15:00Z", "2026-11-19T10:30:00Z"},
		{"Asia/Kolkata", "2026-11-20T10:45:00Z", "2026-11-19T11:30:00Z"},
		{"Asia/Kathmandu", "2026-11-20T10:20:00Z", "2026-11-19T11:15:00Z"},
		{"Europe/Berlin", "2026-11-20T10:45:00Z", "2026-11-19T11:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		zone := location(t, c.zone)
		got, err := (&report.Reporter{Store: store{now: now, zone: zone}}).Last24Hours(t.Context(),
			counter.Site{Zone: zone}, 10)
		if err != nil {
			t.Fatal(err)
		}
		if since := got.Since.Format(time.RFC3339); since != c.since || got.Views != 24 {
			t.Errorf("%s at %s: got %d hours since %s, want 24 since %s", c.zone, c.now, got.Views, since, c.since)
		}
	}
}
