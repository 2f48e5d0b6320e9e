package scheduling

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/workspace"
	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
)

// NextFree requests the next free slot of a queue instead of a time.
const NextFree = "next_free"

// QueueStore reads queues and their posts.
type QueueStore interface {
	Groups(ctx context.Context, workspace uuid.UUID) ([]account.Group, error)
	TakenSlots(ctx context.Context, group account.Group, accounts []uuid.UUID, except uuid.UUID,
		ats []time.Time) (map[time.Time]bool, error)
	QueuedPosts(ctx context.Context, workspace uuid.UUID, from, to time.Time) ([]post.QueuedPost, error)
	ReorderQueue(ctx context.Context, g post.Guard, move post.QueueMove) ([]post.Post, error)
}

// slotBatch is the number of slots that are looked up at once.
const slotBatch = 64

// NextSlot is where a post would go in a queue.
type NextSlot struct {
	Group account.Group
	At    time.Time
}

// Slot is a slot of a queue in a time window.
type Slot struct {
	GroupID uuid.UUID
	At      time.Time
	PostID  *uuid.UUID // nil: it is free
}

// Slots lists the slots of all queues in a time window, in order. Past slots are
// listed only where a post has them.
func (s *Scheduler) Slots(ctx context.Context, who workspace.Principal, from, to time.Time) ([]Slot, error) {
	groups, err := s.Store.Groups(ctx, who.WorkspaceID)
	if err != nil {
		return nil, err
	}
	queued, err := s.Store.QueuedPosts(ctx, who.WorkspaceID, from, to)
	if err != nil {
		return nil, err
	}
	var out []Slot
	taken := map[uuid.UUID]map[time.Time]bool{}
	for _, q := range queued {
		if taken[q.GroupID] == nil {
			taken[q.GroupID] = map[time.Time]bool{}
		}
		taken[q.GroupID][q.At] = true
		out = append(out, Slot{GroupID: q.GroupID, At: q.At, PostID: &q.PostID})
	}
	start := from
	if now := s.now(); start.Before(now) {
		start = now
	}
	for _, g := range groups {
		var ats []time.Time
		for at := range g.Upcoming(start.Add(-time.Nanosecond)) {
			if !at.Before(to) {
				break
			}
			if !taken[g.ID][at] {
				ats = append(ats, at)
			}
		}
		// A post outside of the queue takes the time of its accounts, too.
		otherwise, err := s.Store.TakenSlots(ctx, g, g.AccountIDs, uuid.Nil, ats)
		if err != nil {
			return nil, err
		}
		for _, at := range ats {
			if !otherwise[at] {
				out = append(out, Slot{GroupID: g.ID, At: at})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Slot) int { return a.At.Compare(b.At) })
	return out, nil
}

// ReorderQueue moves a post within its queue, and returns all posts whose time changes.
func (s *Scheduler) ReorderQueue(ctx context.Context, g post.Guard, move post.QueueMove) ([]post.Post, error) {
	w, err := s.Store.Workspace(ctx, g.WorkspaceID)
	if err != nil {
		return nil, err
	}
	if s.check(w).needsApproval(g.IsAuthor) {
		return nil, editorRequired("Reordering a queue changes the times of scheduled posts")
	}
	moved, err := s.Store.ReorderQueue(ctx, g, move)
	for _, p := range moved {
		s.Notifier.Changed(ctx, p.ID)
	}
	return moved, err
}

// queueOf finds the queue for a post: the named one, else the smallest group with slots
// that has all of the post's accounts.
func (c *check) queueOf(ctx context.Context, named string, accounts []account.Account) (account.Group, bool, error) {
	ids := make([]uuid.UUID, 0, len(accounts))
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	groups, err := c.lookup.groups(ctx)
	if err != nil {
		return account.Group{}, false, err
	}
	var found *account.Group
	for _, g := range groups {
		switch {
		case named == g.ID.String():
			return g, c.checkQueue(g, ids), nil
		case named == "" && len(g.Slots) > 0 && g.Covers(ids) &&
			(found == nil || len(g.AccountIDs) < len(found.AccountIDs)):
			found = &g
		}
	}
	switch {
	case named != "":
		c.add("queue_group_id", "unknown", "There is no account group {group}.", named)
	case found == nil:
		c.add("queue_group_id", "required",
			"No queue covers all of the accounts. Add slots to a group that has them, or name a queue.")
	default:
		return *found, true, nil
	}
	return account.Group{}, false, nil
}

func (c *check) checkQueue(g account.Group, accounts []uuid.UUID) bool {
	switch {
	case len(g.Slots) == 0:
		c.add("queue_group_id", "no_slots", "The queue of {group} has no slots. Add some first.", g.Name)
	case !g.Covers(accounts):
		c.add("queue_group_id", "not_covered", "The group {group} does not have all accounts of the post.", g.Name)
	default:
		return true
	}
	return false
}

// nextFree finds the first free slot of a queue for some accounts. The unique index on
// slots decides in the end: on a conflict the search is repeated.
func (c *check) nextFree(
	ctx context.Context, g account.Group, accounts []account.Account, except uuid.UUID,
) (time.Time, error) {
	ids := make([]uuid.UUID, 0, len(accounts))
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	now := c.scheduler.now()
	after := now
	if c.notBefore.After(now) {
		after = c.notBefore.Add(-time.Nanosecond)
	}
	var batch []time.Time
	for at := range g.Upcoming(after) {
		batch = append(batch, at)
		isLast := at.After(now.Add(post.Horizon))
		if len(batch) < slotBatch && !isLast {
			continue
		}
		taken, err := c.scheduler.Store.TakenSlots(ctx, g, ids, except, batch)
		if err != nil {
			return time.Time{}, err
		}
		for _, at := range batch {
			if !taken[at] && at.Before(now.Add(post.Horizon)) {
				return at, nil
			}
		}
		if isLast {
			break
		}
		batch = batch[:0]
	}
	c.add("queue_group_id", "full", "The queue of {group} has no free slot within five years. Add slots.", g.Name)
	return time.Time{}, nil
}

// queueTime assigns the next free slot to a post. The zone is the queue's unless the
// request names one.
func (c *check) queueTime(
	ctx context.Context, named, zone string, accounts []account.Account, except uuid.UUID,
) (at time.Time, zoneName string, group *uuid.UUID, err error) {
	if len(accounts) == 0 {
		return time.Time{}, c.zoneOr(zone), nil, nil // that they are missing has been said
	}
	g, ok, err := c.queueOf(ctx, named, accounts)
	if err != nil || !ok {
		return time.Time{}, c.zoneOr(zone), nil, err
	}
	if zone == "" {
		zone = g.TimeZone
	}
	at, err = c.nextFree(ctx, g, accounts, except)
	return at, c.checkZone(zone), &g.ID, err
}

// namedSlot checks that a time is a slot of the queue that a request names.
func (c *check) namedSlot(
	ctx context.Context, named string, at time.Time, accounts []account.Account,
) (*uuid.UUID, error) {
	if named == "" {
		return nil, nil
	}
	g, ok, err := c.queueOf(ctx, named, accounts)
	if err != nil || !ok {
		return nil, err
	}
	if !at.IsZero() && !g.HasSlotAt(at) {
		c.add("scheduled_time", "no_slot",
			"The queue of {group} has no slot at this time. Omit queue_group_id, or send when: next_free.", g.Name)
	}
	return &g.ID, nil
}

// checkWhen checks that a request asks for either a slot or a time.
func (c *check) checkWhen(when, scheduledTime string) {
	switch {
	case when != "" && when != NextFree:
		c.add("when", "invalid", "{value} is not supported; send next_free, or a scheduled_time.", when)
	case when != "" && scheduledTime != "":
		c.add("when", "conflict", "Send either when or scheduled_time.")
	}
}

// movedQueue returns the queue of a post after a change of its time: it stays at
// another slot of the same queue, and leaves it otherwise.
func (c *check) movedQueue(ctx context.Context, current post.Post, at time.Time) (*uuid.UUID, error) {
	if current.QueueGroupID == nil || at.IsZero() || at.Equal(current.ScheduledTime) {
		return nil, nil
	}
	groups, err := c.lookup.groups(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		if g.ID == *current.QueueGroupID && g.HasSlotAt(at) {
			return nil, nil
		}
	}
	none := uuid.Nil
	return &none, nil
}

func isSlotTaken(err error) bool {
	var e *apperr.Error
	return errors.As(err, &e) && e.Code == post.CodeSlotTaken
}

// nextSlot finds where a post would go in a queue; nil: no queue fits.
func (c *check) nextSlot(ctx context.Context, named string, accounts []account.Account) (*NextSlot, error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	g, ok, err := c.queueOf(ctx, named, accounts)
	if err != nil || !ok {
		return nil, err
	}
	at, err := c.nextFree(ctx, g, accounts, uuid.Nil)
	if err != nil || at.IsZero() {
		return nil, err
	}
	return &NextSlot{Group: g, At: at}, nil
}
