package api

import (
	"context"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/publishing/post"
)

// SubmitPost submits a draft for approval.
func (s *PostHandler) SubmitPost(
	ctx context.Context, r spec.SubmitPostRequestObject,
) (spec.SubmitPostResponseObject, error) {
	answer, err := s.change(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Post, error) {
		return s.Scheduler.Submit(ctx, g)
	})
	return spec.SubmitPost200JSONResponse{PostJSONResponse: answer}, err
}

// ApprovePost schedules a submitted post.
func (s *PostHandler) ApprovePost(
	ctx context.Context, r spec.ApprovePostRequestObject,
) (spec.ApprovePostResponseObject, error) {
	if r.Params.IfMatch == nil {
		return nil, &apperr.Error{
			Kind: apperr.KindPreconditionRequired, Code: "if_match_required",
			Message: "Send If-Match with the ETag of the post that you have read: what you have not seen, you " +
				"cannot approve.",
		}
	}
	answer, err := s.change(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Post, error) {
		return s.Scheduler.Approve(ctx, g)
	})
	return spec.ApprovePost200JSONResponse{PostJSONResponse: answer}, err
}

// RejectPost returns a submitted post to its author.
func (s *PostHandler) RejectPost(
	ctx context.Context, r spec.RejectPostRequestObject,
) (spec.RejectPostResponseObject, error) {
	answer, err := s.change(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Post, error) {
		return s.Scheduler.Reject(ctx, g, r.Body.Note)
	})
	return spec.RejectPost200JSONResponse{PostJSONResponse: answer}, err
}

// ReopenPost undoes the approval or rejection of a post.
func (s *PostHandler) ReopenPost(
	ctx context.Context, r spec.ReopenPostRequestObject,
) (spec.ReopenPostResponseObject, error) {
	answer, err := s.change(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Post, error) {
		return s.Scheduler.Reopen(ctx, g)
	})
	return spec.ReopenPost200JSONResponse{PostJSONResponse: answer}, err
}

func approvalJSON(a post.Approval) *spec.Approval {
	if a.State == "" || a.State == post.ApprovalNone {
		return nil
	}
	return &spec.Approval{
		State: spec.ApprovalState(a.State), SubmittedBy: a.SubmittedBy, SubmittedAt: a.SubmittedAt,
		DecidedBy: a.DecidedBy, DecidedAt: a.DecidedAt, Note: optional.Of(a.Note),
	}
}
