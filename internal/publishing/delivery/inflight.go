package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
)

// ChangeStore finds posts that have changed.
type ChangeStore interface {
	// FindChanged returns those of the posts that have another revision now, or must no
	// longer be published.
	FindChanged(ctx context.Context, revisions map[uuid.UUID]int64) ([]uuid.UUID, error)
}

// InFlight tracks the attempts that run in this process, so that a change of a post
// immediately reaches the attempt that waits with it. Temporal would only report it in
// the response to a heartbeat, and the heartbeats of a burst cost more than all its
// other calls. The zero value is ready.
type InFlight struct {
	armed armed

	mu    sync.Mutex
	posts map[uuid.UUID]map[*run]struct{}
}

// run is one attempt in flight.
type run struct {
	attempt   Attempt
	in        TargetInput
	isClaimed bool // it can no longer be changed
	isChanged bool
	cancel    context.CancelFunc
}

// add registers an attempt until it is released. Its context ends when the post
// has changed.
func (f *InFlight) add(
	ctx context.Context, attempt Attempt, in TargetInput,
) (_ context.Context, one *run, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	one = &run{attempt: attempt, in: in, cancel: cancel}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.posts == nil {
		f.posts = map[uuid.UUID]map[*run]struct{}{}
	}
	if f.posts[in.PostID] == nil {
		f.posts[in.PostID] = map[*run]struct{}{}
	}
	f.posts[in.PostID][one] = struct{}{}
	return ctx, one, func() {
		cancel()
		f.mu.Lock()
		defer f.mu.Unlock()
		if delete(f.posts[in.PostID], one); len(f.posts[in.PostID]) == 0 {
			delete(f.posts, in.PostID)
		}
	}
}

// Count returns how many attempts of a post are in flight.
func (f *InFlight) Count(post uuid.UUID) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.posts[post])
}

// Armed returns how many posts wait in memory for their time.
func (f *InFlight) Armed() int { return f.armed.all() }

// IsBurstNear reports whether a burst of this process is about to be sent, or has just
// been.
func (f *InFlight) IsBurstNear(now time.Time) bool { return f.armed.hasBurstNear(now) }

// revisions returns the revisions in flight, of the posts named or, without
// names, of all.
func (f *InFlight) revisions(posts ...uuid.UUID) map[uuid.UUID]int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[uuid.UUID]int64{}
	add := func(id uuid.UUID) {
		for one := range f.posts[id] {
			if one.isClaimed {
				continue
			}
			// The older of two: that one has to end.
			if known, ok := out[id]; !ok || one.in.Revision < known {
				out[id] = one.in.Revision
			}
		}
	}
	for _, id := range posts {
		add(id)
	}
	if len(posts) == 0 {
		for id := range f.posts {
			add(id)
		}
	}
	return out
}

// cancelChanged ends the attempts that wait with the revision that a post had.
func (f *InFlight) cancelChanged(post uuid.UUID, revision int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for one := range f.posts[post] {
		if one.in.Revision == revision && !one.isClaimed {
			one.isChanged = true
			one.cancel()
		}
	}
}

// setUnclaimed records that an attempt starts publishing, for the first time or again.
func (f *InFlight) setUnclaimed(one *run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.isClaimed = false
}

// setClaimed records that the content of an attempt can no longer change.
func (f *InFlight) setClaimed(one *run) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one.isClaimed = true
}

// isChanged reports whether the post has changed since the attempt started.
func (f *InFlight) isChanged(one *run) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return one.isChanged
}

// checkInterval is how often everything in flight is compared with the database,
// in case a notice was lost.
const checkInterval = 5 * time.Second

// Follow ends attempts whose posts have changed, until ctx ends. Each notice
// names posts with new events; a lost notice costs seconds, not the change.
func (f *InFlight) Follow(ctx context.Context, notices <-chan []uuid.UUID, changes ChangeStore, log *slog.Logger) {
	check := time.NewTicker(checkInterval)
	defer check.Stop()
	for {
		var revisions map[uuid.UUID]int64
		select {
		case <-ctx.Done():
			return
		case named := <-notices:
			revisions = f.revisions(named...)
		case now := <-check.C:
			if f.IsBurstNear(now) {
				continue // nothing may run beside the sends; the claim checks the revision itself
			}
			revisions = f.revisions()
		}
		if len(revisions) == 0 {
			continue
		}
		changed, err := changes.FindChanged(ctx, revisions)
		if err != nil {
			if ctx.Err() == nil {
				log.Warn("checking in-flight posts for changes failed; their claims will check", "posts",
					len(revisions), "error", err)
			}
			continue
		}
		for _, id := range changed {
			f.cancelChanged(id, revisions[id])
		}
	}
}
