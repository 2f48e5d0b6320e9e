// Package plausible answers queries of Plausible's Stats API, versions 1 and 2, from
// reports (https://plausible.io/docs/stats-api).
//
// Plausible stores every event; Dateline stores counts by one dimension at a time.
// What counts cannot answer is refused with the reason.
package plausible

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/ingest"
	"dateline/internal/audience/report"
	"dateline/internal/infra/apperr"
)

// Reporter computes reports: report.Reporter.
type Reporter interface {
	Report(ctx context.Context, q report.Query) (report.Report, error)
}

// API answers queries.
type API struct {
	Reports Reporter
	Now     func() time.Time // nil: time.Now
}

func (a *API) today(s counter.Site) time.Time {
	now := time.Now()
	if a.Now != nil {
		now = a.Now()
	}
	if s.Zone != nil {
		return now.In(s.Zone)
	}
	return now.UTC()
}

// The metrics that can be computed.
const (
	visitors      = "visitors"
	visits        = "visits"
	pageviews     = "pageviews"
	viewsPerVisit = "views_per_visit"
	bounceRate    = "bounce_rate"
)

// otherMetrics lists the metrics of Plausible that cannot.
func otherMetrics() []string {
	return []string{
		"visit_duration", "events", "scroll_depth", "percentage", "conversion_rate",
		"group_conversion_rate", "average_revenue", "total_revenue", "time_on_page", "exit_rate",
	}
}

// The dimensions of time.
const (
	timeAuto  = "time"
	timeHour  = "time:hour"
	timeDay   = "time:day"
	timeWeek  = "time:week"
	timeMonth = "time:month"
)

func isTime(dimension string) bool {
	return dimension == timeAuto || strings.HasPrefix(dimension, "time:")
}

// tables maps the dimensions that are counted to tables of reports.
func tables() map[string]report.Table {
	return map[string]report.Table{
		"event:page": report.Pages, "visit:entry_page": report.EntryPages, "visit:source": report.Sources,
		"visit:channel":      report.Channels,
		"visit:utm_campaign": report.Campaigns, "visit:country": report.Countries, "visit:device": report.Devices,
		"visit:browser": report.Browsers,
		"visit:os":      report.Systems, "visit:referrer": report.Referrers,
	}
}

// filterName returns the name of the filter of a report by a table's values.
func filterName(t report.Table) string {
	switch t {
	case report.Pages, report.EntryPages:
		return report.PageFilter
	case report.Sources:
		return counter.Source
	case report.Channels:
		return counter.Channel
	case report.Campaigns:
		return counter.Campaign
	case report.Countries:
		return counter.Country
	case report.Devices:
		return counter.Device
	case report.Browsers:
		return counter.Browser
	case report.Systems:
		return counter.OS
	default:
		return ""
	}
}

// query is a query of either version.
type query struct {
	site      counter.Site
	from, to  counter.Day
	lastDay   bool // the last 24 hours instead
	metrics   []string
	dimension string // "": none
	filters   []filter
	compare   bool
}

// filter restricts a query to values of a dimension.
type filter struct {
	dimension string
	values    []string
}

// filtersBy returns the filter by a dimension; no dimension: there is none.
func (q query) filtersBy(dimension string) filter {
	for _, f := range q.filters {
		if f.dimension == dimension {
			return f
		}
	}
	return filter{}
}

// row is a row of a result, with a value per metric.
type row struct {
	value    string
	start    time.Time // of a period of time
	metrics  []float64
	previous []float64
}

// notComputable refuses a query.
func notComputable(field, message string) error {
	return &apperr.Error{
		Kind: apperr.KindNotComputable, Code: "report_not_computable", Message: message,
		Fields: []apperr.FieldError{{Field: field, Code: "not_computable", Message: message}},
	}
}

// invalid reports an invalid field, with the status of Plausible.
func invalid(field, message string) error {
	return &apperr.Error{
		Kind: apperr.KindNotComputable, Code: "invalid_request", Message: message,
		Fields: []apperr.FieldError{{Field: field, Code: "invalid", Message: message}},
	}
}

// maxRows is the maximum number of rows that a query sorts.
const maxRows = 10_000

// available lists the metrics that are counted for a query.
func (q query) available(by report.Table) (metrics []string, of string) {
	counted := []string{visitors, visits, pageviews, viewsPerVisit, bounceRate}
	groups := []string{q.dimension}
	pages := q.filtersBy("event:page")
	for _, f := range q.filters {
		groups = append(groups, f.dimension)
	}
	for _, group := range groups {
		var part []string
		switch group {
		case "":
			continue
		case "event:page":
			part = []string{visitors, pageviews}
			if len(pages.values) > 1 && q.dimension != "event:page" { // a visitor may have read several
				part = []string{pageviews}
			}
		case "visit:entry_page":
			part = []string{visits}
		case "visit:country", "visit:device":
			part = []string{visits, pageviews, viewsPerVisit}
			if pages.dimension != "" {
				part = []string{pageviews}
			}
		case "visit:referrer":
			part = []string{pageviews}
		default:
			if !isTime(group) {
				part = []string{visits}
			} else if by == report.Hours {
				part, group = []string{visits, pageviews, viewsPerVisit, bounceRate}, timeHour
			} else {
				continue
			}
		}
		of = group
		counted = slices.DeleteFunc(counted, func(m string) bool { return !slices.Contains(part, m) })
	}
	if q.lastDay {
		counted, of = slices.DeleteFunc(counted, func(m string) bool { return m == visitors }), cmp.Or(of, "hours")
	}
	return counted, of
}

// check refuses metrics that are not counted for the query.
func (q query) check(by report.Table) error {
	counted, of := q.available(by)
	for _, m := range q.metrics {
		switch {
		case slices.Contains(counted, m):
		case slices.Contains(otherMetrics(), m):
			return notComputable("metrics",
				fmt.Sprintf("Dateline does not compute %s for Plausible's API. Available metrics: visitors, visits, "+
					"pageviews, views_per_visit and bounce_rate.", m))
		case slices.Contains([]string{visitors, visits, pageviews, viewsPerVisit, bounceRate}, m):
			message := fmt.Sprintf("%s is not counted by %s, because readers are not stored. ", m, of)
			if len(counted) == 0 {
				return notComputable("metrics", message+"Remove the filter or the dimension.")
			}
			return notComputable("metrics", message+"Available: "+strings.Join(counted, ", ")+".")
		default:
			return invalid("metrics", fmt.Sprintf("%q is not a metric.", m))
		}
	}
	return nil
}

// run answers a query; grain is the dimension of time that it was grouped by.
func (a *API) run(ctx context.Context, q query) (rows []row, grain string, err error) {
	r := report.Query{Site: q.site, From: q.from, To: q.to, Limit: maxRows}
	if q.compare {
		r.Compare = report.PreviousPeriod
	}
	grain = q.grain()
	if err := q.prepare(&r, grain); err != nil {
		return nil, "", err
	}
	if err := q.check(r.By); err != nil {
		return nil, "", err
	}
	result, err := a.Reports.Report(ctx, r)
	if err != nil {
		return nil, "", err
	}
	switch {
	case q.dimension == "" && q.lastDay:
		rows = []row{{metrics: q.values(add(lastHours(result.Period.Series)))}}
	case q.dimension == "":
		one := row{metrics: q.values(result.Period.Totals)}
		if result.Compared != nil {
			one.previous = q.values(result.Compared.Totals)
		}
		rows = []row{one}
	case isTime(q.dimension):
		series := result.Period.Series
		switch {
		case q.lastDay:
			series = lastHours(series)
		case grain == timeWeek:
			series = weeks(series)
		}
		for _, b := range series {
			rows = append(rows, row{start: b.Start, metrics: q.values(b.Totals)})
		}
	default:
		for _, t := range result.Tables {
			for _, r := range t.Rows {
				rows = append(rows, row{value: toPlausible(q.dimension, r.Value), metrics: q.values(r.Totals)})
			}
		}
	}
	return rows, grain, nil
}

// grain returns the dimension of time that a query is grouped by; "" for none.
func (q query) grain() string {
	switch days := q.to - q.from + 1; {
	case !isTime(q.dimension):
		return ""
	case q.dimension != timeAuto:
		return q.dimension
	case q.lastDay || days == 1:
		return timeHour
	case days <= 92:
		return timeDay
	default:
		return timeMonth
	}
}

// prepare sets what a report is grouped and filtered by.
func (q query) prepare(r *report.Query, grain string) error {
	switch {
	case grain == timeHour || q.lastDay && (q.dimension == "" || grain != ""):
		r.By = report.Hours
	case q.lastDay:
		return notComputable("date_range", "Only hours are counted for the last 24 hours. Use a range of days.")
	case grain == timeDay || grain == timeWeek:
		r.By = report.Days
	case grain == timeMonth:
		r.By = report.Months
	case q.dimension == "":
		r.By = report.Days // a small table: only the totals are used
	default:
		t, ok := tables()[q.dimension]
		if !ok {
			return unknownDimension("dimensions", q.dimension)
		}
		r.By = t
	}
	for _, f := range q.filters {
		t, ok := tables()[f.dimension]
		if !ok || t == report.Referrers {
			return unknownDimension("filters", f.dimension)
		}
		for _, one := range f.values {
			value := fromPlausible(f.dimension, one)
			if filterName(t) == report.PageFilter {
				page, problem := ingest.PageName(value)
				if problem != nil {
					return invalid("filters", problem.Message)
				}
				value = page
			}
			r.Filters = r.Filters.With(filterName(t), value)
		}
	}
	return r.Filters.Check()
}

// unknownDimension refuses a dimension.
func unknownDimension(field, name string) error {
	var counted []string
	for known := range tables() {
		counted = append(counted, known)
	}
	slices.Sort(counted)
	return notComputable(field, fmt.Sprintf("Dateline does not count by %q. Use one of %s.", name,
		strings.Join(counted, ", ")))
}

// values returns the metrics of totals. Rates without a visit are 0.
func (q query) values(t report.Totals) []float64 {
	out := make([]float64, len(q.metrics))
	number := func(n *int64) float64 {
		if n == nil {
			return 0
		}
		return float64(*n)
	}
	for i, m := range q.metrics {
		switch m {
		case visitors:
			out[i] = number(t.Visitors)
		case visits:
			out[i] = number(t.Visits)
		case pageviews:
			out[i] = number(t.Views)
		case viewsPerVisit:
			if n := number(t.Visits); n > 0 {
				out[i] = math.Round(number(t.Views)/n*100) / 100
			}
		case bounceRate:
			if n := number(t.Visits); n > 0 {
				out[i] = math.Round((n - number(t.SecondViews)) / n * 100)
			}
		}
	}
	return out
}

// lastHours returns the last 24 hours of a series.
func lastHours(series []report.Bucket) []report.Bucket {
	return series[max(0, len(series)-24):]
}

// add sums up periods.
func add(series []report.Bucket) report.Totals {
	var days []report.DayTotals
	for _, b := range series {
		days = append(days, report.DayTotals{Totals: b.Totals})
	}
	return report.Sum(days)
}

// weeks groups days into weeks from Monday; the first one may be shorter.
func weeks(days []report.Bucket) []report.Bucket {
	var out []report.Bucket
	for len(days) > 0 {
		n := min(len(days), 7-(int(days[0].Start.Weekday())+6)%7)
		out = append(out, report.Bucket{Start: days[0].Start, Totals: add(days[:n])})
		days = days[n:]
	}
	return out
}
