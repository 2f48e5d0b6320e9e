package plausible

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"dateline/internal/audience/counter"
)

// V2 is a query of the Stats API, version 2 (https://plausible.io/docs/stats-api).
type V2 struct {
	Site       counter.Site
	Since      time.Time // the first day of "all"
	Metrics    []string
	DateRange  any // a name, or two dates
	Dimensions []string
	Filters    []any
	OrderBy    [][]string
	TimeLabels bool
	TotalRows  bool
	Limit      int // 0: maxRows
	Offset     int
}

// V2Row is a row of a result.
type V2Row struct {
	Metrics    []float64
	Dimensions []string
}

// V2Result is the result of a query.
type V2Result struct {
	Rows       []V2Row
	TimeLabels []string // if requested
	TotalRows  *int     // if requested
	// The query as it was understood.
	From, To time.Time
	OrderBy  [][]string
	Limit    int
}

// Query answers a query.
func (a *API) Query(ctx context.Context, in V2) (V2Result, error) {
	q := query{site: in.Site, metrics: in.Metrics}
	switch len(in.Dimensions) {
	case 0:
	case 1:
		q.dimension = in.Dimensions[0]
	default:
		return V2Result{}, notComputable("dimensions",
			"Visits are counted by one dimension at a time, without stored readers, so dimensions cannot be "+
				"combined. Use one.")
	}
	if len(q.metrics) == 0 {
		return V2Result{}, invalid("metrics", "Name at least one metric.")
	}
	if isTime(q.dimension) && !slices.Contains([]string{timeAuto, timeHour, timeDay, timeWeek, timeMonth},
		q.dimension) {
		return V2Result{}, unknownDimension("dimensions", q.dimension)
	}
	var err error
	if q.filters, err = v2Filters(in.Filters); err != nil {
		return V2Result{}, err
	}
	if err := a.v2Range(&q, in); err != nil {
		return V2Result{}, err
	}
	orders, err := q.orders(in.OrderBy)
	if err != nil {
		return V2Result{}, err
	}
	rows, grain, err := a.run(ctx, q)
	if err != nil {
		return V2Result{}, err
	}
	out := V2Result{OrderBy: orders, Limit: in.Limit, Rows: []V2Row{}}
	out.From, out.To = a.bounds(q)
	if out.Limit == 0 {
		out.Limit = maxRows
	}
	if grain != "" {
		rows, out.TimeLabels = q.labels(rows, grain)
		if !in.TimeLabels {
			out.TimeLabels = nil
		}
	}
	order(rows, q, orders)
	if in.TotalRows {
		n := len(rows)
		out.TotalRows = &n
	}
	rows = rows[min(len(rows), in.Offset):]
	for _, r := range rows[:min(len(rows), out.Limit)] {
		one := V2Row{Metrics: r.metrics, Dimensions: []string{}}
		if q.dimension != "" {
			one.Dimensions = append(one.Dimensions, r.value)
		}
		out.Rows = append(out.Rows, one)
	}
	return out, nil
}

// labels writes the periods of time and removes the empty ones.
func (q query) labels(rows []row, grain string) (nonEmpty []row, labels []string) {
	layout := time.DateOnly
	if grain == timeHour {
		layout = time.RFC3339
	}
	for _, r := range rows {
		r.value = r.start.Format(layout)
		labels = append(labels, r.value)
		if slices.ContainsFunc(r.metrics, func(n float64) bool { return n != 0 }) {
			nonEmpty = append(nonEmpty, r)
		}
	}
	return nonEmpty, labels
}

// bounds returns the first and the last second of a query's days.
func (a *API) bounds(q query) (from, to time.Time) {
	now := a.today(q.site)
	if q.lastDay {
		return now.Add(-24 * time.Hour).Truncate(time.Second), now.Truncate(time.Second)
	}
	return q.from.StartIn(now.Location()), (q.to + 1).StartIn(now.Location()).Add(-time.Second)
}

func (a *API) v2Range(q *query, in V2) error {
	day := a.today(in.Site)
	day = time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC)
	today := dayOf(day)
	const help = "Must be day, 24h, a number of days or months such as 7d or 6mo, month, year, all, or two dates " +
		"such as [\"2026-01-01\", \"2026-01-31\"]."
	switch value := in.DateRange.(type) {
	case string:
		switch value {
		case "24h":
			q.from, q.to, q.lastDay = today-1, today, true
			return nil
		case "all":
			q.from, q.to = min(dayOf(in.Since), today), today
			return nil
		}
		first, last, ok := span(value, day)
		if !ok {
			return invalid("date_range", help)
		}
		q.from, q.to = dayOf(first), min(dayOf(last), today)
		return nil
	case []any:
		if len(value) != 2 {
			return invalid("date_range", help)
		}
		var days [2]counter.Day
		for i, one := range value {
			text, _ := one.(string)
			if _, err := time.Parse(time.RFC3339, text); err == nil {
				return notComputable("date_range",
					"Dateline reports on whole days. Send two dates without times, or 24h.")
			}
			at, err := time.Parse(time.DateOnly, text)
			if err != nil {
				return invalid("date_range", help)
			}
			days[i] = dayOf(at)
		}
		q.from, q.to = days[0], min(days[1], today)
		return nil
	}
	return invalid("date_range", help)
}

// v2Filters parses filters, all of which have to match.
func v2Filters(filters []any) ([]filter, error) {
	if len(filters) > 0 {
		if _, ok := filters[0].(string); ok { // some clients send one filter instead of a list
			filters = []any{filters}
		}
	}
	var out []filter
	for _, one := range filters {
		parsed, err := v2Filter(one)
		if err != nil {
			return nil, err
		}
		out = append(out, parsed...)
	}
	return out, distinct(out)
}

// distinct refuses two filters by a dimension: a report counts what has one of its values, not what has both.
func distinct(filters []filter) error {
	seen := map[string]bool{}
	for _, f := range filters {
		if seen[f.dimension] {
			return notComputable("filters", fmt.Sprintf("Two filters by %s cannot be computed from counts. List the "+
				"values in one filter to count what has one of them.", f.dimension))
		}
		seen[f.dimension] = true
	}
	return nil
}

func v2Filter(one any) ([]filter, error) {
	const shape = `Must be a list such as ["is", "event:page", ["/blog"]].`
	parts, ok := one.([]any)
	if !ok || len(parts) < 2 {
		return nil, invalid("filters", shape)
	}
	operator, _ := parts[0].(string)
	switch operator {
	case "is":
	case "and":
		inner, ok := parts[1].([]any)
		if !ok {
			return nil, invalid("filters", shape)
		}
		return v2Filters(inner)
	case "is_not", "contains", "contains_not", "matches", "matches_not", "or", "not", "has_done", "has_not_done":
		return nil, notComputable("filters",
			fmt.Sprintf("Dateline filters by whole values with is; %s cannot be computed from counts.", operator))
	default:
		return nil, invalid("filters", shape)
	}
	dimension, _ := parts[1].(string)
	if len(parts) > 3 {
		return nil, notComputable("filters", "Dateline compares values exactly; remove the modifiers.")
	}
	if len(parts) < 3 || dimension == "" {
		return nil, invalid("filters", shape)
	}
	found := filter{dimension: dimension}
	values, _ := parts[2].([]any)
	for _, v := range values {
		value, ok := v.(string)
		if !ok || value == "" {
			return nil, invalid("filters", shape)
		}
		found.values = append(found.values, value)
	}
	if len(found.values) == 0 {
		return nil, invalid("filters", shape)
	}
	return []filter{found}, nil
}

// orders checks the requested order or returns the default one.
func (q query) orders(wanted [][]string) ([][]string, error) {
	for _, o := range wanted {
		if len(o) != 2 || o[1] != "asc" && o[1] != "desc" || o[0] != q.dimension && !slices.Contains(q.metrics, o[0]) {
			return nil, invalid("order_by",
				`Must list metrics or dimensions of the query, such as [["visits", "desc"]].`)
		}
	}
	switch {
	case len(wanted) > 0:
		return wanted, nil
	case isTime(q.dimension):
		return [][]string{{q.dimension, "asc"}}, nil
	default:
		return [][]string{{q.metrics[0], "desc"}}, nil
	}
}

// order sorts rows; without orders by the first metric, the largest first.
func order(rows []row, q query, orders [][]string) {
	if orders == nil {
		orders = [][]string{{q.metrics[0], "desc"}}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		for _, o := range orders {
			var n int
			if o[0] == q.dimension {
				n = cmp.Or(a.start.Compare(b.start), cmp.Compare(a.value, b.value))
			} else {
				i := slices.Index(q.metrics, o[0])
				n = cmp.Compare(a.metrics[i], b.metrics[i])
			}
			if o[1] == "desc" {
				n = -n
			}
			if n != 0 {
				return n
			}
		}
		return cmp.Compare(a.value, b.value)
	})
}
