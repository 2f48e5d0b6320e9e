package delivery

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/batch"
	"dateline/internal/publishing/account"
	"dateline/internal/publishing/post"
	"dateline/platforms/network"
)

// BatchStore is a Store that can read, claim and record many posts in one statement.
type BatchStore interface {
	Store
	PostsWithTargets(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]post.Post, error)
	ClaimAll(ctx context.Context, calls []post.Call, lease time.Duration) (claimed []post.Call, ok []bool, err error)
	RecordPosted(ctx context.Context, outcomes []post.Outcome) (ok []bool, err error)
}

// batchedStore batches the reads, claims and outcomes of all posts of this process,
// so that those of one second reach the database in a few statements.
type batchedStore struct {
	BatchStore
	reads    *batch.Batcher[uuid.UUID, *post.Post] // nil: it was not found
	claims   *batch.Batcher[claim, claim]
	early    *batch.Batcher[claim, claim] // those with time to spare
	outcomes *batch.Batcher[post.Outcome, bool]
	inFlight inFlightBurst
}

type claim struct {
	call  post.Call
	lease time.Duration
	ok    bool
}

// readInterval lets the reads of a stream of posts form batches: they are dispatched
// seconds before their time.
const readInterval = 50 * time.Millisecond

// outcomeDelay lets the outcomes of a steady stream of posts form batches. The claim is
// kept meanwhile, and the record need not be immediate.
const outcomeDelay = 50 * time.Millisecond

// claimDelay is how long a claim that is made ahead waits for others: a transaction of
// its own would cost the database ten times as much. The same time again is reserved for
// the claim itself.
const claimDelay = 100 * time.Millisecond

const maxBatch = 500 // rows of one statement: more would delay the first ones

// Time limits of a batch: a connection that hangs, as after a failover, must not stop the
// posts of the whole process. Claims and outcomes are safe to repeat.
const (
	maxReadTime   = 5 * time.Second
	maxClaimTime  = 10 * time.Second
	maxRecordTime = 15 * time.Second
)

// Batched returns a store and accounts that batch reads, claims and outcomes. Call stop
// after the last attempt has ended: outcomes must be recorded also while the worker stops.
func Batched(s BatchStore, a Accounts) (store Store, accounts Accounts, stop func()) {
	ctx, stop := context.WithCancel(context.Background())
	b := &batchedStore{BatchStore: s}
	b.reads = batch.NewWithInterval(ctx, readInterval, maxBatch, b.readAll)
	b.claims = batch.New(ctx, maxBatch, 2, b.claimAll)
	b.early = batch.NewWithDelay(ctx, claimDelay, maxBatch, 2, b.claimAll)
	b.outcomes = batch.NewWithDelay(ctx, outcomeDelay, maxBatch, 1, b.recordAll)
	c := &batchedAccounts{Accounts: a}
	c.opens = batch.NewWithInterval(ctx, readInterval, maxBatch, c.openAll)
	return b, c, stop
}

// Post reads a post together with others.
func (b *batchedStore) Post(ctx context.Context, id uuid.UUID) (post.Post, error) {
	p, err := b.reads.Do(ctx, id)
	if err != nil {
		return post.Post{}, err
	}
	if p == nil {
		return b.BatchStore.Post(ctx, id) // has no targets, or does not exist
	}
	return *p, nil
}

func (b *batchedStore) readAll(ctx context.Context, ids []uuid.UUID) ([]*post.Post, error) {
	ctx, cancel := context.WithTimeout(ctx, maxReadTime)
	defer cancel()
	found, err := b.PostsWithTargets(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]*post.Post, len(ids))
	for i, id := range ids {
		if p, ok := found[id]; ok {
			out[i] = &p
		}
	}
	return out, nil
}

// batchedAccounts opens an account once for all posts of a batch.
type batchedAccounts struct {
	Accounts
	opens *batch.Batcher[uuid.UUID, opened]
}

type opened struct {
	stored  account.Account
	account network.Account
	err     error
}

// Open opens an account together with others.
func (b *batchedAccounts) Open(ctx context.Context, id uuid.UUID) (account.Account, network.Account, error) {
	got, err := b.opens.Do(ctx, id)
	if err == nil {
		err = got.err
	}
	return got.stored, got.account, err
}

func (b *batchedAccounts) openAll(ctx context.Context, ids []uuid.UUID) ([]opened, error) {
	ctx, cancel := context.WithTimeout(ctx, maxReadTime)
	defer cancel()
	out, known := make([]opened, len(ids)), map[uuid.UUID]opened{}
	for i, id := range ids {
		one, ok := known[id]
		if !ok {
			one.stored, one.account, one.err = b.Accounts.Open(ctx, id)
			known[id] = one
		}
		out[i] = one
	}
	return out, nil
}

// Claim claims a target together with others.
func (b *batchedStore) Claim(ctx context.Context, call post.Call, lease time.Duration) (post.Call, bool, error) {
	claims := b.claims
	if time.Until(call.Due) > 2*claimDelay {
		claims = b.early
	}
	got, err := claims.Do(ctx, claim{call: call, lease: lease})
	return got.call, got.ok, err
}

// RecordOutcome records an outcome, together with others if the post is posted.
func (b *batchedStore) RecordOutcome(ctx context.Context, o post.Outcome) (post.Post, bool, error) {
	b.inFlight.remove(o.OperationID)
	if o.Status != post.TargetPosted || o.Operation != post.CallAccepted || o.Segment > 0 || len(o.Differences) > 0 {
		return b.BatchStore.RecordOutcome(ctx, o)
	}
	ok, err := b.outcomes.Do(ctx, o)
	return post.Post{}, ok, err
}

func (b *batchedStore) claimAll(ctx context.Context, in []claim) ([]claim, error) {
	calls, lease := make([]post.Call, len(in)), in[0].lease
	for i := range in {
		calls[i], lease = in[i].call, max(lease, in[i].lease)
	}
	ctx, cancel := context.WithTimeout(ctx, maxClaimTime)
	defer cancel()
	claimed, ok, err := b.ClaimAll(ctx, calls, lease)
	if err != nil {
		return nil, err
	}
	out := make([]claim, len(in))
	for i := range in {
		out[i] = claim{call: claimed[i], ok: ok[i]}
		if ok[i] {
			b.inFlight.add(claimed[i].OperationID, claimed[i].SentAt)
		}
	}
	return out, nil
}

func (b *batchedStore) recordAll(ctx context.Context, in []post.Outcome) ([]bool, error) {
	b.inFlight.wait(ctx)
	ctx, cancel := context.WithTimeout(ctx, maxRecordTime)
	defer cancel()
	return b.RecordPosted(ctx, in)
}

// inFlightBurst knows the claims without an outcome. While many calls of one
// second are in flight, recording the outcome of the first would delay the
// others: both need the same CPUs.
type inFlightBurst struct {
	mu    sync.Mutex
	calls map[uuid.UUID]time.Time // when each is planned
}

const (
	minBurst      = 20                      // fewer calls do not delay each other
	maxCallTime   = 1500 * time.Millisecond // a call that takes longer is not waited for; leases last ten times as long
	burstInterval = 10 * time.Millisecond
)

// add records a call that is about to be made.
func (b *inFlightBurst) add(operation uuid.UUID, planned time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.calls == nil {
		b.calls = map[uuid.UUID]time.Time{}
	}
	b.calls[operation] = planned
}

// remove records that a call has ended.
func (b *inFlightBurst) remove(operation uuid.UUID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.calls, operation)
}

// wait waits for the burst.
func (b *inFlightBurst) wait(ctx context.Context) {
	for b.isActive(time.Now()) && ctx.Err() == nil {
		time.Sleep(burstInterval)
	}
}

func (b *inFlightBurst) isActive(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.calls) < minBurst {
		return false
	}
	inFlight := 0
	for operation, planned := range b.calls {
		switch late := now.Sub(planned); {
		case late > maxCallTime: // slow, or never made: its claim was lost
			delete(b.calls, operation)
		case late >= 0:
			inFlight++
		}
	}
	return inFlight >= minBurst
}
