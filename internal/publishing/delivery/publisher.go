// Package delivery publishes posts to networks: on time, once, and with every
// lost response resolved.
package delivery

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// Store is the database as the publisher uses it.
type Store interface {
	Post(ctx context.Context, id uuid.UUID) (post.Post, error)
	Parent(ctx context.Context, postID, accountID uuid.UUID) (status post.TargetStatus, remoteID string, err error)
	MediaByID(ctx context.Context, workspace uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]media.Item, error)
	SetPlatformMedia(ctx context.Context, postID uuid.UUID, revision int64, accountID uuid.UUID, handles json.RawMessage) error

	Claim(ctx context.Context, c post.Call, lease time.Duration) (claimed post.Call, ok bool, err error)
	RenewClaim(ctx context.Context, targetID uuid.UUID, fence int64, lease time.Duration) (ok bool, err error)
	TakeOver(ctx context.Context, c post.Call, fence int64, lease time.Duration) (newFence int64, ok bool, err error)
	OpenCall(ctx context.Context, targetID uuid.UUID) (c post.Call, found bool, err error)
	LastEpoch(ctx context.Context, targetID uuid.UUID, segment int, revision int64) (int, error)
	CountUnresolvedSends(ctx context.Context, targetID uuid.UUID, segment int, revision int64) (int, error)
	PublishedSegments(ctx context.Context, targetID uuid.UUID) ([]post.Published, error)
	UnresolvedSince(ctx context.Context, targetID uuid.UUID, segment int, except uuid.UUID) (sent time.Time, found bool, err error)
	SetCallState(ctx context.Context, operationID uuid.UUID, state string, evidence map[string]any) error
	ClaimedRemoteIDs(ctx context.Context, accountID uuid.UUID, since time.Time) (map[string]bool, error)
	SimilarCalls(ctx context.Context, accountID uuid.UUID, call post.Call, since time.Time) (post.SimilarCalls, error)
	RecordOutcome(ctx context.Context, o post.Outcome) (p post.Post, ok bool, err error)
	AddEvent(ctx context.Context, postID uuid.UUID, targetID *uuid.UUID, event, actor string, data map[string]any) error
	AddEventOnce(ctx context.Context, postID, targetID uuid.UUID, event, actor string, data map[string]any) (said bool, err error)
}

// AccountOpener opens an account's tokens for the moment of use, and renews them.
type AccountOpener interface {
	Open(ctx context.Context, id uuid.UUID) (account.Account, network.Account, error)
	Renew(ctx context.Context, id uuid.UUID, version int64) (account.Renewal, error)
	Refused(ctx context.Context, id uuid.UUID, version int64, e *network.Error) (noted bool, err error)
}

// NetworkFinder finds the adapter of a network.
type NetworkFinder interface {
	Get(name string) (network.Network, bool)
}

// LiveBus tells open streams that a post has new events.
type LiveBus interface {
	Changed(ctx context.Context, postID uuid.UUID)
}

// Publisher sends posts to networks.
type Publisher struct {
	Store    Store
	Accounts AccountOpener
	Networks NetworkFinder
	Objects  media.Objects
	Links    Links // nil: networks that fetch attachments themselves get none
	Live     LiveBus
	Log      *slog.Logger
	Timing   Timing
	Clock    Clock      // nil: the host's
	Limits   RateLimits // nil: none are kept
	Waker    Waker      // nil: posts come when they were told to
	Hosts    Hosts      // nil: every host may be called at any time
	Media    Renderer   // nil: images go as they are
	Meter    Meter      // nil: nothing is counted
	InFlight *InFlight  // the worker's; nil: nobody tells of changes

	alone InFlight // when there is none
}

func (p *Publisher) inFlight() *InFlight {
	if p.InFlight == nil {
		return &p.alone
	}
	return p.InFlight
}

// TargetInput names one target of one post. Revision is what the workflow
// decided on: another one makes the result Stale.
type TargetInput struct {
	PostID   uuid.UUID
	TargetID uuid.UUID
	Revision int64
	// NotBefore is when the activity is to be dispatched; zero: at once.
	NotBefore time.Time `json:",omitzero"`
}

// TargetResult is how the target stands afterwards.
type TargetResult struct {
	Status post.TargetStatus
	Stale  bool // the post changed meanwhile: read it again and decide anew
	// Recorded says that this attempt wrote the status into the post's row, so
	// that a workflow which wanted nothing else need not read it again.
	Recorded bool `json:",omitempty"`
}

// Publish brings a post to one account: it gets everything ready, waits
// in memory until the post's time, claims the row, sends once, and records what
// came of it. It is safe to run again at any point: the ledger says what an
// earlier attempt may have done. What has not been claimed ends when the post
// changes.
func (p *Publisher) Publish(ctx context.Context, attempt Attempt, in TargetInput) (TargetResult, error) {
	if err := p.notYet(in); err != nil {
		return TargetResult{}, err
	}
	pulse := keepAlive(ctx, attempt, p.Timing.orDefaults().Heartbeat)
	defer pulse.stop()
	watched, one, release := p.inFlight().take(ctx, attempt, in)
	defer release()
	result, err := rounds(watched, func() (TargetResult, error) {
		p.inFlight().begun(one)
		return p.publishTarget(watched, pulse, one)
	})
	if err != nil && ctx.Err() == nil && p.inFlight().over(one) {
		return TargetResult{Stale: true}, nil
	}
	return result, err
}

func (p *Publisher) publishTarget(ctx context.Context, pulse *pulse, one *hold) (TargetResult, error) {
	in := one.in
	job, result, err := p.load(ctx, in)
	if err != nil || result != nil {
		return deref(result), err
	}
	job.hold = one
	call, open, err := p.Store.OpenCall(ctx, in.TargetID)
	if err != nil {
		return TargetResult{}, err
	}
	if open {
		return p.resolveEarlier(ctx, job, call)
	}
	if result, err := p.tooLate(ctx, job, p.clock().Now()); result != nil || err != nil {
		return deref(result), err
	}
	problem, held := p.prepareWithin(ctx, job)
	if held != nil {
		return TargetResult{}, held
	}
	if problem != nil {
		t := p.Timing.orDefaults()
		switch {
		case problem.Code == codeParentWaiting:
			// Nothing happened that a log or a timeline should tell.
			return TargetResult{}, waitFor("The post that this one answers is not published yet.", doubling(t.Parent, one.attempt.of(in), t.MaxWait))
		case ours(problem):
			p.Log.ErrorContext(ctx, "a post has to wait", "post_id", in.PostID, "code", problem.Code, "error", problem.Err)
			return TargetResult{}, waitFor("Database or object storage failed ("+problem.Code+").", doubling(t.Backoff, one.attempt.of(in), t.MaxWait))
		}
		return p.settle(ctx, job, post.Call{Fence: job.target.Fence}, problem)
	}
	if err := p.readAhead(ctx, job); err != nil {
		return TargetResult{}, err
	}
	at := job.post.ScheduledTime
	pulse.quietAround(at)
	leave := p.inFlight().armed.add(at)
	defer leave()
	// A crowd gets its permits as it is armed: together they would take the
	// processors from those that are handed out last.
	defer p.dismiss(ctx, job)
	if p.inFlight().armed.count(at) >= dispatchRate {
		if err := p.reserve(ctx, job, at); err != nil {
			return TargetResult{}, err
		}
	}
	if err := p.await(ctx, at, admitLead); err != nil {
		return TargetResult{}, err
	}
	if err := p.admit(ctx, job, at); err != nil {
		return TargetResult{}, err
	}
	if err := p.await(ctx, at, claimLead); err != nil {
		return TargetResult{}, err
	}
	// Uploading may have taken long.
	if result, err := p.tooLate(ctx, job, p.clock().Now()); result != nil || err != nil {
		return deref(result), err
	}
	crowd := p.inFlight().armed.count(at)
	sent, err := p.sendAll(ctx, job)
	if err == nil && sent.Status == post.TargetPosted {
		holdBack(ctx, crowd)
	}
	return sent, err
}

// resolveEarlier finds out what became of a call whose answer nobody recorded.
func (p *Publisher) resolveEarlier(ctx context.Context, j *job, call post.Call) (TargetResult, error) {
	lease := p.Timing.orDefaults().Lease
	fence, ok, err := p.Store.TakeOver(ctx, call, j.target.Fence, lease)
	if err != nil {
		return TargetResult{}, err
	}
	if !ok {
		return TargetResult{}, &onward{lease / pausesOfLease, waitFor("Another attempt still holds the claim on this target.", lease/3)}
	}
	call.Fence, call.PostID = fence, j.post.ID
	return p.reconcile(ctx, j, call, &network.Error{Class: network.Ambiguous, Code: "interrupted",
		Message: "The publisher stopped between sending and recording the answer."})
}

func deref(r *TargetResult) TargetResult {
	if r == nil {
		return TargetResult{}
	}
	return *r
}
