package delivery

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/internal/publishing/scheduling"
	"dateline/platforms/network"
)

// job is everything that an attempt at one target needs.
type job struct {
	post      post.Post
	target    post.Target
	account   network.Account
	stored    account.Account // as it was read
	adapter   network.Network
	segments  []segment
	options   network.PostOptions     // of the first segment; nil: none
	invalid   []network.Violation     // of the options, which this version cannot read
	published []post.PublishedSegment // segments that are already published, in order
	parent    string                  // remote id of the post that the first segment replies to
	epoch     *prefetchedEpoch
	run       *run
	limits    network.Limits            // set by checking the content
	admitted  *admitted                 // from acquire to the call
	observed  sync.WaitGroup            // updates of limits with a response
	handles   map[string]network.Staged // see storedHandles
	media     func(media.Item) network.Media
}

// segment is one call that cannot be undone.
type segment struct {
	post.Segment
	files    []media.Item
	rendered []media.Item // as the network accepts them; nil: as they are
	staged   []network.Staged
	handle   string // of a Preparer
}

// isClaimedBefore reports whether the target may have calls in the ledger: each was
// written together with a new fencing number.
func (j *job) isClaimedBefore() bool { return j.target.Fence > 0 }

// next is the first segment that is not published yet.
func (j *job) next() int { return len(j.published) }

func (j *job) fileCount() int {
	n := 0
	for _, s := range j.segments {
		n += len(s.files)
	}
	return n
}

// loader reads everything that an attempt needs.
type loader struct {
	posts       PostStore
	accounts    Accounts
	networks    Networks
	attachments attachments
}

// load returns a result instead of a job if there is nothing to do.
func (l *loader) load(ctx context.Context, in TargetInput) (*job, *TargetResult, error) {
	current, err := l.posts.Post(ctx, in.PostID)
	if err != nil {
		return nil, nil, permanent(err)
	}
	if current.Revision != in.Revision {
		return nil, &TargetResult{Stale: true}, nil
	}
	j := &job{post: current, media: l.attachments.media}
	for _, t := range current.Targets {
		if t.ID == in.TargetID {
			j.target = t
		}
	}
	if j.target.ID == uuid.Nil {
		return nil, &TargetResult{Stale: true}, nil
	}
	if !j.target.Status.IsOpen() {
		return nil, &TargetResult{Status: j.target.Status}, nil
	}
	if current.Status != post.Scheduled && current.Status != post.Publishing {
		return nil, &TargetResult{Stale: true}, nil
	}
	stored, opened, err := l.accounts.Open(ctx, j.target.AccountID)
	if err != nil {
		return nil, nil, err
	}
	j.account, j.stored = opened, stored
	adapter, ok := l.networks.Get(j.target.Network)
	if !ok {
		return nil, nil, fmt.Errorf("this worker cannot publish to %s; is it older than the API?", j.target.Network)
	}
	j.adapter = adapter
	return j, nil, l.loadSegments(ctx, j)
}

// loadSegments reads the segments to send, and those that are already published.
func (l *loader) loadSegments(ctx context.Context, j *job) error {
	segments := j.post.Segments(j.target)
	j.options, j.invalid = scheduling.ParseOptions(j.adapter, j.post.OptionsFor(j.target))
	known, err := l.posts.MediaByID(ctx, j.post.WorkspaceID, j.post.MediaIDs())
	if err != nil {
		return err
	}
	for _, s := range segments {
		one := segment{Segment: s}
		for _, id := range s.AttachmentIDs {
			one.files = append(one.files, known[id])
		}
		j.segments = append(j.segments, one)
	}
	// If the first segment is not published, none is.
	if j.target.RemoteID != "" {
		j.published, err = l.posts.PublishedSegments(ctx, j.target.ID)
	}
	return err
}
