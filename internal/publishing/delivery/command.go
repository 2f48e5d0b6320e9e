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
	FindCommand(ctx context.Context, postID uuid.UUID, key string) (result Refusal, found bool, err error)
	RecordCommand(ctx context.Context, g post.Guard) error
	RefuseCommand(ctx context.Context, g post.Guard, name string, refusal Refusal) (result Refusal, err error)
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
	Key    string // identifies it: a second run of it does nothing and returns the result of the first
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
// is recorded in the post's timeline, too. The result is recorded with the change: when
// a worker dies before Temporal knows it, the activity runs again, and must neither apply
// the command twice nor refuse what it has applied.
func (s *Commands) Apply(ctx context.Context, c Command) (Refusal, error) {
	p, err := s.Store.Post(ctx, c.PostID)
	if err != nil {
		return Refusal{}, permanent(err)
	}
	if c.Key == "" {
		c.Key = uuid.NewString() // nothing runs it again
	}
	if result, found, err := s.Store.FindCommand(ctx, p.ID, c.Key); found || err != nil {
		return result, err
	}
	g := post.Guard{WorkspaceID: p.WorkspaceID, PostID: p.ID, Actor: post.ActorOperator, CommandKey: c.Key}
	err = s.apply(ctx, g, c, p.Status)
	var refused *apperr.Error
	switch {
	case err == nil:
		return Refusal{}, s.Store.RecordCommand(ctx, g)
	case !errors.As(err, &refused):
		return Refusal{}, err
	}
	result, err := s.Store.RefuseCommand(ctx, g, c.Name, Refusal{Code: refused.Code, Reason: refused.Error()})
	if err == nil {
		s.Live.Changed(ctx, p.ID)
	}
	return result, err
}

func (s *Commands) apply(ctx context.Context, g post.Guard, c Command, status post.Status) (err error) {
	switch {
	case c.InputError != "":
		return apperr.InvalidFields(apperr.FieldError{Field: "input", Code: "invalid", Message: c.InputError})
	case c.Name == "cancel" && status == post.Canceled:
		return nil // somebody else was faster
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
