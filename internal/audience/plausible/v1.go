package plausible

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"dateline/internal/audience/counter"
)

// V1 is a query of the Stats API, version 1 (https://plausible.io/docs/stats-api-v1).
// Empty fields have the defaults of the documentation.
type V1 struct {
	Site     counter.Site
	Period   string
	Date     string
	Metrics  string
	Filters  string
	Compare  string
	Interval string
	Property string
	Limit    int
	Page     int
}

// V1Value is the value of a metric and its change in percent.
type V1Value struct {
	Value  float64
	Change *float64
}

const previousPeriod = "previous_period"

// Aggregate returns totals.
func (a *API) Aggregate(ctx context.Context, in V1) (map[string]V1Value, error) {
	q, err := a.v1(in, "30d")
	if err != nil {
		return nil, err
	}
	if in.Compare != "" && in.Compare != previousPeriod {
		return nil, invalid("compare", "Must be previous_period.")
	}
	q.compare = in.Compare != ""
	rows, _, err := a.run(ctx, q)
	if err != nil {
		return nil, err
	}
	out := map[string]V1Value{}
	for i, m := range q.metrics {
		v := V1Value{Value: rows[0].metrics[i]}
		if q.compare {
			change := changeOf(m, rows[0].previous[i], v.Value)
			v.Change = &change
		}
		out[m] = v
	}
	return out, nil
}

// changeOf returns the change in percent, of rates in percentage points. From zero
// it is 100.
func changeOf(metric string, before, after float64) float64 {
	switch {
	case metric == bounceRate:
		return after - before
	case before == after:
		return 0
	case before == 0:
		return 100
	}
	return math.Round((after - before) / before * 100)
}

// Timeseries returns rows with a date and the metrics, empty dates included.
func (a *API) Timeseries(ctx context.Context, in V1) ([]map[string]any, error) {
	q, err := a.v1(in, "30d")
	if err != nil {
		return nil, err
	}
	switch in.Interval {
	case "":
		q.dimension = timeDay
		if in.Period == "6mo" || in.Period == "12mo" {
			q.dimension = timeMonth
		}
	case "date":
		q.dimension = timeDay
	case "month":
		q.dimension = timeMonth
	default:
		return nil, invalid("interval", "Must be date or month.")
	}
	rows, _, err := a.run(ctx, q)
	if err != nil {
		return nil, err
	}
	out := []map[string]any{}
	for _, r := range rows {
		one := map[string]any{"date": r.start.Format(time.DateOnly)}
		for i, m := range q.metrics {
			one[m] = r.metrics[i]
		}
		out = append(out, one)
	}
	return out, nil
}

// Breakdown returns rows by the values of a property.
func (a *API) Breakdown(ctx context.Context, in V1) ([]map[string]any, error) {
	q, err := a.v1(in, "30d")
	if err != nil {
		return nil, err
	}
	q.dimension = in.Property
	if isTime(q.dimension) {
		return nil, unknownDimension("property", q.dimension)
	}
	rows, _, err := a.run(ctx, q)
	if err != nil {
		return nil, err
	}
	order(rows, q, nil)
	limit, page := in.Limit, max(in.Page, 1)
	if limit == 0 {
		limit = 100
	}
	rows = rows[min(len(rows), limit*(page-1)):]
	rows = rows[:min(len(rows), limit)]
	_, name, _ := strings.Cut(q.dimension, ":")
	out := []map[string]any{}
	for _, r := range rows {
		one := map[string]any{name: r.value}
		for i, m := range q.metrics {
			one[m] = r.metrics[i]
		}
		out = append(out, one)
	}
	return out, nil
}

// v1 parses what all queries have in common.
func (a *API) v1(in V1, period string) (q query, err error) {
	q.site, q.metrics = in.Site, []string{visitors}
	if in.Metrics != "" {
		q.metrics = strings.Split(in.Metrics, ",")
	}
	if in.Period != "" {
		period = in.Period
	}
	if q.filters, err = v1Filters(in.Filters); err != nil {
		return q, err
	}
	day := a.today(in.Site)
	day = time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC)
	today := dayOf(day)
	if period == "custom" {
		from, to, ok := strings.Cut(in.Date, ",")
		first, err1 := time.Parse(time.DateOnly, from)
		last, err2 := time.Parse(time.DateOnly, to)
		if !ok || err1 != nil || err2 != nil {
			return q, invalid("date", "For the period custom, send two dates such as 2026-01-01,2026-01-31.")
		}
		q.from, q.to = dayOf(first), min(dayOf(last), today)
		return q, nil
	}
	if in.Date != "" {
		if day, err = time.Parse(time.DateOnly, in.Date); err != nil {
			return q, invalid("date", "Must be a date such as 2026-01-31.")
		}
	}
	first, last, ok := span(period, day)
	if !ok || strings.HasSuffix(period, "year") {
		return q, invalid("period", "Must be day, a number of days or months such as 7d or 6mo, month or custom.")
	}
	q.from, q.to = dayOf(first), min(dayOf(last), today)
	return q, nil
}

// span returns the first and the last day of a named period.
func span(period string, day time.Time) (first, last time.Time, ok bool) {
	month := time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
	count := func(suffix string) int {
		text, ok := strings.CutSuffix(period, suffix)
		n, err := strconv.Atoi(text)
		if !ok || err != nil || n < 1 || n > 1000 {
			return 0
		}
		return n
	}
	switch {
	case period == "day":
		return day, day, true
	case period == "month":
		return month, month.AddDate(0, 1, -1), true
	case period == "year":
		return time.Date(day.Year(), 1, 1, 0, 0, 0, 0, time.UTC), day, true
	case count("mo") > 0:
		return month.AddDate(0, 1-count("mo"), 0), month.AddDate(0, 1, -1), true
	case count("d") > 0:
		return day.AddDate(0, 0, 1-count("d")), day, true
	}
	return first, last, false
}

func dayOf(t time.Time) counter.Day { return counter.Day(t.Unix() / 86400) } //nolint:gosec // a day of the calendar

// v1Filters parses filters such as "visit:country==VN|LA;event:page==/blog": all of them have to match, with one of
// their values (https://plausible.io/docs/stats-api-v1#filtering). Backslashes keep a | within a value.
func v1Filters(text string) ([]filter, error) {
	if text == "" {
		return nil, nil
	}
	var out []filter
	for one := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(one, "==")
		switch {
		case strings.Contains(one, "!="):
			return nil, notComputable("filters", "Dateline cannot exclude values. Use a filter with ==.")
		case !ok || value == "":
			return nil, invalid("filters", "Must be a property, == and a value, such as event:page==/blog.")
		case strings.Contains(value, "*"):
			return nil, notComputable("filters", "Dateline filters by whole values: wildcards cannot be computed.")
		}
		const escaped = "\x00"
		found := filter{dimension: strings.TrimSpace(name)}
		for v := range strings.SplitSeq(strings.ReplaceAll(value, `\|`, escaped), "|") {
			if v == "" {
				return nil, invalid("filters", "Values must not be empty, such as in event:page==/blog|/about.")
			}
			found.values = append(found.values, strings.ReplaceAll(v, escaped, "|"))
		}
		out = append(out, found)
	}
	return out, distinct(out)
}
