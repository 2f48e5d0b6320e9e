package activities

import (
	"context"
	"time"

	"dateline/internal/post"
	"dateline/platforms/network"
)

// looks are the pauses before each look for a lost post: listings lag behind.
// They stand in the order that docs/publishing.md promises.
func looks() []time.Duration {
	return []time.Duration{time.Second, 5 * time.Second, 15 * time.Second, 60 * time.Second}
}

// clockSkew is allowed between our clock and a network's.
const clockSkew = 2 * time.Minute

// codeAbsent marks a call that provably published nothing.
const codeAbsent = "absent"

// maxUnclearSends is how many sends may end unclear before a person decides.
const maxUnclearSends = 2

// reconcile looks for a post whose answer was lost. Found, it is done; absent,
// it is sent once more; unclear, it waits for a person.
func (p *Publish) reconcile(ctx context.Context, j *job, call post.Call, cause *network.Error) (TargetResult, error) {
	evidence := map[string]any{"cause": cause.Message, "code": cause.Code}
	if err := p.Store.SetCallState(context.WithoutCancel(ctx), call.OperationID, post.CallAmbiguous, evidence); err != nil {
		return TargetResult{}, err
	}
	if err := p.note(ctx, j, post.EventAmbiguous, map[string]any{"message": cause.Message, "code": cause.Code}); err != nil {
		return TargetResult{}, err
	}
	finding, err := p.look(ctx, j, call)
	if err != nil {
		return TargetResult{}, err
	}
	if finding.Found {
		if err := p.note(ctx, j, post.EventReconciled, map[string]any{"found": true, "evidence": finding.Evidence}); err != nil {
			return TargetResult{}, err
		}
		return p.posted(ctx, j, call, finding.Receipt, post.CallReconciledOK, map[string]any{"evidence": finding.Evidence})
	}
	if !finding.Conclusive || call.Epoch >= maxUnclearSends {
		o := outcome(j, call, cause)
		o.Status, o.Operation, o.Event, o.Tries = post.TargetUncertain, post.CallManual, post.EventUncertain, 1
		return p.finish(ctx, o)
	}
	if err := p.note(ctx, j, post.EventReconciled, map[string]any{"found": false, "evidence": finding.Evidence}); err != nil {
		return TargetResult{}, err
	}
	return p.retry(ctx, j, call, &network.Error{Class: network.Transient, Code: codeAbsent,
		Message: "The network does not have the post, so it is sent once more."})
}

// look asks the network until the post is found or the last look is over.
func (p *Publish) look(ctx context.Context, j *job, call post.Call) (network.Finding, error) {
	ctx, release := p.hold(ctx, j, call)
	defer release()
	from := call.SentAt.Add(-clockSkew)
	var last network.Finding
	for _, pause := range looks() {
		if err := sleepUntil(ctx, time.Now().Add(pause)); err != nil {
			return last, err
		}
		known, err := p.Store.ClaimedRemoteIDs(ctx, j.target.AccountID, from)
		if err != nil {
			return last, err
		}
		found, err := j.adapter.Reconcile(ctx, j.account, j.submission, network.Window{From: from, Known: known})
		if err != nil {
			p.Log.Warn("looking for a lost post failed", "post_id", j.post.ID, "target_id", j.target.ID, "error", err)
			last = network.Finding{Evidence: network.AsError(err).Message}
			continue
		}
		if last = found; found.Found {
			return found, nil
		}
	}
	return last, nil
}

func (p *Publish) note(ctx context.Context, j *job, event string, data map[string]any) error {
	if err := p.Store.Note(context.WithoutCancel(ctx), j.post.ID, &j.target.ID, event, post.ActorDateline, data); err != nil {
		return err
	}
	p.Live.Changed(ctx, j.post.ID)
	return nil
}
