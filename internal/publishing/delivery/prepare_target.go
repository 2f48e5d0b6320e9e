package delivery

import (
	"context"
	"fmt"

	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// Prepare does for one target, ahead of its time, what can be done
// without publishing anything. A problem that only a person can mend goes into
// the timeline while there is time to mend it; everything is looked at again
// when the post goes out.
func (p *Publisher) Prepare(ctx context.Context, attempt Attempt, in TargetInput) error {
	pulse := keepAlive(ctx, attempt, p.Timing.orDefaults().Heartbeat)
	defer pulse.stop()
	j, result, err := p.load(ctx, in)
	if err != nil || result != nil {
		return err
	}
	problem := p.checkContent(ctx, j)
	if problem == nil {
		problem = p.stage(ctx, j)
	}
	// What it answers may not be out yet.
	if problem == nil && j.post.ThreadParentID == nil {
		problem = p.ready(ctx, j)
	}
	switch {
	case problem == nil:
		return p.note(ctx, j, post.EventPrepared, map[string]any{"attachments": j.files()})
	case problem.Class == network.Rejected || problem.Class == network.Auth || problem.Class == network.Duplicate:
		return p.note(ctx, j, post.EventProblem, map[string]any{"class": problem.Class, "code": problem.Code, "message": problem.Message})
	default:
		// What the network said may repeat what the post says: not for Temporal.
		return &RetryError{Kind: RetryFailed, Message: fmt.Sprintf("Preparing did not succeed yet: %s.", problem.Class)}
	}
}

func (j *job) files() int {
	n := 0
	for _, s := range j.segments {
		n += len(s.files)
	}
	return n
}
