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

//go:embed take.lua
var takeSource string

//go:embed note.lua
var noteSource string

const (
	// DefaultTimeout is how long a post waits for Redis.
	DefaultTimeout = 150 * time.Millisecond
	// away is how long Redis is not asked again after it failed.
	away = time.Second
	// memory is how long a limit that a network reported is believed without
	// being heard of again.
	memory = 7 * 24 * time.Hour
	// atOnce is how many calls go to Redis together.
	atOnce = 1000
)

// Limiter gives permits. It is safe for concurrent use.
type Limiter struct {
	redis      redis.UniversalClient
	log        *slog.Logger
	timeout    time.Duration // of a call to Redis
	take, note *redis.Script
	asks       *batch.Batcher[ask, Grant]
	words      *batch.Batcher[[]word, []uuid.UUID]
	waits      *batch.Batcher[waiting, struct{}]
	awayUntil  atomic.Int64 // Unix nanoseconds
	failing    atomic.Bool  // said already
}

// New makes a limiter over a Redis client that the caller closes; it ends with
// ctx. A call to Redis that takes longer than timeout counts as failed.
func New(ctx context.Context, client redis.UniversalClient, timeout time.Duration, log *slog.Logger) *Limiter {
	l := &Limiter{redis: client, log: log, timeout: timeout, take: redis.NewScript(takeSource), note: redis.NewScript(noteSource)}
	l.asks = batch.New(ctx, atOnce, 2, l.takeAll)
	l.words = batch.New(ctx, atOnce, 1, l.noteAll)
	l.waits = batch.New(ctx, atOnce, 1, l.registerAll)
	return l
}

// Take asks for the right to make one call. It never waits for a bucket, and
// not long for Redis.
func (l *Limiter) Take(ctx context.Context, c Caller, use network.CallKind) Grant {
	if l.resting() {
		return Grant{OK: true}
	}
	asking, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	grant, err := l.asks.Do(asking, ask{c, use})
	if err != nil {
		if ctx.Err() == nil { // who has gone meanwhile says nothing of Redis
			l.failed(err)
		}
		return Grant{OK: true}
	}
	return grant
}

// GiveBack returns a permit that was not used.
func (l *Limiter) GiveBack(ctx context.Context, p Permit) {
	if p.taken.IsZero() {
		return
	}
	var words []word
	for i, b := range p.caller.buckets(p.use) {
		// What was taken from a period that is over is gone with it.
		if i < len(p.resets) && (p.resets[i].IsZero() || time.Now().Before(p.resets[i])) {
			words = append(words, word{bucket: b, back: b.cost})
		}
	}
	l.say(ctx, words)
}

// Observe corrects the buckets of a call by its answer. failure is nil for a
// call that was carried out. It gives the posts that wait elsewhere (see Wait)
// and should ask again, because the answer showed that they need not wait so
// long.
func (l *Limiter) Observe(ctx context.Context, c Caller, use network.CallKind, rates []network.RateStatus, failure *network.Error) (wake []uuid.UUID) {
	var words []word
	now := time.Now()
	for _, b := range c.buckets(use) {
		w := word{bucket: b, succeeded: failure == nil}
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
	return l.say(ctx, words)
}

func (l *Limiter) say(ctx context.Context, words []word) (wake []uuid.UUID) {
	if len(words) == 0 || l.resting() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.timeout)
	defer cancel()
	wake, err := l.words.Do(ctx, words)
	if err != nil {
		l.failed(err)
	}
	return wake
}

// Buckets tells how all limits of an account stand.
func (l *Limiter) Buckets(ctx context.Context, c Caller) ([]Bucket, error) {
	if l.resting() {
		return nil, ErrAway
	}
	all := c.all()
	type looked struct {
		raw []int64
		err error
	}
	done := make(chan looked, 1)
	// The client watches its own time-outs and not ctx.
	go func() {
		keys, args := arguments(0, all)
		raw, err := l.take.Run(ctx, l.redis, keys, args...).Int64Slice()
		done <- looked{raw, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case got := <-done:
		return read(got.raw, all, time.Now()), got.err
	}
}

// ErrAway says that Redis has just failed, which was logged then.
var ErrAway = errors.New("limits: Redis has just failed")

// resting says that Redis has just failed.
func (l *Limiter) resting() bool { return time.Now().UnixNano() < l.awayUntil.Load() }

func (l *Limiter) failed(err error) {
	l.awayUntil.Store(time.Now().Add(away).UnixNano())
	if !l.failing.Swap(true) {
		l.log.Warn("Redis does not answer: posts are sent without asking for rate limits until it does", "error", err)
	}
}

func (l *Limiter) answered() {
	if l.failing.Swap(false) {
		l.log.Info("Redis answers again: rate limits hold")
	}
}

// run executes one script for many sets of keys in one round trip, and loads it
// where it is not known yet.
func (l *Limiter) run(ctx context.Context, script *redis.Script, sets []keyed) []*redis.Cmd {
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

type keyed struct {
	keys []string
	args []any
}
