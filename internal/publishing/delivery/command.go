package delivery

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
)

// CommandStore is the database as Commands uses it.
type CommandStore interface {
	Post(ctx context.Context, id uuid.UUID) (post.Post, error)
	AddEvent(ctx context.Context, postID uuid.UUID, targetID *uuid.UUID, event, actor string, data map[string]any) error
}

// Scheduler changes posts by the same rules as the API.
type Scheduler interface {
	Edit(ctx context.Context, g post.Guard, edit scheduling.Edit) (post.Post, error)
	Cancel(ctx context.Context, g post.Guard) (post.Post, error)
	PublishNow(ctx context.Context, g post.Guard) (post.Post, error)
	Retry(ctx context.Context, g post.Guard, targets []uuid.UUID) (post.Post, error)
	Discard(ctx context.Context, g post.Guard, targets []uuid.UUID) (post.Post, error)
}

// Commands applies the signals and updates that operators send to a post's workflow.
type Commands struct {
	Store     CommandStore
	Scheduler Scheduler
	Live      LiveBus
}

// Command is a signal or an update to apply.
type Command struct {
	PostID uuid.UUID
	Name   string // cancel, edit, publish_now, retry or discard
	Edit   scheduling.Edit
	// Targets are for retry and discard; none: all.
	Targets    []uuid.UUID
	InputError string // why its input is invalid
}

// Refusal is why a command was not applied; the zero value: it was.
type Refusal struct {
	Code   string `json:"code,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// Apply applies a command. A refusal is not an error: signals have no response, so it
// is recorded in the post's timeline, too.
func (s *Commands) Apply(ctx context.Context, c Command) (Refusal, error) {
	p, err := s.Store.Post(ctx, c.PostID)
	if err != nil {
		return Refusal{}, permanent(err)
	}
	g := post.Guard{WorkspaceID: p.WorkspaceID, PostID: p.ID, Actor: post.ActorOperator}
	err = s.apply(ctx, g, c, p.Status)
	var refused *apperr.Error
	if !errors.As(err, &refused) {
		return Refusal{}, err
	}
	refusal := Refusal{Code: refused.Code, Reason: refused.Error()}
	if err := s.Store.AddEvent(ctx, p.ID, nil, post.EventRefused, post.ActorOperator,
		map[string]any{"asked": c.Name, "code": refusal.Code, "reason": refusal.Reason}); err != nil {
		return Refusal{}, err
	}
	s.Live.Changed(ctx, p.ID)
	return refusal, nil
}

func (s *Commands) apply(ctx context.Context, g post.Guard, c Command, status post.Status) (err error) {
	switch {
	case c.InputError != "":
		return apperr.InvalidFields(apperr.FieldError{Field: "input", Code: "invalid", Message: c.InputError})
	case c.Name == "cancel" && status == post.Canceled:
		return nil // applied by an attempt whose response was lost
	case c.Name == "cancel":
		_, err = s.Scheduler.Cancel(ctx, g)
	case c.Name == "publish_now":
		_, err = s.Scheduler.PublishNow(ctx, g)
	case c.Name == "retry":
		_, err = s.Scheduler.Retry(ctx, g, c.Targets)
	case c.Name == "discard":
		_, err = s.Scheduler.Discard(ctx, g, c.Targets)
	default:
		_, err = s.Scheduler.Edit(ctx, g, c.Edit)
	}
	return err
}
