package api

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/post"
)

// DeadLetterHandler serves posts that were not published.
type DeadLetterHandler struct {
	Store     DeadLetterStore
	Scheduler DeadLetterHandling
	PostChanges
}

// RetryPost publishes failed targets of a post again.
func (s *DeadLetterHandler) RetryPost(
	ctx context.Context, r spec.RetryPostRequestObject,
) (spec.RetryPostResponseObject, error) {
	answer, err := s.change(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Post, error) {
		return s.Scheduler.Retry(ctx, g, chosen(r.Body))
	})
	return spec.RetryPost200JSONResponse{PostJSONResponse: answer}, err
}

// DiscardPost discards dead letters of a post.
func (s *DeadLetterHandler) DiscardPost(
	ctx context.Context, r spec.DiscardPostRequestObject,
) (spec.DiscardPostResponseObject, error) {
	answer, err := s.change(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Post, error) {
		return s.Scheduler.Discard(ctx, g, chosen(r.Body))
	})
	return spec.DiscardPost200JSONResponse{PostJSONResponse: answer}, err
}

func chosen(body *spec.TargetChoice) []uuid.UUID {
	if body == nil {
		return nil
	}
	return optional.Value(body.Targets)
}

// ConfirmTarget records that an uncertain post exists.
func (s *DeadLetterHandler) ConfirmTarget(
	ctx context.Context, r spec.ConfirmTargetRequestObject,
) (spec.ConfirmTargetResponseObject, error) {
	answer, err := s.change(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Post, error) {
		return s.Scheduler.Confirm(ctx, g, r.Target, r.Body.Url, optional.Value(r.Body.RemoteId))
	})
	return spec.ConfirmTarget200JSONResponse{PostJSONResponse: answer}, err
}

// ResendTarget records that an uncertain post does not exist and publishes it again.
func (s *DeadLetterHandler) ResendTarget(
	ctx context.Context, r spec.ResendTargetRequestObject,
) (spec.ResendTargetResponseObject, error) {
	answer, err := s.change(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Post, error) {
		return s.Scheduler.Resend(ctx, g, r.Target)
	})
	return spec.ResendTarget200JSONResponse{PostJSONResponse: answer}, err
}

// DeletePublished deletes a published post at its network.
func (s *DeadLetterHandler) DeletePublished(
	ctx context.Context, r spec.DeletePublishedRequestObject,
) (spec.DeletePublishedResponseObject, error) {
	answer, err := s.change(ctx, r.Id, r.Params.IfMatch, func(g post.Guard) (post.Post, error) {
		return s.Scheduler.DeletePublished(ctx, g, r.Target)
	})
	return spec.DeletePublished200JSONResponse{PostJSONResponse: answer}, err
}

// ListDeadLetters lists dead letters.
func (s *DeadLetterHandler) ListDeadLetters(
	ctx context.Context, r spec.ListDeadLettersRequestObject,
) (spec.ListDeadLettersResponseObject, error) {
	f := post.DeadLetterFilter{
		WorkspaceID: principal(ctx).WorkspaceID, Reasons: optional.Value(r.Params.Reason),
		Networks:  optional.Value(r.Params.Network),
		AccountID: r.Params.Account, Limit: defaultPage,
	}
	if r.Params.Limit != nil {
		f.Limit = *r.Params.Limit
	}
	if text := optional.Value(r.Params.Cursor); text != "" {
		var err error
		if f.BeforeTime, f.BeforeID, err = readCursor(text); err != nil {
			return nil, err
		}
	}
	if err := onlyText(map[string][]string{"reason": f.Reasons, "network": f.Networks}); err != nil {
		return nil, err
	}
	limit := f.Limit
	f.Limit++ // one more, to know whether there is a next page
	letters, err := s.Store.DeadLetters(ctx, f)
	if err != nil {
		return nil, err
	}
	page := spec.ListDeadLetters200JSONResponse{DeadLetters: []spec.DeadLetter{}}
	if len(letters) > limit {
		letters = letters[:limit]
		next := cursor(letters[limit-1].Since, letters[limit-1].TargetID)
		page.NextCursor = &next
	}
	for _, l := range letters {
		page.DeadLetters = append(page.DeadLetters, deadLetterJSON(l))
	}
	return page, nil
}

// onlyText rejects text that the database cannot compare.
func onlyText(fields map[string][]string) error {
	var problems []apperr.FieldError
	for field, list := range fields {
		if slices.ContainsFunc(list,
			func(s string) bool { return !utf8.ValidString(s) || strings.ContainsRune(s, 0) }) {
			problems = append(problems, apperr.FieldError{
				Field: field, Code: "invalid", Message: "The value must be valid UTF-8 without NUL.",
			})
		}
	}
	if len(problems) > 0 {
		return apperr.InvalidFields(problems...)
	}
	return nil
}

// excerpt is the number of characters of a post's text in a dead letter.
const excerpt = 200

func deadLetterJSON(l post.DeadLetter) spec.DeadLetter {
	text := []rune(l.Content)
	if len(text) > excerpt {
		text = append(text[:excerpt-1:excerpt-1], '…')
	}
	out := spec.DeadLetter{
		PostId: l.PostID, TargetId: l.TargetID, AccountId: l.AccountID, Network: l.Network,
		Handle: l.Handle,
		Status: spec.TargetStatus(l.Status), Reason: l.Reason, Code: optional.Of(l.Code), Message: l.Message,
		Attempts: l.Attempts,
		Content:  string(text), Since: l.Since,
	}
	if len(l.Differences) > 0 {
		differences := notesJSON(l.Differences)
		out.Differences = &differences
	}
	if !l.ScheduledTime.IsZero() {
		at := l.ScheduledTime
		if zone, err := timezone.Load(l.TimeZone); err == nil {
			at = at.In(zone)
		}
		out.ScheduledTime = &at
	}
	return out
}

// CountDeadLetters counts dead letters by kind.
func (s *DeadLetterHandler) CountDeadLetters(
	ctx context.Context, _ spec.CountDeadLettersRequestObject,
) (spec.CountDeadLettersResponseObject, error) {
	counts, err := s.Store.CountDeadLetters(ctx, principal(ctx).WorkspaceID)
	if err != nil {
		return nil, err
	}
	answer := spec.CountDeadLetters200JSONResponse{Counts: []spec.DeadLetterCount{}}
	for _, c := range counts {
		answer.Total += c.Count
		answer.Counts = append(answer.Counts, spec.DeadLetterCount{
			Status: spec.TargetStatus(c.Status), Reason: c.Reason, Network: c.Network, Count: c.Count, Oldest: c.Oldest,
		})
	}
	return answer, nil
}

// RetryDeadLetters publishes all matching failed posts again.
func (s *DeadLetterHandler) RetryDeadLetters(
	ctx context.Context, r spec.RetryDeadLettersRequestObject,
) (spec.RetryDeadLettersResponseObject, error) {
	answer, err := s.bulk(ctx, r.Body, false)
	return spec.RetryDeadLetters200JSONResponse(answer), err
}

// DiscardDeadLetters discards all matching dead letters.
func (s *DeadLetterHandler) DiscardDeadLetters(
	ctx context.Context, r spec.DiscardDeadLettersRequestObject,
) (spec.DiscardDeadLettersResponseObject, error) {
	answer, err := s.bulk(ctx, r.Body, true)
	return spec.DiscardDeadLetters200JSONResponse(answer), err
}

func (s *DeadLetterHandler) bulk(ctx context.Context, c *spec.DeadLetterChoice, discard bool) (spec.BulkAnswer, error) {
	if c.Reasons == nil && c.Networks == nil && c.Account == nil && c.Posts == nil && !optional.Value(c.All) {
		return spec.BulkAnswer{},
			apperr.InvalidFields(apperr.FieldError{
				Field: "all", Code: "required", Message: "Select dead letters with a filter, or set all to true.",
			})
	}
	if err := onlyText(map[string][]string{
		"reasons":  optional.Value(c.Reasons),
		"networks": optional.Value(c.Networks),
	}); err != nil {
		return spec.BulkAnswer{}, err
	}
	who := principal(ctx)
	done, err := s.Scheduler.BulkDeadLetters(ctx, who.Actor(),
		post.DeadLetterFilter{
			WorkspaceID: who.WorkspaceID, Reasons: optional.Value(c.Reasons),
			Networks: optional.Value(c.Networks), AccountID: c.Account, PostIDs: optional.Value(c.Posts),
		}, discard, optional.Value(c.DryRun))
	if err != nil {
		return spec.BulkAnswer{}, err
	}
	if !optional.Value(c.DryRun) {
		s.nudgeAll(ctx, done.Posts)
	}
	answer := spec.BulkAnswer{Matched: done.Matched, Posts: done.Posts, More: done.HasMore}
	if answer.Posts == nil {
		answer.Posts = []uuid.UUID{}
	}
	return answer, nil
}

// nudgers is the maximum number of concurrent calls of Temporal for one request.
const nudgers = 8

// inBackground calls do for each item, also after the request has ended, until one
// fails.
func inBackground[T any](ctx context.Context, items []T, do func(context.Context, T) error) {
	detached := context.WithoutCancel(ctx)
	ctx, stop := context.WithCancel(detached)
	queue := make(chan T)
	go func() {
		defer stop()
		defer close(queue)
		for _, item := range items {
			select {
			case queue <- item:
			case <-ctx.Done():
				return
			}
		}
	}()
	for range min(nudgers, len(items)) {
		go func() {
			for item := range queue {
				if do(detached, item) != nil {
					stop()
					return
				}
			}
		}()
	}
}
