package ratelimit

import (
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"dateline/internal/infra/batch"
	"dateline/platforms/network"
)

//go:embed acquire.lua
var acquireSource string

//go:embed update.lua
var updateSource string

const (
	// DefaultTimeout is how long a post waits for Redis.
	DefaultTimeout = 150 * time.Millisecond
	// failureBackoff is how long Redis is not used after it failed.
	failureBackoff = time.Second
	// reportedLimitTTL is how long a limit that a network reported is trusted without
	// another report.
	reportedLimitTTL = 7 * 24 * time.Hour
	// maxBatch is how many calls are sent to Redis together.
	maxBatch = 1000
	// batchInterval lets the calls of a stream of posts form batches. Posts acquire their
	// tokens ahead of their time.
	batchInterval = 50 * time.Millisecond
)

// Limiter issues tokens. It is safe for concurrent use.
type Limiter struct {
	redis           redis.Cmdable
	log             *slog.Logger
	timeout         time.Duration // of a call to Redis
	acquire, update *redis.Script
	requests        *batch.Batcher[request, Grant]
	updates         *batch.Batcher[[]update, []uuid.UUID]
	waiters         *batch.Batcher[waiter, struct{}]
	backoffUntil    atomic.Int64 // Unix nanoseconds
	isFailing       atomic.Bool  // already logged
}

// New returns a limiter with a Redis client that the caller closes; it ends with ctx. A
// call to Redis that takes longer than timeout counts as failed.
func New(ctx context.Context, client redis.Cmdable, timeout time.Duration, log *slog.Logger) *Limiter {
	l := &Limiter{
		redis: client, log: log, timeout: timeout, acquire: redis.NewScript(acquireSource),
		update: redis.NewScript(updateSource),
	}
	l.requests = batch.NewWithInterval(ctx, batchInterval, maxBatch, l.acquireAll)
	l.updates = batch.NewWithInterval(ctx, batchInterval, maxBatch, l.updateAll)
	l.waiters = batch.New(ctx, maxBatch, 1, l.addWaiters)
	return l
}

// Acquire acquires a token for one call. It never waits for a bucket, and waits for
// Redis no longer than the timeout.
func (l *Limiter) Acquire(ctx context.Context, c Caller, kind network.CallKind) Grant {
	if l.isBackingOff() {
		return Grant{OK: true}
	}
	waiting, cancel := context.WithTimeout(ctx, batchInterval+2*l.timeout)
	defer cancel()
	grant, err := l.requests.Do(waiting, request{c, kind})
	if err != nil {
		if ctx.Err() == nil { // a canceled caller says nothing about Redis
			l.recordFailure(err)
		}
		return Grant{OK: true}
	}
	return grant
}

// AcquireShare acquires a token for one call, if less than a percentage of each of its
// buckets is used up, so that the rest is left for posts. Unlike Acquire it fails
// closed: such calls can wait for Redis.
func (l *Limiter) AcquireShare(ctx context.Context, c Caller, kind network.CallKind, percent int) Grant {
	buckets := c.buckets(kind)
	refused := Grant{RetryAt: time.Now().Add(time.Minute)}
	if l.isBackingOff() {
		return refused
	}
	reading, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	keys, args := scriptArgs(0, buckets)
	raw, err := l.acquire.Run(reading, l.redis, keys, args...).Int64Slice()
	if err != nil {
		if ctx.Err() == nil {
			l.recordFailure(err)
		}
		return refused
	}
	now := time.Now()
	for i, b := range parseBuckets(raw, buckets, now) {
		cost := buckets[i].cost
		switch reserved := b.Limit - b.Limit*percent/100; {
		case b.ClosedUntil.After(now):
			refused.RetryAt = b.ClosedUntil
		case b.Remaining < 0 || b.Limit == 0 || b.Remaining-cost >= reserved:
			continue
		case b.ResetAt.After(now):
			refused.RetryAt = b.ResetAt
		case b.Per > 0: // it refills evenly
			refused.RetryAt = now.Add(b.Per * time.Duration(reserved+cost-b.Remaining) / time.Duration(b.Limit))
		}
		refused.Bucket, refused.Scope = b.Name, b.Scope
		return refused
	}
	return l.Acquire(ctx, c, kind)
}

// Release returns a token that was not used.
func (l *Limiter) Release(ctx context.Context, p Token) {
	if p.acquiredAt.IsZero() {
		return
	}
	var updates []update
	for i, b := range p.caller.buckets(p.kind) {
		// A token of a window that has ended has nothing to return.
		if i < len(p.resets) && (p.resets[i].IsZero() || time.Now().Before(p.resets[i])) {
			updates = append(updates, update{bucket: b, released: b.cost})
		}
	}
	l.send(ctx, updates)
}

// Observe updates the buckets of a call with its response. failure is nil for a call
// that succeeded. It returns the waiting posts (see AddWaiter) that should try again,
// because the response showed that they need not wait so long.
func (l *Limiter) Observe(
	ctx context.Context, c Caller, kind network.CallKind, rates []network.RateStatus, failure *network.Error,
) (wake []uuid.UUID) {
	var updates []update
	now := time.Now()
	for _, b := range c.buckets(kind) {
		w := update{bucket: b, succeeded: failure == nil}
		if failure != nil && failure.Class == network.Throttled && failure.Scope == b.Scope {
			if failure.RetryAt.After(now) {
				w.closed = failure.RetryAt
			} else {
				w.refused = true
			}
		}
		for _, r := range rates {
			if r.Bucket == b.Bucket && r.Scope == b.Scope && r.Limit > 0 {
				w.rate = r
			}
		}
		if w.succeeded || w.refused || !w.closed.IsZero() || w.rate.Limit > 0 {
			updates = append(updates, w)
		}
	}
	return l.send(ctx, updates)
}

func (l *Limiter) send(ctx context.Context, updates []update) (wake []uuid.UUID) {
	if len(updates) == 0 || l.isBackingOff() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchInterval+2*l.timeout)
	defer cancel()
	wake, err := l.updates.Do(ctx, updates)
	if err != nil {
		l.recordFailure(err)
	}
	return wake
}

// Buckets returns the state of all limits of an account.
func (l *Limiter) Buckets(ctx context.Context, c Caller) ([]Bucket, error) {
	if l.isBackingOff() {
		return nil, ErrUnavailable
	}
	all := c.all()
	type result struct {
		raw []int64
		err error
	}
	done := make(chan result, 1)
	// The client uses its own timeouts and not ctx.
	go func() {
		keys, args := scriptArgs(0, all)
		raw, err := l.acquire.Run(ctx, l.redis, keys, args...).Int64Slice()
		done <- result{raw, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case got := <-done:
		return parseBuckets(got.raw, all, time.Now()), got.err
	}
}

// ErrUnavailable reports that Redis has just failed, which was logged then.
var ErrUnavailable = errors.New("ratelimit: Redis is not available")

// isBackingOff reports whether Redis has just failed.
func (l *Limiter) isBackingOff() bool { return time.Now().UnixNano() < l.backoffUntil.Load() }

func (l *Limiter) recordFailure(err error) {
	l.backoffUntil.Store(time.Now().Add(failureBackoff).UnixNano())
	if !l.isFailing.Swap(true) {
		l.log.Warn("Redis does not respond; posts are sent without rate limits until it does", "error", err)
	}
}

func (l *Limiter) recordSuccess() {
	if l.isFailing.Swap(false) {
		l.log.Info("Redis responds again; rate limits apply")
	}
}

// run executes one script for many sets of keys in one round trip, and loads it if
// necessary.
func (l *Limiter) run(ctx context.Context, script *redis.Script, sets []scriptCall) []*redis.Cmd {
	cmds := make([]*redis.Cmd, len(sets))
	_, _ = l.redis.Pipelined(ctx, func(p redis.Pipeliner) error { // every command has its own error
		for i, s := range sets {
			cmds[i] = script.EvalSha(ctx, p, s.keys, s.args...)
		}
		return nil
	})
	_, _ = l.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, s := range sets {
			if err := cmds[i].Err(); err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
				cmds[i] = script.Eval(ctx, p, s.keys, s.args...)
			}
		}
		return nil
	})
	return cmds
}

type scriptCall struct {
	keys []string
	args []any
}
