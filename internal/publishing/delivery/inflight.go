package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
)

// ChangeStore tells which posts are not what they were any more.
type ChangeStore interface {
	// FindChanged gives those of the posts that have another revision by now, or are
	// not to be published any more.
	FindChanged(ctx context.Context, revisions map[uuid.UUID]int64) ([]uuid.UUID, error)
}

// InFlight knows the publishing that runs in this process, so that a change of a
// post reaches the activity that waits with it at once. Temporal would only tell
// with the answer to a heartbeat, and a crowd's heartbeats cost more than
// everything else of it. The zero value is ready.
type InFlight struct {
	armed armed

	mu    sync.Mutex
	posts map[uuid.UUID]map[*hold]struct{}
}

// hold is one activity that runs.
type hold struct {
	attempt Attempt
	in      TargetInput
	claimed bool // it can not be changed any more
	changed bool
	callOff context.CancelFunc
}

// take notes an activity until it is released. Its context ends when the post
// has changed.
func (r *InFlight) take(ctx context.Context, attempt Attempt, in TargetInput) (_ context.Context, one *hold, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	one = &hold{attempt: attempt, in: in, callOff: cancel}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.posts == nil {
		r.posts = map[uuid.UUID]map[*hold]struct{}{}
	}
	if r.posts[in.PostID] == nil {
		r.posts[in.PostID] = map[*hold]struct{}{}
	}
	r.posts[in.PostID][one] = struct{}{}
	return ctx, one, func() {
		cancel()
		r.mu.Lock()
		defer r.mu.Unlock()
		if delete(r.posts[in.PostID], one); len(r.posts[in.PostID]) == 0 {
			delete(r.posts, in.PostID)
		}
	}
}

// Count says how many activities of a post run.
func (r *InFlight) Count(post uuid.UUID) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.posts[post])
}

// Armed says how many posts wait in memory for their time.
func (r *InFlight) Armed() int { return r.armed.all() }

// revisions gives the revisions that are being published, of the posts named
// or, without names, of all.
func (r *InFlight) revisions(posts ...uuid.UUID) map[uuid.UUID]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := map[uuid.UUID]int64{}
	add := func(id uuid.UUID) {
		for one := range r.posts[id] {
			if one.claimed {
				continue
			}
			// The older of two: that one has to hear of the change.
			if known, ok := out[id]; !ok || one.in.Revision < known {
				out[id] = one.in.Revision
			}
		}
	}
	for _, id := range posts {
		add(id)
	}
	if len(posts) == 0 {
		for id := range r.posts {
			add(id)
		}
	}
	return out
}

// callOff ends what waits with the revision that a post had.
func (r *InFlight) callOff(post uuid.UUID, revision int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for one := range r.posts[post] {
		if one.in.Revision == revision && !one.claimed {
			one.changed = true
			one.callOff()
		}
	}
}

// begun notes that an activity begins to publish, once more.
func (r *InFlight) begun(one *hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one.claimed = false
}

// claimed notes that what an activity publishes is fixed now.
func (r *InFlight) claimed(one *hold) {
	r.mu.Lock()
	defer r.mu.Unlock()
	one.claimed = true
}

// over says whether the post has changed since the activity began.
func (r *InFlight) over(one *hold) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return one.changed
}

// lookForChanges is how often everything that runs is compared with the
// database, in case a notice did not come.
const lookForChanges = 5 * time.Second

// Follow ends activities whose posts have changed, until ctx ends. Each notice
// names posts that something happened to; that some are missed costs seconds, not
// the change.
func (r *InFlight) Follow(ctx context.Context, notices <-chan []uuid.UUID, changes ChangeStore, log *slog.Logger) {
	look := time.NewTicker(lookForChanges)
	defer look.Stop()
	for {
		var revisions map[uuid.UUID]int64
		select {
		case <-ctx.Done():
			return
		case named := <-notices:
			revisions = r.revisions(named...)
		case now := <-look.C:
			if r.armed.soon(now) {
				continue // nothing may run beside the sending; the claim looks for itself
			}
			revisions = r.revisions()
		}
		if len(revisions) == 0 {
			continue
		}
		changed, err := changes.FindChanged(ctx, revisions)
		if err != nil {
			if ctx.Err() == nil {
				log.Warn("could not look for changes of posts that are about to go out; their claims will", "posts", len(revisions), "error", err)
			}
			continue
		}
		for _, id := range changed {
			r.callOff(id, revisions[id])
		}
	}
}
