package api

import (
	"bytes"
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/csvio"
	"dateline/internal/infra/optional"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/postreport"
)

// PostReportHandler serves what happened to posts: events and metrics.
type PostReportHandler struct {
	Store interface {
		PostStore
		MetricsStore
	}
	Zones ZoneStore
}

// PostReport reports how published posts did.
func (s *PostReportHandler) PostReport(
	ctx context.Context, r spec.PostReportRequestObject,
) (spec.PostReportResponseObject, error) {
	p := r.Params
	q, err := s.postQuery(ctx, p.From.Time, p.To.Time)
	if err != nil {
		return nil, err
	}
	q.By, q.Metric, q.Limit = postreport.Dimension(optional.Value(p.By)), postreport.Metric(optional.Value(p.Metric)),
		optional.Value(p.Limit)
	found, err := (&postreport.Reporter{Store: s.Store}).Report(ctx, q)
	if err != nil {
		return nil, err
	}
	if optional.Value(p.Format) == spec.PostReportParamsFormatCsv {
		return postReportCSV{found, p.From.Time, p.To.Time}, nil
	}
	out := spec.PostReport{
		By: spec.PostReportDimension(found.By), Metric: spec.PostReportMetric(found.Metric),
		TimeZone: q.Zone.String(),
		Posts:    found.Posts, Average: found.Average, Rows: []spec.PostReportRow{}, Groups: groupsJSON(found.Groups),
	}
	for i := range found.Rows {
		out.Rows = append(out.Rows, postRowJSON(&found.Rows[i]))
	}
	return spec.PostReport200JSONResponse{Body: out}, nil
}

// PostHighlights returns what worked in a period, and what did not.
func (s *PostReportHandler) PostHighlights(
	ctx context.Context, r spec.PostHighlightsRequestObject,
) (spec.PostHighlightsResponseObject, error) {
	p := r.Params
	q, err := s.postQuery(ctx, p.From.Time, p.To.Time)
	if err != nil {
		return nil, err
	}
	q.Metric, q.Limit = postreport.Metric(optional.Value(p.Metric)), optional.Value(p.Limit)
	if q.Limit == 0 {
		q.Limit = 20
	}
	found, err := (&postreport.Reporter{Store: s.Store}).Highlights(ctx, q)
	return spec.PostHighlights200JSONResponse{
		Metric: spec.PostReportMetric(found.Metric), TimeZone: q.Zone.String(),
		Posts:   found.Posts,
		Average: found.Average, Groups: groupsJSON(found.Groups), Unclear: found.Unclear,
	}, err
}

// BestTimes suggests times for a post.
func (s *PostReportHandler) BestTimes(
	ctx context.Context, r spec.BestTimesRequestObject,
) (spec.BestTimesResponseObject, error) {
	w, err := s.Zones.Workspace(ctx, principal(ctx).WorkspaceID)
	if err != nil {
		return nil, err
	}
	zone, err := timezone.Load(cmp.Or(optional.Value(r.Params.TimeZone), w.TimeZone))
	if err != nil {
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "time_zone", Code: "unknown_time_zone", Message: err.Error() + ".",
		})
	}
	found, err := (&postreport.Reporter{Store: s.Store}).BestTimes(ctx, postreport.BestTimesQuery{
		WorkspaceID: w.ID, Zone: zone, Accounts: optional.Value(r.Params.Account), Now: time.Now(),
	})
	out := spec.BestTimes{
		TimeZone: zone.String(), Posts: found.Posts, PostsNeeded: postreport.MinBestTimes,
		Times: []spec.BestTime{},
	}
	for _, b := range found.Times {
		out.Times = append(out.Times, spec.BestTime{
			Weekday: b.Weekday, Hour: b.Hour, Posts: b.Posts, Lift: b.Lift, At: b.At,
		})
	}
	return spec.BestTimes200JSONResponse(out), err
}

// postQuery returns a query for days, the last one included, in the workspace's time
// zone.
func (s *PostReportHandler) postQuery(ctx context.Context, from, to time.Time) (postreport.Query, error) {
	w, err := s.Zones.Workspace(ctx, principal(ctx).WorkspaceID)
	if err != nil {
		return postreport.Query{}, err
	}
	zone, err := timezone.Load(w.TimeZone)
	if err != nil {
		return postreport.Query{}, err
	}
	midnight := func(day time.Time) time.Time {
		return time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone)
	}
	return postreport.Query{WorkspaceID: w.ID, Zone: zone, From: midnight(from), To: midnight(to.AddDate(0, 0, 1))}, nil
}

func postRowJSON(r *postreport.Row) spec.PostReportRow {
	out := spec.PostReportRow{
		PostId: r.PostID, AccountId: r.AccountID, Account: r.Account, Network: r.Network,
		Content: r.Content, PostedAt: r.PostedAt,
		MeasuredAt: optional.OfTime(r.MeasuredAt), Deleted: r.IsDeleted, Metrics: metricValues(r.Metrics),
		Conversions:   r.Conversions,
		MedianSeconds: r.MedianSeconds, CompletionRate: r.CompletionRate,
		Numbers: spec.PostNumbers{
			Views: r.Value(postreport.Views), Reach: r.Value(postreport.Reach),
			Engagement: r.Value(postreport.Engagement),
			Clicks:     r.Clicks, Visits: r.Visits,
		},
	}
	if r.ArticleID != nil {
		out.Article = &spec.LinkedArticle{
			Id: r.ArticleID, Title: r.Title, Authors: append([]string{}, r.Authors...),
			Section: r.Section,
		}
	}
	return out
}

func groupsJSON(groups []postreport.Group) []spec.PostReportGroup {
	out := []spec.PostReportGroup{}
	for i := range groups {
		g := &groups[i]
		one := spec.PostReportGroup{
			By: spec.PostReportDimension(g.By), Value: g.Value, Label: optional.Of(g.Label),
			Posts:   g.Posts,
			Numbers: numbersJSON(func(m postreport.Metric) *int64 { return g.Total(m) }),
			Known: numbersJSON(func(m postreport.Metric) *int64 {
				n := int64(g.Known[m])
				return &n
			}),
		}
		if e := g.Estimate; e != nil {
			one.Estimate = &spec.MetricEstimate{
				Posts: e.Posts, Mean: e.Mean, Low: e.Low, High: e.High, Clear: e.IsClear,
			}
			if e.Lift > 0 {
				one.Estimate.Lift = &e.Lift
			}
		}
		out = append(out, one)
	}
	return out
}

func numbersJSON(value func(postreport.Metric) *int64) spec.PostNumbers {
	return spec.PostNumbers{
		Views: value(postreport.Views), Reach: value(postreport.Reach),
		Engagement: value(postreport.Engagement),
		Clicks:     value(postreport.Clicks), Visits: value(postreport.Visits),
	}
}

// postReportCSV is a report as CSV. Numbers that are not known are empty cells.
type postReportCSV struct {
	report   postreport.Report
	from, to time.Time
}

// VisitPostReportResponse writes the table.
func (c postReportCSV) VisitPostReportResponse(w http.ResponseWriter) error {
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="posts-`+string(c.report.By)+"-"+
		c.from.Format(time.DateOnly)+"-"+c.to.Format(time.DateOnly)+`.csv"`)
	body := c.groups()
	if c.report.By == postreport.ByPost {
		body = c.rows()
	}
	_, err := bytes.NewReader(body).WriteTo(w)
	return err
}

func reportMetrics() []postreport.Metric {
	return []postreport.Metric{
		postreport.Views, postreport.Reach, postreport.Engagement, postreport.Clicks, postreport.Visits,
	}
}

func cell(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

func decimal(f *float64) string {
	if f == nil {
		return ""
	}
	return strconv.FormatFloat(*f, 'f', 3, 64)
}

func (c postReportCSV) rows() []byte {
	var names []string // all metrics of the networks
	for i := range c.report.Rows {
		for name := range c.report.Rows[i].Metrics {
			if !slices.Contains(names, string(name)) && name != "views" && name != "reach" {
				names = append(names, string(name))
			}
		}
	}
	slices.Sort(names)
	head := []string{
		"post_id", "account", "network", "posted_at", "content", "views", "reach", "engagement", "link_clicks",
		"visits", "conversions", "title", "authors", "section", "median_seconds", "completion_rate", "deleted",
	}
	for _, name := range names {
		head = append(head, "network_"+name)
	}
	body := csvio.Write([]byte(csvio.ByteOrderMark), head)
	for i := range c.report.Rows {
		r := &c.report.Rows[i]
		cells := []string{
			r.PostID.String(), csvio.Escape(r.Account), r.Network, r.PostedAt.Format(time.RFC3339),
			csvio.Escape(r.Content),
		}
		for _, m := range reportMetrics() {
			cells = append(cells, cell(r.Value(m)))
		}
		cells = append(cells, cell(r.Conversions), csvio.Escape(r.Title), csvio.Escape(strings.Join(r.Authors, "; ")),
			csvio.Escape(r.Section),
			decimal(r.MedianSeconds), decimal(r.CompletionRate), strconv.FormatBool(r.IsDeleted))
		values := metricValues(r.Metrics)
		for _, name := range names {
			text := ""
			if v, ok := values[name]; ok {
				text = strconv.FormatInt(v, 10)
			}
			cells = append(cells, text)
		}
		body = csvio.Write(body, cells)
	}
	return body
}

func (c postReportCSV) groups() []byte {
	head := []string{string(c.report.By), "label", "posts"}
	for _, m := range reportMetrics() {
		head = append(head, string(m), string(m)+"_posts")
	}
	body := csvio.Write([]byte(csvio.ByteOrderMark), append(head, "mean_"+string(c.report.Metric), "low", "high"))
	for i := range c.report.Groups {
		g := &c.report.Groups[i]
		cells := []string{csvio.Escape(g.Value), csvio.Escape(g.Label), strconv.Itoa(g.Posts)}
		for _, m := range reportMetrics() {
			cells = append(cells, cell(g.Total(m)), strconv.Itoa(g.Known[m]))
		}
		if e := g.Estimate; e != nil {
			cells = append(cells, decimal(&e.Mean), decimal(&e.Low), decimal(&e.High))
		} else {
			cells = append(cells, "", "", "")
		}
		body = csvio.Write(body, cells)
	}
	return body
}
