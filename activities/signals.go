package activities

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/temporal"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/network"
)

// SignalStore is the database as signals use it.
type SignalStore interface {
	Acknowledge(ctx context.Context, postID uuid.UUID) (post.Post, error)
	Post(ctx context.Context, id uuid.UUID) (post.Post, error)
	CountDue(ctx context.Context, from, to time.Time) (int, error)
	Note(ctx context.Context, postID uuid.UUID, targetID *uuid.UUID, event, actor string, data map[string]any) error
}

// Editor changes posts by the same rules as the API.
type Editor interface {
	Change(ctx context.Context, g post.Guard, edit scheduling.Edit) (post.Post, error)
	Cancel(ctx context.Context, g post.Guard) (post.Post, error)
	PublishNow(ctx context.Context, g post.Guard) (post.Post, error)
	Retry(ctx context.Context, g post.Guard, targets []uuid.UUID) (post.Post, error)
	Discard(ctx context.Context, g post.Guard, targets []uuid.UUID) (post.Post, error)
}

// Signals carries out what operators ask of a post by a signal, and reads the
// post for its workflow.
type Signals struct {
	Store    SignalStore
	Desk     Editor
	Live     LiveBus
	Networks NetworkFinder // nil: posts without attachments are not prepared ahead

	crowds crowds
}

// PostView is what the workflow needs to know of a post: no content, so that
// none enters the history.
type PostView struct {
	Status        post.Status
	ScheduledTime time.Time // UTC
	TimeZone      string
	PrepareAt     time.Time // when its attachments are to be uploaded and it is to be made ready; zero: nothing is
	ArmAt         time.Time // when its activities are to be dispatched
	Deferred      bool      `json:",omitempty"` // its activities wait for ArmAt at Temporal, not the workflow
	ParkedUntil   time.Time // how long its dead letters wait; zero: it has none
	Revision      int64
	Targets       []TargetView
}

// TargetView is one target of a PostView.
type TargetView struct {
	ID        uuid.UUID
	AccountID uuid.UUID
	Network   string
	Status    post.TargetStatus
}

// prepareLead is how long before its time a post's attachments are uploaded:
// long enough for a video to be processed, and for a person to mend a problem.
const prepareLead = 10 * time.Minute

// ReadPost reads the post and notes that the workflow knows this revision.
func (s *Signals) ReadPost(ctx context.Context, id uuid.UUID) (PostView, error) {
	p, err := s.Store.Acknowledge(ctx, id)
	if err != nil {
		return PostView{}, lasting(err)
	}
	v := PostView{Status: p.Status, ScheduledTime: p.ScheduledTime, TimeZone: p.TimeZone, Revision: p.Revision}
	if p.Status == post.Scheduled {
		crowd, err := s.crowds.around(ctx, p.ScheduledTime, s.Store.CountDue)
		if err != nil {
			return PostView{}, err
		}
		v.ArmAt = p.ScheduledTime.Add(-leadOf(p.ID, crowd))
		if len(p.MediaIDs()) > 0 || s.preparesAhead(p) {
			v.PrepareAt = p.ScheduledTime.Add(-prepareLead)
		}
	}
	for _, t := range p.Targets {
		if until := t.UpdatedAt.Add(post.ParkedFor); t.Status.Dead() && until.After(v.ParkedUntil) {
			v.ParkedUntil = until.UTC()
		}
		v.Targets = append(v.Targets, TargetView{ID: t.ID, AccountID: t.AccountID, Network: t.Network, Status: t.Status})
	}
	v.Deferred = p.Status == post.Scheduled && defers(v)
	return v, nil
}

// preparesAhead says whether a network wants to know the post before its time.
func (s *Signals) preparesAhead(p post.Post) bool {
	if s.Networks == nil {
		return false
	}
	for _, t := range p.Targets {
		n, _ := s.Networks.Get(t.Network)
		if _, ok := n.(network.Preparer); ok && t.Status.Open() {
			return true
		}
	}
	return false
}

// Command is a signal to carry out.
type Command struct {
	PostID uuid.UUID
	Name   string // cancel, edit, publish_now, retry or discard
	Edit   scheduling.Edit
	// Targets are those that retry and discard mean; none: all.
	Targets []uuid.UUID
	Broken  string // why the signal's input could not be read
}

// Obey carries out a command. A refusal is no error: nobody waits for the
// answer to a signal, so it goes into the post's timeline.
func (s *Signals) Obey(ctx context.Context, c Command) error {
	p, err := s.Store.Post(ctx, c.PostID)
	if err != nil {
		return lasting(err)
	}
	g := post.Guard{WorkspaceID: p.WorkspaceID, PostID: p.ID, Actor: post.ActorOperator}
	err = s.obey(ctx, g, c, p.Status)
	var refusal *apperr.Error
	if !errors.As(err, &refusal) {
		return err
	}
	if err := s.Store.Note(ctx, p.ID, nil, post.EventRefused, post.ActorOperator,
		map[string]any{"asked": c.Name, "code": refusal.Code, "reason": refusal.Error()}); err != nil {
		return err
	}
	s.Live.Changed(ctx, p.ID)
	return nil
}

func (s *Signals) obey(ctx context.Context, g post.Guard, c Command, status post.Status) (err error) {
	switch {
	case c.Broken != "":
		return apperr.InvalidFields(apperr.FieldError{Field: "input", Code: "invalid", Message: c.Broken})
	case c.Name == "cancel" && status == post.Cancelled:
		return nil // carried out by an attempt whose answer was lost
	case c.Name == "cancel":
		_, err = s.Desk.Cancel(ctx, g)
	case c.Name == "publish_now":
		_, err = s.Desk.PublishNow(ctx, g)
	case c.Name == "retry":
		_, err = s.Desk.Retry(ctx, g, c.Targets)
	case c.Name == "discard":
		_, err = s.Desk.Discard(ctx, g, c.Targets)
	default:
		_, err = s.Desk.Change(ctx, g, c.Edit)
	}
	return err
}

// lasting marks errors that no retry can mend.
func lasting(err error) error {
	var e *apperr.Error
	if errors.As(err, &e) {
		return temporal.NewNonRetryableApplicationError(e.Message, e.Code, nil)
	}
	return err
}
