package api

import (
	"context"
	"time"

	openapi_types "github.com/oapi-codegen/runtime/types"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
)

// Range of an engagement request, in days.
const (
	defaultEngagementDays = 30
	maxEngagementDays     = 400
)

// Engagement returns the engaged time and scroll depth of a page's or a site's
// views.
func (s *CountHandler) Engagement(
	ctx context.Context, r spec.EngagementRequestObject,
) (spec.EngagementResponseObject, error) {
	one, err := countedSite(ctx, s.Sites, r.Id)
	if err != nil {
		return nil, err
	}
	id := counter.PageID{Site: one.ID}
	if r.Params.Page != nil {
		if one, id.Page, err = s.countedPage(ctx, r.Id, *r.Params.Page); err != nil {
			return nil, err
		}
	}
	to := counter.DayAt(time.Now(), one.Zone)
	if r.Params.To != nil {
		to = counter.DayOf(r.Params.To.Time)
	}
	from := to - defaultEngagementDays + 1
	if r.Params.From != nil {
		from = counter.DayOf(r.Params.From.Time)
	}
	if from > to || to-from >= maxEngagementDays {
		return nil, apperr.InvalidFields(apperr.FieldError{
			Field: "from", Code: "out_of_range", Message: "Must be at most 399 days before to.",
		})
	}
	days, err := s.Counts.Engagement(ctx, id, from, to+1)
	if err != nil {
		return nil, err
	}
	out := spec.Engagement200JSONResponse{
		Page: optional.Of(id.Page), From: openapi_types.Date{Time: from.Time()},
		To: openapi_types.Date{Time: to.Time()}, Days: []spec.EngagementDay{},
	}
	var total counter.EngagementDelta
	for i := range days {
		total.Add(&days[i])
		c := engagementJSON(&days[i])
		out.Days = append(out.Days, spec.EngagementDay{
			Day:   openapi_types.Date{Time: days[i].Day.Time()},
			Views: c.Views, MedianSeconds: c.MedianSeconds,
			CompletionRate: c.CompletionRate, Engaged: c.Engaged, Scrolled: c.Scrolled,
		})
	}
	out.Total = engagementJSON(&total)
	return out, nil
}

func engagementJSON(e *counter.EngagementDelta) spec.EngagementCounts {
	out := spec.EngagementCounts{
		Views: e.Engaged[0], MedianSeconds: float32(e.Median().Seconds()), Engaged: e.Engaged[:],
		Scrolled: e.Scrolled[:],
	}
	if e.Engaged[0] > 0 {
		out.CompletionRate = float32(e.Scrolled[counter.ScrollSteps-1]) / float32(e.Engaged[0])
	}
	return out
}

// Concurrents returns how many views of a site are being read.
func (s *CountHandler) Concurrents(
	ctx context.Context, r spec.ConcurrentsRequestObject,
) (spec.ConcurrentsResponseObject, error) {
	one, err := countedSite(ctx, s.Sites, r.Id)
	if err != nil {
		return nil, err
	}
	n, err := s.Counts.Concurrents(ctx, one.ID)
	return spec.Concurrents200JSONResponse{Concurrents: n}, err
}
