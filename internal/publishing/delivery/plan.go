package delivery

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// PlanStore is the database as the Planner uses it.
type PlanStore interface {
	AcknowledgeRevision(ctx context.Context, postID uuid.UUID) (post.Post, error)
	CountDue(ctx context.Context, from, to time.Time) (int, error)
}

// Planner reads posts and plans when they are prepared and dispatched.
type Planner struct {
	Store    PlanStore
	Networks Networks // nil: posts without attachments are not prepared ahead

	bursts burstCounter
}

// PostView is the part of a post that the workflow needs: no content, so that none
// enters the history.
type PostView struct {
	Status        post.Status
	ScheduledTime time.Time // UTC
	TimeZone      string
	PrepareAt     time.Time // when it is prepared; zero: there is nothing to prepare
	ArmAt         time.Time // when its activities are dispatched
	Deferred      bool      `json:",omitempty"` // its activities wait for ArmAt at Temporal, not the workflow
	ParkedUntil   time.Time // until when its dead letters wait; zero: it has none
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

// prepareLead is how long before its time a post's attachments are uploaded: long
// enough for a video to be processed, and for a person to fix a problem.
const prepareLead = 10 * time.Minute

// ReadPost reads the post and records that the workflow knows this revision.
func (l *Planner) ReadPost(ctx context.Context, id uuid.UUID) (PostView, error) {
	p, err := l.Store.AcknowledgeRevision(ctx, id)
	if err != nil {
		return PostView{}, permanent(err)
	}
	return l.View(ctx, p)
}

// View plans a post as it was read or stored.
func (l *Planner) View(ctx context.Context, p post.Post) (PostView, error) {
	v := PostView{Status: p.Status, ScheduledTime: p.ScheduledTime, TimeZone: p.TimeZone, Revision: p.Revision}
	if p.Status == post.Scheduled {
		burst, err := l.bursts.around(ctx, p.ScheduledTime, l.Store.CountDue)
		if err != nil {
			return PostView{}, err
		}
		v.ArmAt = p.ScheduledTime.Add(-leadOf(p.ID, burst))
		if len(p.MediaIDs()) > 0 || l.preparesAhead(p) {
			v.PrepareAt = p.ScheduledTime.Add(-prepareLead)
		}
	}
	for _, t := range p.Targets {
		if until := t.UpdatedAt.Add(post.ParkTimeout); t.Status.Dead() && until.After(v.ParkedUntil) {
			v.ParkedUntil = until.UTC()
		}
		v.Targets = append(v.Targets, TargetView{
			ID: t.ID, AccountID: t.AccountID, Network: t.Network, Status: t.Status,
		})
	}
	v.Deferred = p.Status == post.Scheduled && isDeferrable(v)
	return v, nil
}

// preparesAhead reports whether a network prepares the post before its time.
func (l *Planner) preparesAhead(p post.Post) bool {
	if l.Networks == nil {
		return false
	}
	for _, t := range p.Targets {
		n, _ := l.Networks.Get(t.Network)
		if _, ok := n.(network.Preparer); ok && t.Status.IsOpen() {
			return true
		}
	}
	return false
}
