package scheduling

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/post"
)

// Automatic is a post that Dateline creates for a member, without a request.
type Automatic struct {
	ID            uuid.UUID // chosen by the caller: repeated calls create one post
	DecisionID    uuid.UUID // of a rule, if one creates the post: see post.NewPost
	Who           workspace.Principal
	Draft         Draft
	NotBefore     time.Time // of a slot of a queue; zero: any
	NeedsApproval bool
}

// CreateAutomatic stores a post under the id that the caller has chosen, or returns the
// one that an earlier call stored.
func (s *Scheduler) CreateAutomatic(ctx context.Context, in Automatic) (post.Post, error) {
	if p, err := s.Store.PostInWorkspace(ctx, in.Who.WorkspaceID, in.ID); !isPostNotFound(err) {
		return p, err
	}
	p, err := untilSlot(in.Draft.When, func() (post.Post, error) {
		w, err := s.Store.Workspace(ctx, in.Who.WorkspaceID)
		if err != nil {
			return post.Post{}, err
		}
		c := s.check(w)
		c.notBefore = in.NotBefore
		n, err := c.validate(ctx, in.Who, in.Draft)
		if err != nil {
			return post.Post{}, err
		}
		if len(c.problems) > 0 {
			return post.Post{}, apperr.InvalidFields(c.problems...)
		}
		n.Post.ID, n.DecisionID, n.Actor = in.ID, in.DecisionID, post.ActorDateline
		if in.NeedsApproval && n.Post.Status == post.Scheduled {
			n.Post.Status, n.Post.Approval.State = post.Draft, post.ApprovalPending
		}
		p, _, err := s.Store.CreatePost(ctx, n)
		return p, err
	})
	if err != nil {
		// A concurrent call may have stored it.
		if stored, stillErr := s.Store.PostInWorkspace(ctx, in.Who.WorkspaceID, in.ID); stillErr == nil {
			return stored, nil
		}
		return post.Post{}, err
	}
	s.Notifier.Changed(ctx, p.ID)
	s.countScheduled(ctx, 1)
	return p, nil
}

// DiscardAutomatic cancels a draft that CreateAutomatic stored, if there is one and nobody
// has changed it.
func (s *Scheduler) DiscardAutomatic(ctx context.Context, workspace, id uuid.UUID) error {
	p, err := s.Store.PostInWorkspace(ctx, workspace, id)
	if isPostNotFound(err) || err == nil && (p.Status != post.Draft || p.Version > 1) {
		return nil
	}
	if err == nil {
		_, err = s.Cancel(ctx, post.Guard{
			WorkspaceID: workspace, PostID: id, IfVersion: p.Version, Actor: post.ActorDateline,
		})
	}
	if isStale(err) {
		return nil
	}
	return err
}

// Post returns a post of a workspace.
func (s *Scheduler) Post(ctx context.Context, workspace, id uuid.UUID) (post.Post, error) {
	return s.Store.PostInWorkspace(ctx, workspace, id)
}

// Unschedule takes a scheduled post off the schedule: it is pending approval.
func (s *Scheduler) Unschedule(ctx context.Context, g post.Guard) (post.Post, error) {
	return s.notifyChange(ctx, func() (post.Post, error) {
		return s.Store.Edit(ctx, g, post.Change{NeedsApproval: true}, nil)
	})
}

// TextLimit says how long a text on an account may be.
type TextLimit struct {
	Max   int                   // 0: unlimited, or unknown because the instance does not respond
	Count func(text string) int // nil: not known
	// RejectsRepeats is true if the network rejects a text that the account has posted
	// before.
	RejectsRepeats bool
}

// TextLimits returns how the networks of accounts count texts.
func (s *Scheduler) TextLimits(
	ctx context.Context, workspaceID uuid.UUID, accounts []uuid.UUID, trackLinks bool,
) (map[uuid.UUID]TextLimit, error) {
	found, err := s.Store.AccountsByID(ctx, workspaceID, accounts)
	if err != nil {
		return nil, err
	}
	base := ""
	if trackLinks {
		base = s.LinkBase
	}
	lookup := newLookup(s, workspaceID)
	out := make(map[uuid.UUID]TextLimit, len(found))
	for _, a := range found {
		adapter, ok := s.Networks.Get(a.Network)
		if !ok {
			continue
		}
		limits, err := lookup.limits(ctx, adapter, a)
		if err != nil {
			continue // the post is checked again before it is sent
		}
		out[a.ID] = TextLimit{Max: limits.MaxCharacters, Count: func(text string) int {
			// Short links of one length take the place of addresses.
			sent := post.Post{Content: text, LinkBase: base}.Segments(post.Target{AccountID: a.ID, Network: a.Network})
			return adapter.Count(sent[0].Content, limits)
		}, RejectsRepeats: limits.RejectsRepeats}
	}
	return out, nil
}

func isPostNotFound(err error) bool {
	var e *apperr.Error
	return errors.As(err, &e) && e.Kind == apperr.KindNotFound
}
