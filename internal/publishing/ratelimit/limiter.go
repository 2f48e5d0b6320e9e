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
	// failureBackoff is how long Redis is not asked again after it failed.
	failureBackoff = time.Second
	// reportedLimitTTL is how long a limit that a network reported is believed without
	// being heard of again.
	reportedLimitTTL = 7 * 24 * time.Hour
	// maxBatch is how many calls go to Redis together.
	maxBatch = 1000
)

// Limiter gives permits. It is safe for concurrent use.
type Limiter struct {
	redis           redis.UniversalClient
	log             *slog.Logger
	timeout         time.Duration // of a call to Redis
	acquire, update *redis.Script
	requests        *batch.Batcher[request, Grant]
	updates         *batch.Batcher[[]update, []uuid.UUID]
	waiters         *batch.Batcher[waiter, struct{}]
	backoffUntil    atomic.Int64 // Unix nanoseconds
	isFailing       atomic.Bool  // said already
}

// New makes a limiter over a Redis client that the caller closes; it ends with
// ctx. A call to Redis that takes longer than timeout counts as failed.
func New(ctx context.Context, client redis.UniversalClient, timeout time.Duration, log *slog.Logger) *Limiter {
	l := &Limiter{redis: client, log: log, timeout: timeout, acquire: redis.NewScript(acquireSource), update: redis.NewScript(updateSource)}
	l.requests = batch.New(ctx, maxBatch, 2, l.acquireAll)
	l.updates = batch.New(ctx, maxBatch, 1, l.updateAll)
	l.waiters = batch.New(ctx, maxBatch, 1, l.addWaiters)
	return l
}

// Acquire asks for the right to make one call. It never waits for a bucket, and
// not long for Redis.
func (l *Limiter) Acquire(ctx context.Context, c Caller, use network.CallKind) Grant {
	if l.isBackingOff() {
		return Grant{OK: true}
	}
	asking, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	grant, err := l.requests.Do(asking, request{c, use})
	if err != nil {
		if ctx.Err() == nil { // who has gone meanwhile says nothing of Redis
			l.recordFailure(err)
		}
		return Grant{OK: true}
	}
	return grant
}

// Release returns a permit that was not used.
func (l *Limiter) Release(ctx context.Context, p Token) {
	if p.acquiredAt.IsZero() {
		return
	}
	var words []update
	for i, b := range p.caller.buckets(p.kind) {
		// What was taken from a period that is over is gone with it.
		if i < len(p.resets) && (p.resets[i].IsZero() || time.Now().Before(p.resets[i])) {
			words = append(words, update{bucket: b, released: b.cost})
		}
	}
	l.send(ctx, words)
}

// Observe corrects the buckets of a call by its answer. failure is nil for a
// call that was carried out. It gives the posts that wait elsewhere (see Wait)
// and should ask again, because the answer showed that they need not wait so
// long.
func (l *Limiter) Observe(ctx context.Context, c Caller, use network.CallKind, rates []network.RateStatus, failure *network.Error) (wake []uuid.UUID) {
	var words []update
	now := time.Now()
	for _, b := range c.buckets(use) {
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
			words = append(words, w)
		}
	}
	return l.send(ctx, words)
}

func (l *Limiter) send(ctx context.Context, words []update) (wake []uuid.UUID) {
	if len(words) == 0 || l.isBackingOff() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.timeout)
	defer cancel()
	wake, err := l.updates.Do(ctx, words)
	if err != nil {
		l.recordFailure(err)
	}
	return wake
}

// Buckets tells how all limits of an account stand.
func (l *Limiter) Buckets(ctx context.Context, c Caller) ([]Bucket, error) {
	if l.isBackingOff() {
		return nil, ErrUnavailable
	}
	all := c.all()
	type looked struct {
		raw []int64
		err error
	}
	done := make(chan looked, 1)
	// The client watches its own time-outs and not ctx.
	go func() {
		keys, args := scriptArgs(0, all)
		raw, err := l.acquire.Run(ctx, l.redis, keys, args...).Int64Slice()
		done <- looked{raw, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case got := <-done:
		return parseBuckets(got.raw, all, time.Now()), got.err
	}
}

// ErrUnavailable says that Redis has just failed, which was logged then.
var ErrUnavailable = errors.New("limits: Redis has just failed")

// isBackingOff says that Redis has just failed.
func (l *Limiter) isBackingOff() bool { return time.Now().UnixNano() < l.backoffUntil.Load() }

func (l *Limiter) recordFailure(err error) {
	l.backoffUntil.Store(time.Now().Add(failureBackoff).UnixNano())
	if !l.isFailing.Swap(true) {
		l.log.Warn("Redis does not answer: posts are sent without asking for rate limits until it does", "error", err)
	}
}

func (l *Limiter) recordSuccess() {
	if l.isFailing.Swap(false) {
		l.log.Info("Redis answers again: rate limits hold")
	}
}

// run executes one script for many sets of keys in one round trip, and loads it
// where it is not known yet.
func (l *Limiter) run(ctx context.Context, script *redis.Script, sets []scriptCall) []*redis.Cmd {
	cmds := make([]*redis.Cmd, len(sets))
	_, _ = l.redis.Pipelined(ctx, func(p redis.Pipeliner) error { // every command tells its own error
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
