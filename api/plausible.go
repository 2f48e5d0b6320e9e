package api

import (
	"context"
	"slices"
	"strings"
	"time"

	"dateline/api/spec"
	"dateline/internal/audience/plausible"
	"dateline/internal/audience/site"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
)

// PlausibleHandler serves the API of Plausible.
type PlausibleHandler struct {
	Sites   *site.Service
	Reports Reports
	Counts  Counts
}

// plausibleSite returns the workspace's site that a client of Plausible names.
func (s *PlausibleHandler) plausibleSite(ctx context.Context, name string) (site.Site, error) {
	sites, err := s.Sites.List(ctx, principal(ctx))
	if err != nil {
		return site.Site{}, err
	}
	bare := strings.TrimPrefix(strings.ToLower(name), "www.")
	for _, one := range sites { // the oldest first, as with events
		if one.ID.String() == bare || one.WriteKey == name ||
			slices.ContainsFunc(one.Domains, func(d string) bool { return strings.TrimPrefix(d, "www.") == bare }) {
			return one, nil
		}
	}
	return site.Site{}, apperr.NotFound("site")
}

func (s *PlausibleHandler) plausible() *plausible.API { return &plausible.API{Reports: s.Reports} }

// v1Query returns what queries of version 1 have in common.
func (s *PlausibleHandler) v1Query(
	ctx context.Context, name string, period, date, metrics, filters *string,
) (plausible.V1, error) {
	one, err := s.plausibleSite(ctx, name)
	if err != nil {
		return plausible.V1{}, err
	}
	counted, err := one.CounterSite()
	return plausible.V1{
		Site: counted, Period: optional.Value(period), Date: optional.Value(date), Metrics: optional.Value(metrics),
		Filters: optional.Value(filters),
	}, err
}

// PlausibleRealtime returns how many views of a site are being read.
func (s *PlausibleHandler) PlausibleRealtime(
	ctx context.Context, r spec.PlausibleRealtimeRequestObject,
) (spec.PlausibleRealtimeResponseObject, error) {
	one, err := s.plausibleSite(ctx, r.Params.SiteId)
	if err != nil {
		return nil, err
	}
	n, err := s.Counts.Concurrents(ctx, one.ID)
	return spec.PlausibleRealtime200JSONResponse(n), err
}

// PlausibleAggregate returns totals.
func (s *PlausibleHandler) PlausibleAggregate(
	ctx context.Context, r spec.PlausibleAggregateRequestObject,
) (spec.PlausibleAggregateResponseObject, error) {
	q, err := s.v1Query(ctx, r.Params.SiteId, r.Params.Period, r.Params.Date, r.Params.Metrics, r.Params.Filters)
	if err != nil {
		return nil, err
	}
	q.Compare = optional.Value(r.Params.Compare)
	totals, err := s.plausible().Aggregate(ctx, q)
	out := spec.PlausibleAggregate200JSONResponse{Results: map[string]spec.PlausibleValue{}}
	for name, one := range totals {
		out.Results[name] = spec.PlausibleValue{Value: one.Value, Change: one.Change}
	}
	return out, err
}

// PlausibleTimeseries returns totals by day or month.
func (s *PlausibleHandler) PlausibleTimeseries(
	ctx context.Context, r spec.PlausibleTimeseriesRequestObject,
) (spec.PlausibleTimeseriesResponseObject, error) {
	q, err := s.v1Query(ctx, r.Params.SiteId, r.Params.Period, r.Params.Date, r.Params.Metrics, r.Params.Filters)
	if err != nil {
		return nil, err
	}
	q.Interval = optional.Value(r.Params.Interval)
	rows, err := s.plausible().Timeseries(ctx, q)
	return spec.PlausibleTimeseries200JSONResponse{Results: rows}, err
}

// PlausibleBreakdown returns totals by the values of a property.
func (s *PlausibleHandler) PlausibleBreakdown(
	ctx context.Context, r spec.PlausibleBreakdownRequestObject,
) (spec.PlausibleBreakdownResponseObject, error) {
	q, err := s.v1Query(ctx, r.Params.SiteId, r.Params.Period, r.Params.Date, r.Params.Metrics, r.Params.Filters)
	if err != nil {
		return nil, err
	}
	q.Property, q.Limit, q.Page = r.Params.Property, optional.Value(r.Params.Limit), optional.Value(r.Params.Page)
	rows, err := s.plausible().Breakdown(ctx, q)
	return spec.PlausibleBreakdown200JSONResponse{Results: rows}, err
}

// PlausibleQuery answers a query of version 2.
func (s *PlausibleHandler) PlausibleQuery(
	ctx context.Context, r spec.PlausibleQueryRequestObject,
) (spec.PlausibleQueryResponseObject, error) {
	b := r.Body
	one, err := s.plausibleSite(ctx, b.SiteId)
	if err != nil {
		return nil, err
	}
	q := plausible.V2{
		Since: one.CreatedAt, Metrics: b.Metrics, DateRange: b.DateRange, Dimensions: optional.Value(b.Dimensions),
		Filters: optional.Value(b.Filters), OrderBy: optional.Value(b.OrderBy),
	}
	if q.Site, err = one.CounterSite(); err != nil {
		return nil, err
	}
	include := map[string]any{}
	if i := b.Include; i != nil {
		q.TimeLabels, q.TotalRows = optional.Value(i.TimeLabels), optional.Value(i.TotalRows)
		for name, flag := range map[string]*bool{
			"imports": i.Imports, "time_labels": i.TimeLabels,
			"total_rows": i.TotalRows,
		} {
			if flag != nil {
				include[name] = *flag
			}
		}
	}
	if b.Pagination != nil {
		q.Limit, q.Offset = optional.Value(b.Pagination.Limit), optional.Value(b.Pagination.Offset)
	}
	result, err := s.plausible().Query(ctx, q)
	if err != nil {
		return nil, err
	}
	out := spec.PlausibleQuery200JSONResponse{Meta: map[string]any{}}
	for _, row := range result.Rows {
		out.Results = append(out.Results, struct {
			Dimensions []string  `json:"dimensions"`
			Metrics    []float64 `json:"metrics"`
		}{row.Dimensions, row.Metrics})
	}
	if out.Results == nil {
		out.Results = []struct {
			Dimensions []string  `json:"dimensions"`
			Metrics    []float64 `json:"metrics"`
		}{}
	}
	if result.TimeLabels != nil {
		out.Meta["time_labels"] = result.TimeLabels
	}
	if result.TotalRows != nil {
		out.Meta["total_rows"] = *result.TotalRows
	}
	out.Query = map[string]any{
		"site_id": b.SiteId, "metrics": b.Metrics, "date_range": []string{
			result.From.Format(time.RFC3339), result.To.Format(time.RFC3339),
		},
		"dimensions": notNil(q.Dimensions), "filters": notNil(q.Filters), "order_by": result.OrderBy,
		"include":    include,
		"pagination": map[string]any{"limit": result.Limit, "offset": q.Offset},
	}
	return out, nil
}

func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
