package report

import (
	"cmp"
	"slices"

	"dateline/internal/audience/counter"
)

// table returns a table from the readings.
func (c *computation) table(t Table, r readings, out *Report) TableResult {
	switch {
	case t.isTime():
		return c.timeTable(t, out)
	case t == Pages:
		return c.pageTable(t, "views", r, out.Period.Views, func(t Totals) *int64 { return t.Views })
	case t.postColumn() != "":
		return TableResult{By: t, Metric: "clicks", Rows: r.posts}
	case t == Events || t == Properties:
		return TableResult{By: t, Metric: "events", Rows: r.events}
	case t == Goals:
		return TableResult{By: t, Metric: "conversions", Rows: r.events}
	case t == Published:
		return c.pageTable(t, "views", r, nil, func(t Totals) *int64 { return t.Views })
	case t.articleDimension() != "":
		return c.articleTable(t, r)
	case t == EntryPages:
		return c.pageTable(t, "visits", r, out.Period.Visits, func(t Totals) *int64 { return t.Visits })
	default:
		return c.dimensionTable(t, r.dimensions[t.dimension()], r.dimensionsBefore[t.dimension()], out)
	}
}

// posts reads the posts, and the clicks in the compared period.
func (c *computation) posts(by string, r *readings) (err error) {
	from, to := c.q.From, c.q.To+1
	if r.posts, err = c.Store.ReportPosts(c.ctx, c.q.Site.ID, by, from, to, c.q.Limit); err != nil ||
		!c.comparesTables() {
		return err
	}
	shift := c.q.shift()
	before, err := c.Store.ReportPosts(c.ctx, c.q.Site.ID, by, from-shift, to-shift, maxPosts)
	if err != nil {
		return err
	}
	clicks := map[string]int64{}
	for _, row := range before {
		clicks[row.Value] = *row.Clicks
	}
	for i := range r.posts {
		n := clicks[r.posts[i].Value]
		r.posts[i].Previous = &n
	}
	return nil
}

// maxPosts exceeds the number of posts with clicks in a period.
const maxPosts = 1_000_000

// comparesTables reports whether rows have a previous number. Pages and
// dimensions have no hours, so an unfinished day alone is not compared.
func (c *computation) comparesTables() bool {
	return c.compares() && (c.q.From != c.q.To || c.q.To < dayOf(c.now))
}

// compares reports whether the report is compared: what is deleted would look like a rise from zero.
func (c *computation) compares() bool {
	return c.q.Compare != "" &&
		(c.q.Filters.pageDimension().Name == "" || c.retainsPageDimensions(c.q.From-c.q.shift()))
}

// retainsPageDimensions reports whether the dimensions of pages are retained from a day on.
func (c *computation) retainsPageDimensions(from counter.Day) bool {
	return dayOf(c.now)-from < counter.Day(PageDimensionDays)
}

func (c *computation) dimensions(tables []Table, from, to counter.Day) (map[string][]Row, error) {
	fs := c.q.Filters
	if d := fs.pageDimension(); d.Name != "" {
		days, err := c.Store.ReportPagesValueDays(c.ctx, c.selected, d.Name, d.Values, from, to)
		return map[string][]Row{d.Name: sumValues(days)}, err
	}
	if fs.has(PageFilter) {
		if !c.retainsPageDimensions(from) {
			return map[string][]Row{}, nil
		}
		return c.Store.ReportPagesDimensions(c.ctx, c.selected, from, to)
	}
	var names []string
	for _, t := range tables {
		names = append(names, t.dimension())
	}
	found, err := c.Store.ReportDimensions(c.ctx, c.q.Site.ID, names, from, to)
	for _, f := range fs { // the table of the filter's dimension has its values
		isOther := func(r Row) bool { return !slices.Contains(f.Values, r.Value) }
		found[f.Name] = slices.DeleteFunc(found[f.Name], isOther)
	}
	return found, err
}

// sumValues adds up the days of each value, the most viewed first.
func sumValues(days []ValueDay) (rows []Row) {
	sums := map[string][]DayTotals{}
	for _, d := range days {
		sums[d.Value] = append(sums[d.Value], d.DayTotals)
	}
	for value, parts := range sums {
		rows = append(rows, Row{Value: value, Totals: Sum(parts)})
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(*b.Views, *a.Views), cmp.Compare(a.Value, b.Value))
	})
	return rows
}

func (c *computation) dimensionTable(t Table, rows, previous []Row, out *Report) TableResult {
	table := TableResult{By: t, Metric: "visits", Rows: rows}
	metric, total := func(r Totals) *int64 { return r.Visits }, out.Period.Visits
	if c.q.Filters.isOfPages() {
		table.Metric, metric, total = "views", func(r Totals) *int64 { return r.Views }, out.Period.Views
	}
	c.finish(&table, metric, total, previous)
	if t == Campaigns || len(c.q.Filters) > 0 {
		table.Rest = nil // most visits have no campaign; a page's dimensions may be missing
	}
	return table
}

// pages reads the pages of the report, and the same ones in the compared period.
func (c *computation) pages(r *readings) (err error) {
	days := c.pageRange(c.q.From, c.q.To+1)
	f := c.q.Filters.summedArticles()
	switch {
	case f.Name != "":
		r.pages, err = c.Store.ReportArticlePages(c.ctx, c.q.Site.ID, f.Name, f.Values, days, c.q.Limit)
	case c.q.Filters.isOfPages():
		r.pages, err = c.selectedPages(c.selected, c.q.From, c.q.To+1)
	default:
		r.pages, err = c.Store.ReportPages(c.ctx, c.q.Site.ID, days, c.q.Limit)
	}
	if err != nil || !c.comparesTables() {
		return err
	}
	names := make([]string, len(r.pages))
	for i, row := range r.pages {
		names[i] = row.Value
	}
	shift := c.q.shift()
	if f.Name == "" && c.q.Filters.isOfPages() {
		shown, err := c.Store.ReportSelection(c.ctx, c.q.Site.ID, Selection{Pages: names}, c.q.Limit)
		if err == nil {
			r.pagesBefore, err = c.selectedPages(shown, c.q.From-shift, c.q.To+1-shift)
		}
		return err
	}
	r.pagesBefore, err = c.Store.ReportNamedPages(c.ctx, c.q.Site.ID, c.pageRange(c.q.From-shift, c.q.To+1-shift),
		names)
	return err
}

// selectedPages reads the most viewed ones of some pages.
func (c *computation) selectedPages(pages []int64, from, to counter.Day) ([]Row, error) {
	if d := c.q.Filters.pageDimension(); d.Name != "" {
		return c.Store.ReportPagesValueTable(c.ctx, pages, d.Name, d.Values, from, to, c.q.Limit)
	}
	return c.Store.ReportPagesTable(c.ctx, c.q.Site.ID, pages, from, to, c.q.Limit)
}

func (c *computation) pageTable(
	t Table, name string, r readings, total *int64, metric func(Totals) *int64,
) TableResult {
	table := TableResult{By: t, Metric: name, Rows: slices.Clone(r.pages)}
	slices.SortFunc(table.Rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(*metric(b.Totals), *metric(a.Totals)), cmp.Compare(a.Value, b.Value))
	})
	c.finish(&table, metric, total, r.pagesBefore)
	return table
}

// pageRange returns a range with the completed months in it.
func (c *computation) pageRange(from, to counter.Day) PageRange {
	r := PageRange{From: from, To: to, FromMonth: monthOf(from)}
	if r.FromMonth < from {
		r.FromMonth = nextMonth(r.FromMonth)
	}
	r.ToMonth = min(monthOf(to), monthOf(dayOf(c.now)))
	if r.ToMonth <= r.FromMonth { // no complete month
		r.FromMonth, r.ToMonth = to, to
	}
	return r
}

// finish limits a table's rows, and adds the rest and the previous numbers.
func (c *computation) finish(t *TableResult, metric func(Totals) *int64, total *int64, previous []Row) {
	if len(t.Rows) > c.q.Limit {
		t.Rows = t.Rows[:c.q.Limit]
	}
	before := map[string]*int64{}
	for _, row := range previous {
		before[row.Value] = metric(row.Totals)
	}
	shown := int64(0)
	for i := range t.Rows {
		row := &t.Rows[i]
		if n := metric(row.Totals); n != nil {
			shown += *n
		}
		if c.comparesTables() {
			// A page that no list has may have been read.
			if row.Previous = before[row.Value]; row.Previous == nil && c.isComplete(t.By) {
				zero := int64(0)
				row.Previous = &zero
			}
		}
	}
	if total != nil {
		rest := max(*total-shown, 0)
		t.Rest = &rest
	}
}

// isComplete reports whether a value without a previous number was not counted then.
func (c *computation) isComplete(t Table) bool {
	if t.dimension() != "" && c.q.Filters.isOfPages() {
		return c.retainsPageDimensions(c.q.From - c.q.shift())
	}
	return t.dimension() != "" || t.articleDimension() != ""
}

// timeTable returns the series as a table, in order of time.
func (c *computation) timeTable(t Table, out *Report) TableResult {
	table := TableResult{By: t, Metric: "views"}
	for i, b := range out.Period.Series {
		row := Row{Value: b.Start.Format(t.Layout()), Totals: b.Totals}
		if out.Compared != nil && i < len(out.Compared.Series) {
			row.Previous = out.Compared.Series[i].Views
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}
