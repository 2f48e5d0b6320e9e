package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/ingest"
	"dateline/internal/audience/site"
	"dateline/internal/infra/apperr"
)

// Counts reads counts: flush.Counts.
type Counts interface {
	PageStats(ctx context.Context, s counter.Site, pages []string) ([]counter.Stats, error)
	Series(ctx context.Context, s counter.Site, page string, kind counter.Kind, unit counter.Unit,
		buckets int) ([]counter.Bucket, error)
	Funnel(ctx context.Context, s counter.Site, page string) (counter.Funnel, error)
	Dimensions(ctx context.Context, s counter.Site, page string) (counter.Dimensions, error)
	FilteredCounts(ctx context.Context, site uuid.UUID, page string) (map[string]int64, error)
	Trending(ctx context.Context, site uuid.UUID, r counter.Ranking, limit int) ([]counter.RankedPage, error)
	RecentViews(ctx context.Context, site uuid.UUID, pages []string) ([]int64, error)
	Concurrents(ctx context.Context, site uuid.UUID) (int64, error)
	// Engagement returns the engagement of a page's views by day; of the site's if
	// the page is "".
	Engagement(ctx context.Context, page counter.PageID, from, to counter.Day) ([]counter.EngagementDelta, error)
}

// CountHandler serves counts.
type CountHandler struct {
	Sites   *site.Service
	Counts  Counts
	Posts   PostStore
	Signals interface {
		Listen(ctx context.Context, site uuid.UUID) <-chan struct{}
	}

	trending rankingCache
}

// serveIngest serves the routes of ingest.Handler before the middleware of other
// requests.
func (s *Server) serveIngest(rest http.Handler, room *admission) http.Handler {
	if s.Audience == nil {
		return rest
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ingest.Serves(r.URL.Path) {
			rest.ServeHTTP(w, r)
			return
		}
		start, noted := time.Now(), &statusRecorder{ResponseWriter: w, status: http.StatusOK}
		if room.acquire(r.Context()) {
			s.Ingest.ServeHTTP(noted, r)
			room.release()
		} else {
			ingest.Overloaded(noted, overloadRetryAfter)
		}
		if s.Meter == nil {
			return
		}
		route := r.URL.Path
		if noted.status == http.StatusNotFound {
			route = "none"
		}
		s.Meter.Answered(r.Context(), knownMethod(r.Method), route, strconv.Itoa(noted.status), time.Since(start))
	})
}

// statusRecorder records the status of a response.
type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (n *statusRecorder) WriteHeader(status int) {
	n.status = status
	n.ResponseWriter.WriteHeader(status)
}

// countedSite returns the site of a request; the workspace's id stands for its
// posts and links.
func countedSite(ctx context.Context, sites *site.Service, id uuid.UUID) (counter.Site, error) {
	who := principal(ctx)
	if id == who.WorkspaceID {
		return site.PostsSite(id), nil
	}
	one, err := sites.Get(ctx, who, id)
	if err != nil {
		return counter.Site{}, err
	}
	return one.CounterSite()
}

// countedPage returns the site and the page of a request.
func (s *CountHandler) countedPage(ctx context.Context, id uuid.UUID, name string) (counter.Site, string, error) {
	page, problem := ingest.PageName(name)
	if problem != nil {
		problem.Field = "page"
		return counter.Site{}, "", apperr.InvalidFields(*problem)
	}
	one, err := countedSite(ctx, s.Sites, id)
	return one, page, err
}

func pageNames(texts []string) ([]string, error) {
	pages := make([]string, len(texts))
	for i, text := range texts {
		page, problem := ingest.PageName(text)
		if problem != nil {
			problem.Field = fmt.Sprintf("page[%d]", i)
			return nil, apperr.InvalidFields(*problem)
		}
		pages[i] = page
	}
	return pages, nil
}

// PageStats returns the counts of pages.
func (s *CountHandler) PageStats(
	ctx context.Context, r spec.PageStatsRequestObject,
) (spec.PageStatsResponseObject, error) {
	pages, err := pageNames(r.Params.Page)
	if err != nil {
		return nil, err
	}
	one, err := countedSite(ctx, s.Sites, r.Id)
	if err != nil {
		return nil, err
	}
	stats, err := s.Counts.PageStats(ctx, one, pages)
	return spec.PageStats200JSONResponse(statsJSON(stats)), err
}

func statsJSON(stats []counter.Stats) spec.PageStatsList {
	out := spec.PageStatsList{Pages: []spec.PageStats{}}
	for _, one := range stats {
		out.Pages = append(out.Pages, spec.PageStats{
			Page: one.Page, Views: one.Views, Clicks: one.Clicks,
			Conversions: one.Conversions,
			Uniques:     uniquesJSON(one.Uniques), Today: bucketsJSON(one.Today), Days: bucketsJSON(one.Days),
		})
	}
	return out
}

func uniquesJSON(u counter.Uniques) spec.PageUniques {
	return spec.PageUniques{Day: u.Day, Week: u.Week, AllTime: u.AllTime}
}

func bucketsJSON(buckets []counter.Bucket) []spec.ViewBucket {
	out := make([]spec.ViewBucket, len(buckets))
	for i, b := range buckets {
		out[i] = spec.ViewBucket{Start: b.Start, Count: b.Count}
	}
	return out
}

// maxSeriesDays is the number of days stored in Redis. The maximum of 48
// buckets in openapi.yaml is that of hours.
const maxSeriesDays = 35

// PageSeries returns a page's counts over time.
func (s *CountHandler) PageSeries(
	ctx context.Context, r spec.PageSeriesRequestObject,
) (spec.PageSeriesResponseObject, error) {
	one, page, err := s.countedPage(ctx, r.Id, r.Params.Page)
	if err != nil {
		return nil, err
	}
	kind := counter.Kind(or(r.Params.Type, spec.HitType(counter.View)))
	unit := counter.Unit(or(r.Params.Unit, spec.CountUnit(counter.ByHour)))
	buckets := or(r.Params.Buckets, 24)
	if unit == counter.ByDay && buckets > maxSeriesDays {
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "buckets", Code: "out_of_range", Message: "At most 35 days.",
		})
	}
	series, err := s.Counts.Series(ctx, one, page, kind, unit, buckets)
	return spec.PageSeries200JSONResponse{
		Page: page, Type: spec.HitType(kind), Unit: spec.CountUnit(unit),
		Buckets: bucketsJSON(series),
	}, err
}

// PageFunnel returns a page's funnel.
func (s *CountHandler) PageFunnel(
	ctx context.Context, r spec.PageFunnelRequestObject,
) (spec.PageFunnelResponseObject, error) {
	one, page, err := s.countedPage(ctx, r.Id, r.Params.Page)
	if err != nil {
		return nil, err
	}
	f, err := s.Counts.Funnel(ctx, one, page)
	return spec.PageFunnel200JSONResponse{Page: page, Views: f.Views, Clicks: f.Clicks, Conversions: f.Conversions}, err
}

// PageDimensions returns a page's views by country, device and referrer.
func (s *CountHandler) PageDimensions(
	ctx context.Context, r spec.PageDimensionsRequestObject,
) (spec.PageDimensionsResponseObject, error) {
	one, page, err := s.countedPage(ctx, r.Id, r.Params.Page)
	if err != nil {
		return nil, err
	}
	d, err := s.Counts.Dimensions(ctx, one, page)
	return spec.PageDimensions200JSONResponse{
		Page: page, Country: countsOrEmpty(d.Country),
		Device: countsOrEmpty(d.Device), Referrer: countsOrEmpty(d.Referrer),
	}, err
}

// PageFiltered returns a page's filtered hits by reason.
func (s *CountHandler) PageFiltered(
	ctx context.Context, r spec.PageFilteredRequestObject,
) (spec.PageFilteredResponseObject, error) {
	one, page, err := s.countedPage(ctx, r.Id, r.Params.Page)
	if err != nil {
		return nil, err
	}
	reasons, err := s.Counts.FilteredCounts(ctx, one.ID, page)
	return spec.PageFiltered200JSONResponse{Page: page, Reasons: countsOrEmpty(reasons)}, err
}

func countsOrEmpty(counts map[string]int64) spec.CountByValue {
	if counts == nil {
		return spec.CountByValue{}
	}
	return counts
}
