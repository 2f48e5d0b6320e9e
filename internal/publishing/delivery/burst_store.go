package delivery

import (
	"context"
	"time"

	"dateline/internal/infra/batch"
	"dateline/internal/publishing/post"
)

// BatchStore is a Store that can claim and record many posts in one statement.
type BatchStore interface {
	Store
	ClaimAll(ctx context.Context, calls []post.Call, lease time.Duration) (claimed []post.Call, ok []bool, err error)
	RecordPosted(ctx context.Context, outcomes []post.Outcome) (ok []bool, err error)
}

// crowd gathers the claims and the outcomes of all posts of this process, so
// that those of one second reach the database in a few statements.
type crowd struct {
	BatchStore
	claims   *batch.Batcher[claim, claim]
	early    *batch.Batcher[claim, claim] // those with time to spare
	outcomes *batch.Batcher[post.Outcome, bool]
	rush     rush
}

type claim struct {
	call  post.Call
	lease time.Duration
	ok    bool
}

// outcomePause lets outcomes of a steady stream of posts gather. The claim is
// held meanwhile, and nobody waits for the record by the millisecond.
const outcomePause = 50 * time.Millisecond

// claimPause is how long a claim that is made ahead for a crowd waits for others:
// each transaction of its own would cost the database four times as much. It is
// left for the claim itself once more.
const claimPause = 10 * time.Millisecond

const atOnce = 500 // rows of one statement: more would make the first ones wait

// Batched makes a store combine what comes at the same time. Stop it after the last activity has ended: what
// was sent has to be recorded also while the worker stops.
func Batched(s BatchStore) (batching Store, stop func()) {
	ctx, stop := context.WithCancel(context.Background())
	c := &crowd{BatchStore: s}
	c.claims = batch.New(ctx, atOnce, 2, c.claimAll)
	c.early = batch.Lingering(ctx, claimPause, atOnce, 2, c.claimAll)
	c.outcomes = batch.Lingering(ctx, outcomePause, atOnce, 1, c.finishAll)
	return c, stop
}

func (c *crowd) Claim(ctx context.Context, call post.Call, lease time.Duration) (post.Call, bool, error) {
	claims := c.claims
	if time.Until(call.Due) > 2*claimPause {
		claims = c.early
	}
	got, err := claims.Do(ctx, claim{call: call, lease: lease})
	return got.call, got.ok, err
}

func (c *crowd) RecordOutcome(ctx context.Context, o post.Outcome) (post.Post, bool, error) {
	c.rush.answered(o.OperationID)
	if o.Status != post.TargetPosted || o.Operation != post.CallAccepted || o.Segment > 0 {
		return c.BatchStore.RecordOutcome(ctx, o)
	}
	ok, err := c.outcomes.Do(ctx, o)
	return post.Post{}, ok, err
}

func (c *crowd) claimAll(ctx context.Context, in []claim) ([]claim, error) {
	calls, lease := make([]post.Call, len(in)), in[0].lease
	for i := range in {
		calls[i], lease = in[i].call, max(lease, in[i].lease)
	}
	claimed, ok, err := c.ClaimAll(ctx, calls, lease)
	if err != nil {
		return nil, err
	}
	out := make([]claim, len(in))
	for i := range in {
		out[i] = claim{call: claimed[i], ok: ok[i]}
		if ok[i] {
			c.rush.claimed(claimed[i].OperationID, claimed[i].SentAt)
		}
	}
	return out, nil
}

func (c *crowd) finishAll(ctx context.Context, in []post.Outcome) ([]bool, error) {
	c.rush.letPass(ctx)
	return c.RecordPosted(ctx, in)
}
