package api

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	openapi_types "github.com/oapi-codegen/runtime/types"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/ingest"
	"dateline/internal/audience/report"
	"dateline/internal/audience/site"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/csvio"
	"dateline/internal/infra/optional"
)

// ReportHandler serves the reports of sites.
type ReportHandler struct {
	Sites   *site.Service
	Reports Reports
}

// Reports computes reports: report.Reporter.
type Reports interface {
	Report(ctx context.Context, q report.Query) (report.Report, error)
	Last24Hours(ctx context.Context, site counter.Site, limit int) (report.Last24Hours, error)
}

// Default numbers of rows.
const overviewRows, tableRows = 10, 100

// SiteReport reports on the readers of a site.
func (s *ReportHandler) SiteReport(
	ctx context.Context, r spec.SiteReportRequestObject,
) (spec.SiteReportResponseObject, error) {
	one, err := countedSite(ctx, s.Sites, r.Id)
	if err != nil {
		return nil, err
	}
	p := r.Params
	q := report.Query{
		Site: one, From: reportDay(p.From.Time), To: reportDay(p.To.Time),
		Compare: report.Comparison(optional.Value(p.Compare)), By: report.Table(optional.Value(p.By)),
		Limit: optional.Value(p.Limit),
	}
	if q.Limit == 0 {
		q.Limit = overviewRows
		if q.By != "" {
			q.Limit = tableRows
		}
	}
	if q.Filters, err = reportFilters(optional.Value(p.Filter)); err != nil {
		return nil, err
	}
	if q.By == report.Goals && one.ID != one.Workspace { // posts have no goals
		found, err := s.Sites.Get(ctx, principal(ctx), r.Id)
		if err != nil {
			return nil, err
		}
		for _, g := range found.Goals {
			q.Goals = append(q.Goals, report.Goal{Name: g.Name, Event: g.Event, Page: g.Page})
		}
	}
	isCSV := optional.Value(p.Format) == spec.SiteReportParamsFormatCsv
	if isCSV && q.By == "" {
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "by", Code: "required", Message: "CSV contains one table; name it with by.",
		})
	}
	result, err := s.Reports.Report(ctx, q)
	if err != nil {
		return nil, err
	}
	if isCSV {
		return reportCSV{result}, nil
	}
	return spec.SiteReport200JSONResponse{Body: reportJSON(result)}, nil
}

func reportDay(t time.Time) counter.Day { return counter.Day(t.Unix() / 86400) } //nolint:gosec // a day of the calendar

// reportFilters parses filters of the form "name:value".
func reportFilters(texts []string) (report.Filters, error) {
	var filters report.Filters
	for _, f := range report.ParseFilters(texts) {
		for _, text := range f.Values {
			if f.Name == report.PageFilter {
				page, problem := ingest.PageName(text)
				if problem != nil {
					problem.Field = "filter"
					return nil, apperr.InvalidFields(*problem)
				}
				text = page
			}
			filters = filters.With(f.Name, text)
		}
	}
	return filters, nil
}

func reportJSON(r report.Report) spec.SiteReport {
	out := spec.SiteReport{
		TimeZone: "UTC", Grain: spec.SiteReportGrain(r.Grain), UpdatedAt: r.UpdatedAt,
		Period: periodJSON(r.Period, r.Grain),
		Tables: []spec.ReportTable{}, Unavailable: []spec.ReportGap{},
		CombinableFilters: r.Filters.Combinable(),
	}
	if r.Site.Zone != nil {
		out.TimeZone = r.Site.Zone.String()
	}
	if r.Compared != nil {
		compared := periodJSON(*r.Compared, r.Grain)
		out.Compared = &compared
	}
	for _, t := range r.Tables {
		table := spec.ReportTable{
			By: spec.ReportTableName(t.By), Metric: spec.ReportTableMetric(t.Metric),
			Rows: []spec.ReportRow{}, Rest: t.Rest, WithoutArticle: t.WithoutArticle,
		}
		for _, row := range t.Rows {
			table.Rows = append(table.Rows, spec.ReportRow{
				Value: row.Value, Totals: totalsJSON(row.Totals), Previous: row.Previous,
				Article: reportArticleJSON(row.Article), Property: optional.Of(row.Property),
				Label:          optional.Of(row.Label),
				ConversionRate: row.ConversionRate,
			})
		}
		out.Tables = append(out.Tables, table)
	}
	for _, u := range r.Unavailable {
		out.Unavailable = append(out.Unavailable, spec.ReportGap{
			By: spec.ReportTableName(u.By), Code: spec.ReportGapCode(u.Code), Reason: u.Reason,
		})
	}
	return out
}

func periodJSON(p report.Period, grain report.Table) spec.ReportPeriod {
	out := spec.ReportPeriod{Until: p.Until, Totals: totalsJSON(p.Totals), Series: []spec.ReportBucket{}}
	out.From.Time, out.To.Time = p.From.Time(), p.To.Time()
	if p.Imported != nil {
		out.ImportedTo = &openapi_types.Date{Time: p.Imported.Time()}
	}
	for _, b := range p.Series {
		out.Series = append(out.Series, spec.ReportBucket{
			Start: b.Start.Format(grain.Layout()), Totals: totalsJSON(b.Totals),
		})
	}
	return out
}

func totalsJSON(t report.Totals) spec.ReportTotals {
	out := spec.ReportTotals{
		Views: t.Views, Visitors: t.Visitors, Visits: t.Visits, Recirculation: t.Recirculation,
		Clicks: t.Clicks, Conversions: t.Conversions,
		SocialViews: t.SocialViews, Articles: t.Articles, Events: t.Events,
	}
	if e := t.Engagement; e != nil {
		median, completed := e.Median().Seconds(), e.CompletionRate()
		out.EngagedViews, out.MedianSeconds, out.CompletionRate = &e.Engaged[0], &median, &completed
	}
	if t.Visits != nil && t.SecondViews != nil {
		bounces := max(*t.Visits-*t.SecondViews, 0)
		out.Bounces, out.BounceRate = &bounces, ratio(&bounces, t.Visits)
		out.ViewsPerVisit = ratio(t.Views, t.Visits)
	}
	if t.Visits != nil && t.EngagedVisits != nil {
		bounces := max(*t.Visits-*t.EngagedVisits, 0)
		out.EngagedBounces, out.EngagedBounceRate = &bounces, ratio(&bounces, t.Visits)
	}
	out.RecirculationRate = ratio(t.Recirculation, t.Views)
	return out
}

func reportArticleJSON(a *report.Article) *spec.ReportArticle {
	if a == nil {
		return nil
	}
	return &spec.ReportArticle{Id: a.ID, Title: a.Title, PublishedAt: a.PublishedAt}
}

const defaultRecentArticles = 10

// RecentArticles compares the articles published in 24 hours with those read in
// them.
func (s *ReportHandler) RecentArticles(
	ctx context.Context, r spec.RecentArticlesRequestObject,
) (spec.RecentArticlesResponseObject, error) {
	one, err := countedSite(ctx, s.Sites, r.Id)
	if err != nil {
		return nil, err
	}
	limit := defaultRecentArticles
	if r.Params.Limit != nil {
		limit = *r.Params.Limit
	}
	found, err := s.Reports.Last24Hours(ctx, one, limit)
	return spec.RecentArticles200JSONResponse{
		Since: found.Since, Until: found.Until, Published: found.Published,
		PublishedViews: found.PublishedViews, Views: found.Views,
		New: recentJSON(found.New), Read: recentJSON(found.Read),
	}, err
}

func recentJSON(articles []report.RecentArticle) []spec.RecentArticle {
	out := make([]spec.RecentArticle, len(articles))
	for i := range articles {
		a := &articles[i]
		out[i] = spec.RecentArticle{
			Page: a.Page, Views: a.Views, Authors: a.Authors, Article: *reportArticleJSON(&a.Article),
		}
	}
	return out
}

// ratio returns nil if either number is unknown, or the second one zero.
func ratio(a, b *int64) *float64 {
	if a == nil || b == nil || *b == 0 {
		return nil
	}
	r := float64(*a) / float64(*b)
	return &r
}

func engagementNumber(r report.Row, number func(*counter.EngagementDelta) int64) *int64 {
	if r.Engagement == nil {
		return nil
	}
	n := number(r.Engagement)
	return &n
}

// reportCSV is one table.
type reportCSV struct{ report report.Report }

// VisitSiteReportResponse writes the table. Columns without any number are left
// out.
func (c reportCSV) VisitSiteReportResponse(w http.ResponseWriter) error {
	r := c.report
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+string(r.By)+"-"+r.From.Time().Format(time.DateOnly)+
		"-"+r.To.Time().Format(time.DateOnly)+`.csv"`)
	columns := []struct {
		name  string
		value func(report.Row) *int64
	}{
		{"views", func(r report.Row) *int64 { return r.Views }},
		{
			"visitors", func(r report.Row) *int64 { return r.Visitors },
		},
		{"visits", func(r report.Row) *int64 { return r.Visits }},
		{
			"second_views", func(r report.Row) *int64 { return r.SecondViews },
		},
		{"engaged_visits", func(r report.Row) *int64 { return r.EngagedVisits }},
		{"recirculation", func(r report.Row) *int64 { return r.Recirculation }},
		{
			"clicks", func(r report.Row) *int64 { return r.Clicks },
		},
		{"conversions", func(r report.Row) *int64 { return r.Conversions }},
		{"events", func(r report.Row) *int64 { return r.Events }},
		{"social_views", func(r report.Row) *int64 { return r.SocialViews }},
		{
			"articles", func(r report.Row) *int64 { return r.Articles },
		},
		{"engaged_views", func(r report.Row) *int64 {
			return engagementNumber(r, func(e *counter.EngagementDelta) int64 { return e.Engaged[0] })
		}},
		{"median_seconds", func(r report.Row) *int64 {
			return engagementNumber(r, func(e *counter.EngagementDelta) int64 {
				return int64(e.Median().Round(time.Second).Seconds())
			})
		}},
		{"completed_views", func(r report.Row) *int64 {
			return engagementNumber(r, func(e *counter.EngagementDelta) int64 {
				return e.Scrolled[counter.ScrollSteps-1]
			})
		}},
		{"previous", func(r report.Row) *int64 { return r.Previous }},
	}
	var rows []report.Row
	for _, t := range r.Tables {
		rows = append(rows, t.Rows...)
	}
	used := columns[:0]
	head := []string{string(r.By)}
	hasTitles := slices.ContainsFunc(rows, func(r report.Row) bool { return r.Article != nil })
	hasProperties := slices.ContainsFunc(rows, func(r report.Row) bool { return r.Property != "" })
	if hasProperties {
		head = append(head, "property")
	}
	hasLabels := slices.ContainsFunc(rows, func(r report.Row) bool { return r.Label != "" })
	if hasLabels {
		head = append(head, "label")
	}
	hasRates := slices.ContainsFunc(rows, func(r report.Row) bool { return r.ConversionRate != nil })
	if hasTitles {
		head = append(head, "title", "published_at")
	}
	for _, column := range columns {
		for _, row := range rows {
			if column.value(row) != nil {
				used, head = append(used, column), append(head, column.name)
				break
			}
		}
	}
	if hasRates {
		head = append(head, "conversion_rate")
	}
	body := csvio.Write([]byte(csvio.ByteOrderMark), head)
	for _, row := range rows {
		cells := []string{csvio.Escape(row.Value)}
		if hasProperties {
			cells = append(cells, csvio.Escape(row.Property))
		}
		if hasLabels {
			cells = append(cells, csvio.Escape(row.Label))
		}
		if hasTitles {
			title, published := "", ""
			if row.Article != nil {
				title, published = csvio.Escape(row.Article.Title), row.Article.PublishedAt.Format(time.RFC3339)
			}
			cells = append(cells, title, published)
		}
		for _, column := range used {
			cell := ""
			if n := column.value(row); n != nil {
				cell = strconv.FormatInt(*n, 10)
			}
			cells = append(cells, cell)
		}
		if hasRates {
			cell := ""
			if row.ConversionRate != nil {
				cell = strconv.FormatFloat(*row.ConversionRate, 'f', 4, 64)
			}
			cells = append(cells, cell)
		}
		body = csvio.Write(body, cells)
	}
	_, err := w.Write(body)
	return err
}
