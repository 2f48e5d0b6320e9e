package ratelimit

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/platforms/network"
)

// request is one call of Acquire.
type request struct {
	caller Caller
	kind   network.CallKind
}

// acquireAll makes one request for all calls with the same buckets: a burst on one
// account is one request.
func (l *Limiter) acquireAll(ctx context.Context, asks []request) ([]Grant, error) {
	type group struct {
		buckets []bucket
		members []int
	}
	var groups []*group
	var sets []scriptCall
	known := map[string]*group{}
	for i, a := range asks {
		buckets := a.caller.buckets(a.kind)
		var name strings.Builder
		for _, b := range buckets {
			name.WriteString(b.key + " ")
		}
		name.WriteString(string(a.kind))
		g := known[name.String()]
		if g == nil {
			g = &group{buckets: buckets}
			known[name.String()] = g
			groups = append(groups, g)
		}
		g.members = append(g.members, i)
	}
	for _, g := range groups {
		keys, args := scriptArgs(len(g.members), g.buckets)
		sets = append(sets, scriptCall{keys, args})
	}
	now := time.Now()
	grants := make([]Grant, len(asks))
	for i, cmd := range l.run(ctx, l.acquire, sets) {
		g := groups[i]
		raw, err := cmd.Int64Slice()
		if err != nil || len(raw) < headerLen {
			l.recordFailure(err)
			for _, m := range g.members {
				grants[m] = Grant{OK: true}
			}
			continue
		}
		l.recordSuccess()
		var resets []time.Time
		for _, b := range parseBuckets(raw, g.buckets, now) {
			resets = append(resets, b.ResetAt)
		}
		for n, m := range g.members {
			if over := int64(n) - raw[0]; over >= 0 {
				grants[m] = Grant{RetryAt: now.Add(time.Duration(raw[1]+over*raw[2]) * time.Millisecond)}
				if reason := int(raw[3]); reason > 0 {
					grants[m].Bucket, grants[m].Scope = g.buckets[reason-1].Bucket, g.buckets[reason-1].Scope
				}
				continue
			}
			grants[m] = Grant{
				OK: true, Token: Token{caller: asks[m].caller, kind: asks[m].kind, acquiredAt: now, resets: resets},
			}
		}
	}
	return grants, nil
}

// head is how many numbers acquire.lua returns before those of the buckets, and
// perBucket how many for each.
const (
	headerLen       = 4
	fieldsPerBucket = 6
)

func scriptArgs(want int, buckets []bucket) (keys []string, args []any) {
	args = append(args, want)
	for _, b := range buckets {
		keys = append(keys, b.key)
		args = append(args, b.cost, b.Requests, b.Per.Milliseconds(), b.kind())
	}
	return keys, args
}

// parseBuckets parses acquire.lua's numbers.
func parseBuckets(raw []int64, buckets []bucket, now time.Time) []Bucket {
	out := make([]Bucket, 0, len(buckets))
	for i, b := range buckets {
		at := headerLen + i*fieldsPerBucket
		if len(raw) < at+fieldsPerBucket {
			break
		}
		n := raw[at : at+fieldsPerBucket]
		got := Bucket{
			Name: b.Bucket, Scope: b.Scope, Limit: int(n[0]), Remaining: int(n[1]),
			Per:      time.Duration(n[4]) * time.Millisecond,
			Reported: n[5] == 1, Enforced: n[5] == 1 || b.kind() != "none",
		}
		if n[2] > 0 {
			got.ResetAt = now.Add(time.Duration(n[2]) * time.Millisecond)
		}
		if n[3] > 0 {
			got.ClosedUntil = now.Add(time.Duration(n[3]) * time.Millisecond)
		}
		out = append(out, got)
	}
	return out
}

// update is one update of a bucket.
type update struct {
	bucket    bucket
	rate      network.RateStatus
	closed    time.Time
	released  int
	succeeded bool // a call succeeded
	refused   bool // a call got a 429 without a time
}

// maxWoken is how many posts one response wakes. They acquire tokens themselves, and
// their responses wake the next.
const maxWoken = 50

// updateAll updates each bucket once with all its updates: of one window the lowest
// remainder counts. Posts to wake are returned to the first caller that updated their
// bucket.
func (l *Limiter) updateAll(ctx context.Context, all [][]update) ([][]uuid.UUID, error) {
	type merged struct {
		update
		by int // the first caller
	}
	known := map[string]*merged{}
	var order []*merged
	for by, words := range all {
		for _, w := range words {
			reset := w.rate.ResetAt.Unix()
			if w.rate.Limit == 0 {
				reset = 0
			}
			name := w.bucket.key + " " + time.Unix(reset, 0).String()
			m := known[name]
			if m == nil {
				m = &merged{w, by}
				known[name] = m
				order = append(order, m)
				continue
			}
			if w.rate.Limit > 0 && w.rate.Remaining < m.rate.Remaining {
				m.rate = w.rate
			}
			if w.closed.After(m.closed) {
				m.closed = w.closed
			}
			m.released += w.released
			m.succeeded, m.refused = m.succeeded || w.succeeded, m.refused || w.refused
		}
	}
	sets := make([]scriptCall, len(order))
	for i, m := range order {
		sets[i] = m.call(time.Now())
	}
	wake := make([][]uuid.UUID, len(all))
	for i, cmd := range l.run(ctx, l.update, sets) {
		names, err := cmd.StringSlice()
		if err != nil {
			l.recordFailure(err)
			continue
		}
		l.recordSuccess()
		for _, name := range names {
			if id, err := uuid.Parse(name); err == nil {
				wake[order[i].by] = append(wake[order[i].by], id)
			}
		}
	}
	return wake, nil
}

func (w *update) call(now time.Time) scriptCall {
	in := func(at time.Time) int64 {
		if at.IsZero() {
			return 0
		}
		return max(at.Sub(now).Milliseconds(), 0)
	}
	reset := in(w.rate.ResetAt)
	if reset == 0 && !w.rate.ResetAt.IsZero() {
		reset = -1
	}
	flag := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return scriptCall{
		[]string{w.bucket.key, w.bucket.key + waitersKey},
		[]any{
			w.rate.Limit, w.rate.Remaining, reset, in(w.closed),
			w.bucket.Per.Milliseconds(), w.released, w.bucket.Requests, reportedLimitTTL.Milliseconds(),
			w.trustedPeriod(now).Milliseconds(),
			flag(w.succeeded), flag(w.refused), maxWoken,
		},
	}
}

// trustedPeriod is the period of a reported limit: the reported one, or the
// documented one if the report agrees with it. Zero: unknown, so it is learned from
// the resets. Many servers have the same API with other limits: GoToSocial allows
// Mastodon's 300 calls in 5 minutes instead of 3 hours.
func (w *update) trustedPeriod(now time.Time) time.Duration {
	r, q := w.rate, w.bucket.Quota
	if r.Per > 0 {
		return r.Per
	}
	if !q.FixedWindow || q.Per < time.Second || r.Limit != q.Requests || r.ResetAt.Sub(now) > q.Per {
		return 0
	}
	period := int64(q.Per / time.Second)
	off := r.ResetAt.Round(time.Second).Unix() % period
	if min(off, period-off) > 2 {
		return 0
	}
	return q.Per
}
