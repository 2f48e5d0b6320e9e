// Package scheduling contains the rules for scheduling, editing and canceling posts.
// The API and the signals of the Post workflow both use it, so that no rule can be
// bypassed.
package scheduling

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/utm"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/network"
)

// Store is the database. Each part serves one use case.
type Store interface {
	PostStore
	ApprovalStore
	DeadLetterStore
	LookupStore
	SeriesStore
	BulkStore
	QueueStore
}

// PostStore creates and changes posts.
type PostStore interface {
	ReplayedPost(ctx context.Context, workspace uuid.UUID, key idempotency.Key) (p post.Post, found bool, err error)
	CreatePost(ctx context.Context, n post.NewPost) (p post.Post, replayed bool, err error)
	PostInWorkspace(ctx context.Context, workspace, id uuid.UUID) (post.Post, error)
	Edit(ctx context.Context, g post.Guard, change post.Change, attachmentURLs []string) (post.Post, error)
	EditWaiting(ctx context.Context, g post.Guard, change post.Change) (post.Post, error)
	Cancel(ctx context.Context, g post.Guard) (post.Post, error)
	PublishNow(ctx context.Context, g post.Guard) (post.Post, error)
	ScheduleDraft(ctx context.Context, g post.Guard, change post.Change) (post.Post, error)
}

// ApprovalStore records submissions and decisions.
type ApprovalStore interface {
	Submit(ctx context.Context, g post.Guard, change post.Change) (post.Post, error)
	Approve(ctx context.Context, g post.Guard) (post.Post, error)
	Reject(ctx context.Context, g post.Guard, note string) (post.Post, error)
	Reopen(ctx context.Context, g post.Guard) (post.Post, error)
}

// DeadLetterStore retries, discards and resolves dead letters.
type DeadLetterStore interface {
	Retry(ctx context.Context, g post.Guard, targets []uuid.UUID) (post.Post, error)
	Discard(ctx context.Context, g post.Guard, targets []uuid.UUID) (post.Post, error)
	Decide(ctx context.Context, g post.Guard, d post.Decision) (post.Post, error)
	PublishedSegments(ctx context.Context, target uuid.UUID) ([]post.PublishedSegment, error)
	Deleted(ctx context.Context, g post.Guard, target uuid.UUID) (post.Post, error)
	DeadLetters(ctx context.Context, f post.DeadLetterFilter) ([]post.DeadLetter, error)
}

// LookupStore returns objects that a post refers to, and posts scheduled near it.
type LookupStore interface {
	Workspace(ctx context.Context, id uuid.UUID) (workspace.Workspace, error)
	PostsByID(ctx context.Context, workspace uuid.UUID, ids []uuid.UUID) ([]post.Post, error)
	Accounts(ctx context.Context, workspace uuid.UUID) ([]account.Account, error)
	AccountsByID(ctx context.Context, workspace uuid.UUID, ids []uuid.UUID) ([]account.Account, error)
	DefaultAccounts(ctx context.Context, workspace uuid.UUID) ([]account.Account, error)
	MediaByID(ctx context.Context, workspace uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]media.Item, error)
	CountPlanned(ctx context.Context, workspace, account uuid.UUID, from, to time.Time, limit int) (int, error)
	NearbyPosts(ctx context.Context, workspace uuid.UUID, spots []post.Slot) ([]post.NearbyPost, error)
}

// Networks returns the adapter of a network.
type Networks interface {
	Get(name string) (network.Network, bool)
}

// Accounts returns an account with its tokens.
type Accounts interface {
	Open(ctx context.Context, id uuid.UUID) (account.Account, network.Account, error)
	Unseal(a account.Account) (network.Account, error)
}

// Notifier notifies open streams that a post changed.
type Notifier interface {
	Changed(ctx context.Context, postID uuid.UUID)
}

// Rates returns the state of an account's rate limits.
type Rates interface {
	Buckets(ctx context.Context, c ratelimit.Caller) ([]ratelimit.Bucket, error)
}

// Meter counts scheduled posts.
type Meter interface {
	Scheduled(ctx context.Context, posts int)
}

// Scheduler applies the rules. All fields but the last three must be set.
type Scheduler struct {
	Store     Store
	Accounts  Accounts
	Networks  Networks
	ObjectURL func(key string) string
	LinkBase  string // URL prefix of short links; "": no short links
	Notifier  Notifier
	Log       *slog.Logger
	Rates     Rates            // nil: only documented limits are known
	Now       func() time.Time // the database's time; nil: the host's
	Meter     Meter            // nil: no metrics

	counts countCache
}

func (s *Scheduler) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

func (s *Scheduler) countScheduled(ctx context.Context, posts int) {
	if s.Meter != nil {
		s.Meter.Scheduled(ctx, posts)
	}
}

// Edit is a change as requested; nil keeps a field.
type Edit struct {
	Content       *string
	ScheduledTime *string
	TimeZone      *string
	Attachments   *[]string
	Thread        *[]Segment
	Options       *post.Options
	Overrides     map[string]*Override // by account id; nil removes an override
	Accounts      *[]string
	Language      *string
	LateLimit     *int
	TrackLinks    *bool
	UTM           *utm.Params
	When          string // NextFree: the next free slot of a queue
	QueueGroupID  string // whose slot ScheduledTime is, or which queue NextFree means
}

// Edit edits a post that is not being published yet, or the segments of a thread that
// still wait for their time. A failed post is published again with the change, at its
// new time or immediately.
func (s *Scheduler) Edit(ctx context.Context, g post.Guard, edit Edit) (post.Post, error) {
	return untilSlot(edit.When, func() (post.Post, error) { return s.edit(ctx, g, edit) })
}

// untilSlot repeats a change that requests the next free slot until no other request
// gets it first.
func untilSlot(when string, change func() (post.Post, error)) (post.Post, error) {
	for {
		p, err := change()
		if when != NextFree || !isSlotTaken(err) {
			return p, err
		}
	}
}

func (s *Scheduler) edit(ctx context.Context, g post.Guard, edit Edit) (post.Post, error) {
	return s.changeChecked(ctx, g, func(c *check, current post.Post, g post.Guard) (post.Post, error) {
		// Report this before problems of fields: no value could solve it.
		isWaiting := current.HasWaitingSegments()
		if !editable(current) && !isWaiting {
			return post.Post{}, post.TooLate(current)
		}
		waits := c.needsApproval(g.IsAuthor)
		if waits && hasStarted(current) {
			return post.Post{}, editorRequired("Sending of this post has begun")
		}
		change, err := c.applyEdit(ctx, edit, current)
		if err != nil {
			return post.Post{}, err
		}
		if len(c.problems) > 0 {
			return post.Post{}, apperr.InvalidFields(c.problems...)
		}
		change = change.ChangedFrom(current)
		if change.IsEmpty() && (isWaiting || !hasStarted(current)) {
			return current, nil
		}
		if isWaiting {
			if !change.IsThreadOnly() {
				return post.Post{}, post.AlreadyPublished()
			}
			return s.Store.EditWaiting(ctx, g, change)
		}
		change.NeedsApproval = waits && current.Status == post.Scheduled && changesContent(change)
		var urls []string
		if change.AttachmentIDs != nil {
			urls = c.urls(*change.AttachmentIDs)
		}
		return s.Store.Edit(ctx, g, change, urls)
	})
}

// changeChecked applies a change that depends on the current post. change receives the
// post and a guard for its version. If a concurrent change happens, and the caller has
// not named a version, it reads and checks the post again.
func (s *Scheduler) changeChecked(
	ctx context.Context, g post.Guard, change func(c *check, current post.Post, g post.Guard) (post.Post, error),
) (post.Post, error) {
	workspace, err := s.Store.Workspace(ctx, g.WorkspaceID)
	if err != nil {
		return post.Post{}, err
	}
	for try := 1; ; try++ {
		current, err := s.Store.PostInWorkspace(ctx, g.WorkspaceID, g.PostID)
		if err != nil {
			return post.Post{}, err
		}
		if g.IfVersion != 0 && g.IfVersion != current.Version {
			return post.Post{}, post.VersionMismatch(current.Version)
		}
		bound := g
		bound.IfVersion = current.Version
		c := s.check(workspace)
		p, err := change(c, current, bound)
		if err == nil {
			s.Notifier.Changed(ctx, p.ID)
			p = c.withWarnings(ctx, p)
			p.Unscheduled = current.Status == post.Scheduled && p.Status == post.Draft
		}
		if !isStale(err) || g.IfVersion != 0 || try == maxCheckAttempts {
			return p, err
		}
	}
}

// maxCheckAttempts limits the attempts under concurrent changes before the request
// fails with a conflict.
const maxCheckAttempts = 5

// editable reports whether an edit can still affect any target of the post.
func editable(p post.Post) bool {
	switch p.Status {
	case post.Draft, post.Scheduled:
		return true
	case post.Failed, post.PartlyPosted:
		return slices.ContainsFunc(p.Targets, func(t post.Target) bool { return t.Status == post.TargetFailed })
	default:
		return false
	}
}

// Cancel cancels a post that is not being published yet.
func (s *Scheduler) Cancel(ctx context.Context, g post.Guard) (post.Post, error) {
	return s.notifyChange(ctx, func() (post.Post, error) { return s.Store.Cancel(ctx, g) })
}

// PublishNow makes a scheduled post or a draft due immediately.
func (s *Scheduler) PublishNow(ctx context.Context, g post.Guard) (post.Post, error) {
	return s.changeChecked(ctx, g, func(c *check, p post.Post, bound post.Guard) (post.Post, error) {
		if c.needsApproval(g.IsAuthor) && (p.Status == post.Draft || p.Status == post.Scheduled) {
			return post.Post{}, editorRequired("Publishing it now puts it on the schedule")
		}
		if p.Status != post.Draft {
			return s.Store.PublishNow(ctx, g) // checked before it was scheduled
		}
		if err := c.checkComplete(ctx, p, time.Now()); err != nil {
			return post.Post{}, err
		}
		return s.Store.PublishNow(ctx, bound)
	})
}

func (s *Scheduler) notifyChange(ctx context.Context, change func() (post.Post, error)) (post.Post, error) {
	p, err := change()
	if err == nil {
		s.Notifier.Changed(ctx, p.ID)
	}
	return p, err
}
