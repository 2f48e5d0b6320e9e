package report

import (
	"context"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/apperr"
)

const (
	// maxDays is the maximum number of days of a report.
	maxDays = 1_100
	// Ranges of up to maxHourDays have a series by hour, up to maxDayDays by day,
	// longer ones by month.
	maxHourDays, maxDayDays = 2, 92
	yearDays                = 364
	// maxSelectedPages is the maximum number of pages whose views a report adds up.
	maxSelectedPages = 10_000
)

// Report answers a query.
func (r *Reporter) Report(ctx context.Context, q Query) (Report, error) {
	now, err := r.Store.Time(ctx)
	if err != nil {
		return Report{}, err
	}
	zone := q.Site.Zone
	if zone == nil {
		zone = time.UTC
	}
	now = now.In(zone)
	if err := q.validate(dayOf(now)); err != nil {
		return Report{}, err
	}
	c := computation{Reporter: r, ctx: ctx, q: q, zone: zone, now: now}
	return c.run()
}

// computation is a report that is being computed.
type computation struct {
	*Reporter
	ctx  context.Context
	q    Query
	zone *time.Location
	now  time.Time
	// selected are the pages that the filters restrict the report to, unless it is the sum of stored totals.
	selected []int64
}

// selectPages finds the pages that the filters restrict the report to.
func (c *computation) selectPages() (err error) {
	fs := c.q.Filters
	if !fs.isOfPages() || fs.summedArticles().Name != "" {
		return nil
	}
	c.selected, err = c.Store.ReportSelection(c.ctx, c.q.Site.ID, fs.selection(), maxSelectedPages+1)
	if err == nil && len(c.selected) > maxSelectedPages {
		return notComputable(apperr.Field("filter", "too_many_matches", "More than {max} pages match these filters. "+
			"Add a filter, or use fewer values.", maxSelectedPages))
	}
	return err
}

func (c *computation) run() (Report, error) {
	q := c.q
	out := Report{Query: q, Grain: grainOf(q)}
	names := []Table{q.By}
	if q.By == "" {
		names = siteTables()
		if q.Filters.has(EventFilter) {
			names = append(names, Properties)
		}
		if q.Filters.has(PageFilter) {
			names = append(names, Referrers)
		}
	}
	var available, byDimension []Table
	for _, t := range names {
		if gap := q.unavailable(t, dayOf(c.now)); gap != nil {
			out.Unavailable = append(out.Unavailable, *gap)
			continue
		}
		available = append(available, t)
		if t.dimension() != "" {
			byDimension = append(byDimension, t)
		}
	}
	if err := c.selectPages(); err != nil {
		return out, err
	}
	// The parts are independent, and Postgres reads them concurrently.
	var r readings
	parent := c.ctx
	g, ctx := errgroup.WithContext(parent)
	c.ctx = ctx
	g.Go(func() (err error) { out.UpdatedAt, err = c.Store.ReportUpdatedAt(ctx); return err })
	g.Go(func() (err error) { out.Period, err = c.period(q.From, q.To, out.Grain, c.now); return err })
	shift := q.shift()
	if c.compares() {
		g.Go(func() error {
			compared, err := c.period(q.From-shift, q.To-shift, out.Grain, c.now.AddDate(0, 0, -int(shift)))
			out.Compared = &compared
			return err
		})
	}
	if len(byDimension) > 0 {
		g.Go(func() (err error) { r.dimensions, err = c.dimensions(byDimension, q.From, q.To+1); return err })
		if c.comparesTables() {
			g.Go(func() (err error) {
				r.dimensionsBefore, err = c.dimensions(byDimension, q.From-shift, q.To+1-shift)
				return err
			})
		}
	}
	if slices.Contains(available, Pages) || slices.Contains(available, EntryPages) {
		g.Go(func() error { return c.pages(&r) })
	}
	if dimension := q.By.articleDimension(); dimension != "" {
		g.Go(func() error { return c.articles(dimension, &r) })
	}
	if slices.Contains(available, Events) || slices.Contains(available, Properties) ||
		slices.Contains(available, Goals) {
		g.Go(func() error { return c.events(available[len(available)-1], &r) })
	}
	if by := q.By.postColumn(); by != "" {
		g.Go(func() error { return c.posts(by, &r) })
	}
	if q.By == Published {
		g.Go(func() error { return c.published(&r) })
	}
	if err := g.Wait(); err != nil {
		return out, err
	}
	c.ctx = parent
	if err := c.completePages(&r); err != nil {
		return out, err
	}
	for _, t := range available {
		out.Tables = append(out.Tables, c.table(t, r, &out))
	}
	return out, nil
}

// readings are the rows of tables, and those of the compared period.
type readings struct {
	dimensions, dimensionsBefore map[string][]Row
	pages, pagesBefore           []Row
	articles, articlesBefore     []Row // by author, section, tag or age
	withoutArticle               int64 // views
	events                       []Row // events, properties or goals
	posts                        []Row
}

// shift returns the number of days between a report's days and the compared ones.
func (q Query) shift() counter.Day {
	if q.Compare == PreviousYear {
		return yearDays
	}
	return q.To - q.From + 1
}

func grainOf(q Query) Table {
	days := q.To - q.From + 1
	switch {
	case q.By.isTime():
		return q.By
	case days <= maxHourDays && len(q.Filters) == 0:
		return Hours
	case days <= maxDayDays:
		return Days
	default:
		return Months
	}
}

// period reads the totals and the series of a range. If the report's last day is
// today, until is the current time, or the same time of the compared day: only
// hours that have begun by then are included.
func (c *computation) period(from, to counter.Day, grain Table, until time.Time) (Period, error) {
	p := Period{From: from, To: to}
	days, err := c.days(from, to+1)
	if err != nil {
		return p, err
	}
	// Filtered counts have no hours: the whole compared day is included then.
	if today := dayOf(c.now); c.q.To >= today && (dayOf(until) == today || len(c.q.Filters) == 0) {
		p.Until = &until
		if days, err = c.cut(days, until); err != nil {
			return p, err
		}
	}
	p.Totals = Sum(days)
	for _, d := range days {
		if d.IsImported {
			p.Imported = &d.Day
		}
	}
	switch grain {
	case Hours:
		p.Series, err = c.hours(from, to, until)
	case Days:
		p.Series = fill(days, from, to, func(d counter.Day) counter.Day { return d + 1 },
			func(d counter.Day) counter.Day { return d })
	default:
		p.Series = fill(days, monthOf(from), to, nextMonth, monthOf)
	}
	if c.q.Filters.has(EventFilter) { // nothing else is counted by event
		p.Totals = eventsOnly(p.Totals)
		for i := range p.Series {
			p.Series[i].Totals = eventsOnly(p.Series[i].Totals)
		}
	}
	return p, err
}

// days reads the totals by day with the report's filters; a day may be in several parts.
func (c *computation) days(from, to counter.Day) ([]DayTotals, error) {
	fs, site := c.q.Filters, c.q.Site.ID
	if f := fs.summedArticles(); f.Name != "" {
		return c.Store.ReportArticleDays(c.ctx, site, f.Name, f.Values, from, to)
	}
	switch {
	case len(fs) == 0:
		return c.Store.ReportDays(c.ctx, site, from, to)
	case fs.isOfPages():
		return c.pagesDays(from, to)
	case fs.has(EventFilter):
		return c.Store.ReportEventDays(c.ctx, site, fs.values(EventFilter), from, to)
	default:
		return c.Store.ReportValueDays(c.ctx, site, fs[0].Name, fs[0].Values, from, to)
	}
}

// pagesDays reads the totals of the selected pages by day.
func (c *computation) pagesDays(from, to counter.Day) (days []DayTotals, err error) {
	if d := c.q.Filters.pageDimension(); d.Name != "" {
		found, err := c.Store.ReportPagesValueDays(c.ctx, c.selected, d.Name, d.Values, from, to)
		for _, v := range found {
			days = append(days, v.DayTotals)
		}
		return days, err
	}
	days, err = c.Store.ReportPagesDays(c.ctx, c.q.Site.ID, c.selected, from, to)
	if !c.q.Filters.has(PageFilter) {
		return days, err
	}
	for i := range days {
		// A page is viewed once in a visit: opened again within the same time, it is the same view. Other products
		// count each opening. Two pages may be opened in one visit, and by one visitor.
		if days[i].Visits = days[i].Views; days[i].IsImported {
			days[i].Visits = nil
		}
		if len(c.q.Filters.values(PageFilter)) > 1 {
			days[i].Visits, days[i].Visitors = nil, nil
		}
	}
	return days, err
}

// cut limits the last day to the hours that have begun at a time.
func (c *computation) cut(days []DayTotals, until time.Time) ([]DayTotals, error) {
	last := dayOf(until)
	days = slices.DeleteFunc(days, func(d DayTotals) bool { return d.Day > last })
	if last == dayOf(c.now) { // later hours are empty
		return days, nil
	}
	days = slices.DeleteFunc(days, func(d DayTotals) bool { return d.Day == last })
	hours, err := c.Store.ReportHours(c.ctx, c.q.Site.ID, c.midnight(last), until)
	if err != nil || len(hours) == 0 {
		return days, err
	}
	var visitors *int64 // of the day up to the hour, so the last one counts
	day := make([]DayTotals, len(hours))
	for i, h := range hours {
		if h.Visitors != nil {
			visitors = larger(visitors, h.Visitors)
		}
		h.Visitors = nil
		day[i] = DayTotals{Day: last, Totals: h.Totals}
	}
	total := Sum(day)
	total.Visitors = visitors
	return append(days, DayTotals{Day: last, Totals: total}), nil
}

func larger(a, b *int64) *int64 {
	if a == nil || *b > *a {
		return b
	}
	return a
}

func (c *computation) midnight(d counter.Day) time.Time { return d.StartIn(c.zone) }

// hours returns a series by hour, zeros included.
func (c *computation) hours(from, to counter.Day, until time.Time) ([]Bucket, error) {
	start, end := c.midnight(from), c.midnight(to+1)
	if end.After(until) {
		end = until
	}
	rows, err := c.Store.ReportHours(c.ctx, c.q.Site.ID, start, end)
	if err != nil {
		return nil, err
	}
	found := map[int64]Totals{}
	for _, row := range rows {
		row.Visitors = nil // of the day up to the hour, not of the hour
		found[row.Start.Unix()] = row.Totals
	}
	var series []Bucket
	// Where clocks are changed by half an hour, the next hour starts sooner or later.
	for at, last := start, (time.Time{}); at.Before(end); at = at.Add(15 * time.Minute) {
		hour := counter.HourAt(at, c.zone)
		if hour.Equal(last) {
			continue
		}
		last = hour
		totals, ok := found[hour.Unix()]
		if !ok {
			totals = zeroHour()
		}
		series = append(series, Bucket{at, totals})
	}
	return series, nil
}

func zeroHour() Totals {
	n := int64(0)
	return Totals{
		Views: &n, Visits: &n, SecondViews: &n, EngagedVisits: &n, Recirculation: &n, Clicks: &n,
		Conversions: &n,
	}
}

func monthOf(d counter.Day) counter.Day {
	y, m, _ := d.Time().Date()
	return dayOf(time.Date(y, m, 1, 0, 0, 0, 0, time.UTC))
}

func nextMonth(d counter.Day) counter.Day { return dayOf(d.Time().AddDate(0, 1, 0)) }

// fill groups days into a series, zeros included.
func fill(days []DayTotals, from, to counter.Day, next, start func(counter.Day) counter.Day) []Bucket {
	groups := map[counter.Day][]DayTotals{}
	for _, d := range days {
		groups[start(d.Day)] = append(groups[start(d.Day)], d)
	}
	var series []Bucket
	for d := from; d <= to; d = next(d) {
		series = append(series, Bucket{d.Time(), Sum(groups[d])})
	}
	return series
}

// Sum adds up days. A number that is unknown on one day is unknown.
func Sum(days []DayTotals) Totals {
	if len(days) == 0 {
		t := zeroHour()
		t.Visitors = t.Views
		return t
	}
	all := Totals{}
	for _, f := range []func(*Totals) **int64{
		func(t *Totals) **int64 { return &t.Views }, func(t *Totals) **int64 { return &t.Visitors },
		func(t *Totals) **int64 { return &t.Visits },
		func(t *Totals) **int64 { return &t.SecondViews }, func(t *Totals) **int64 { return &t.EngagedVisits },
		func(t *Totals) **int64 { return &t.Recirculation },
		func(t *Totals) **int64 { return &t.Clicks }, func(t *Totals) **int64 { return &t.Conversions },
		func(t *Totals) **int64 { return &t.SocialViews }, func(t *Totals) **int64 { return &t.Events },
	} {
		total, known := int64(0), true
		for i := range days {
			n := *f(&days[i].Totals)
			if known = known && n != nil; !known {
				break
			}
			total += *n
		}
		if known {
			*f(&all) = &total
		}
	}
	for i := range days {
		all.Engagement = all.Engagement.Plus(days[i].Engagement)
	}
	return all
}
