package delivery

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/media"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// job is all that is needed for one target.
type job struct {
	post      post.Post
	target    post.Target
	account   network.Account
	stored    account.Account // as it was read
	adapter   network.Network
	segments  []segment
	published []post.Published // what is out already, in order
	parent    string           // remote id of the post that the first segment answers
	ahead     *epochAhead
	hold      *hold
	limits    network.Limits            // since the content was checked
	pass      *pass                     // since admit, until the call
	kept      map[string]network.Staged // see handles
	media     func(media.Item) network.Media
}

// segment is one irreversible call to be.
type segment struct {
	post.Segment
	files  []media.Item
	fitted []media.Item // as the network takes them; nil: as they are
	staged []network.Staged
	handle string // of a Preparer
}

// next is the first segment that is not out yet.
func (j *job) next() int { return len(j.published) }

// load reads everything. A result means that there is nothing to do.
func (p *Publisher) load(ctx context.Context, in TargetInput) (*job, *TargetResult, error) {
	current, err := p.Store.Post(ctx, in.PostID)
	if err != nil {
		return nil, nil, permanent(err)
	}
	if current.Revision != in.Revision {
		return nil, &TargetResult{Stale: true}, nil
	}
	j := &job{post: current, media: p.attachment}
	for _, t := range current.Targets {
		if t.ID == in.TargetID {
			j.target = t
		}
	}
	if j.target.ID == uuid.Nil {
		return nil, &TargetResult{Stale: true}, nil
	}
	if !j.target.Status.Open() {
		return nil, &TargetResult{Status: j.target.Status}, nil
	}
	if current.Status != post.Scheduled && current.Status != post.Publishing {
		return nil, &TargetResult{Stale: true}, nil
	}
	stored, opened, err := p.Accounts.Open(ctx, j.target.AccountID)
	if err != nil {
		return nil, nil, err
	}
	j.account, j.stored = opened, stored
	adapter, ok := p.Networks.Get(j.target.Network)
	if !ok {
		return nil, nil, fmt.Errorf("this worker cannot publish to %s; is it older than the API?", j.target.Network)
	}
	j.adapter = adapter
	return j, nil, p.loadSegments(ctx, j)
}

// loadSegments reads what is to be sent, and what of it is out.
func (p *Publisher) loadSegments(ctx context.Context, j *job) error {
	segments := j.post.Segments(j.target)
	known, err := p.Store.MediaByID(ctx, j.post.WorkspaceID, j.post.MediaIDs())
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
	// Where the first segment is not out, none is.
	if j.target.RemoteID != "" {
		j.published, err = p.Store.PublishedSegments(ctx, j.target.ID)
	}
	return err
}
