package api

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/audience/flush"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
)

// ErasureHandler serves the health of counting, and erasures.
type ErasureHandler struct{ ViewsStore ViewsStore }

// ViewsHealth returns the health of view counting.
func (s *ErasureHandler) ViewsHealth(
	ctx context.Context, _ spec.ViewsHealthRequestObject,
) (spec.ViewsHealthResponseObject, error) {
	h, err := s.ViewsStore.ViewsHealth(ctx)
	if err != nil {
		return nil, err
	}
	own, err := s.ViewsStore.CountedSites(ctx, principal(ctx).WorkspaceID)
	if err != nil {
		return nil, err
	}
	var out spec.ViewsHealth200JSONResponse
	out.Flush.BatchesLastHour, out.Flush.CountsLastHour = h.Batches, h.Counts
	if !h.FlushedAt.IsZero() {
		out.Flush.LastAt = &h.FlushedAt
	}
	if c := h.Check; c != nil {
		out.Check = &spec.ViewsCheck{
			StartedAt: c.StartedAt, EndedAt: c.EndedAt, Compared: c.Compared,
			Differing: c.Differing,
			Missing:   c.Missing, Surplus: c.Surplus, Agrees: c.Differing == 0,
		}
		out.Check.Examples = []spec.ViewsDifference{}
		for _, e := range c.Examples {
			if slices.Contains(own, e.Site) {
				out.Check.Examples = append(out.Check.Examples,
					spec.ViewsDifference{
						Type: spec.HitType(e.Kind), Page: e.Page,
						Shown: e.Shown, Stored: e.Stored, Pending: e.Pending,
					})
			}
		}
	}
	if l := h.Loss; l != nil {
		out.Loss = &spec.ViewsLoss{FoundAt: l.FoundAt, Shards: l.Shards, Pages: l.Pages}
	}
	return out, nil
}

// EraseViews requests the erasure of a site's counts or one visitor.
func (s *ErasureHandler) EraseViews(
	ctx context.Context, r spec.EraseViewsRequestObject,
) (spec.EraseViewsResponseObject, error) {
	who := principal(ctx)
	own, err := s.ViewsStore.CountedSites(ctx, who.WorkspaceID)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(own, r.Body.SiteId) {
		return nil, apperr.NotFound("site")
	}
	e := flush.Erasure{
		ID: uuid.Must(uuid.NewV7()), Workspace: who.WorkspaceID, Site: r.Body.SiteId,
		RequestedBy: who.UserID,
	}
	if text := optional.Value(r.Body.VisitorHash); text != "" {
		if e.Visitor.Hash, err = strconv.ParseUint(text, 16, 64); err != nil {
			return nil, apperr.InvalidFields(apperr.FieldError{
				Field: "visitor_hash", Code: "invalid", Message: "Must have 16 hexadecimal digits.",
			})
		}
		e.SingleVisitor = true
	}
	if r.Body.VisitorId != nil {
		e.Visitor.ID, e.SingleVisitor = uint32(*r.Body.VisitorId), true //nolint:gosec // bounded by openapi.yaml
	}
	e, err = s.ViewsStore.CreateViewErasure(ctx, e)
	return spec.EraseViews202JSONResponse(erasureJSON(e)), err
}

// GetViewErasure returns an erasure.
func (s *ErasureHandler) GetViewErasure(
	ctx context.Context, r spec.GetViewErasureRequestObject,
) (spec.GetViewErasureResponseObject, error) {
	e, err := s.ViewsStore.ViewErasure(ctx, principal(ctx).WorkspaceID, r.Id)
	return spec.GetViewErasure200JSONResponse(erasureJSON(e)), err
}

func erasureJSON(e flush.Erasure) spec.ViewErasure {
	out := spec.ViewErasure{
		Id: e.ID, SiteId: e.Site, SingleVisitor: e.SingleVisitor, RequestedAt: e.RequestedAt,
		Done: e.DoneAt != nil, DoneAt: e.DoneAt,
	}
	if e.DoneAt != nil {
		out.Removed = &e.Removed
	}
	return out
}
