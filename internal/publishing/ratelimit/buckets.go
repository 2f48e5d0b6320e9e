// Package ratelimit limits calls to networks with token buckets in Redis, per
// account and per app, that all workers share.
//
// A bucket that the network reports follows the report: so many calls until the
// reset. A bucket that is only documented uses a fixed window or GCRA. A bucket of
// which nothing is known allows every call. A 429 closes its buckets until the time
// that the network named.
//
// The limiter fails open: if Redis is down or slow, every call is allowed, and each
// post follows the network's own 429.
package ratelimit

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"time"

	"dateline/platforms/network"
)

// Caller identifies whose limits apply.
type Caller struct {
	Network  string
	BaseURL  string // instance; empty for central networks
	RemoteID string // the account at the network: workspaces that share it share its limits
	Quotas   []network.Quota
}

// Bucket is the state of one limit.
type Bucket struct {
	Name        string
	Scope       network.Scope
	Limit       int // 0: unknown
	Remaining   int // -1: not counted
	Per         time.Duration
	ResetAt     time.Time // zero: it refills evenly, or is unknown
	ClosedUntil time.Time // zero: open
	Reported    bool      // by the network; otherwise only documented
	Enforced    bool      // posts wait for it
}

// Available returns how many calls may still be made before the reset.
func (b Bucket) Available(now time.Time) int {
	switch {
	case b.ClosedUntil.After(now):
		return 0
	case b.Remaining < 0:
		return b.Limit
	default:
		return b.Remaining
	}
}

// Token allows one call. The zero Token took nothing from a bucket.
type Token struct {
	caller     Caller
	kind       network.CallKind
	acquiredAt time.Time
	resets     []time.Time // of each bucket, when it was acquired
}

// Grant is the result of Acquire.
type Grant struct {
	OK      bool
	Token   Token
	RetryAt time.Time // not OK: when to try again
	Bucket  string    // not OK: which bucket is used up
	Scope   network.Scope
}

// bucket is a quota with its key.
type bucket struct {
	network.Quota
	key  string
	cost int
}

// buckets returns the buckets of a call. If none is declared, it is one with the
// call kind's name, so that a 429 has a bucket to close.
func (c Caller) buckets(kind network.CallKind) []bucket {
	var out []bucket
	for _, scope := range []network.Scope{network.ScopeAccount, network.ScopeApp} {
		before := len(out)
		for _, q := range c.Quotas {
			if cost := q.Cost(kind); q.Scope == scope && cost > 0 {
				out = append(out, bucket{q, c.key(scope, q.Bucket), cost})
			}
		}
		if len(out) == before {
			out = append(out, bucket{network.Quota{Bucket: string(kind), Scope: scope}, c.key(scope, string(kind)), 1})
		}
	}
	return out
}

// all returns the buckets of every call kind, each once.
func (c Caller) all() []bucket {
	out := c.buckets(network.CallPublish)
	for _, kind := range []network.CallKind{network.CallReply, network.CallUpload} {
		for _, b := range c.buckets(kind) {
			if !slices.ContainsFunc(out, func(o bucket) bool { return o.key == b.key }) {
				out = append(out, b)
			}
		}
	}
	return out
}

// DeclaredBuckets returns the documented limits of an account, for when Redis is not
// available.
func DeclaredBuckets(c Caller) []Bucket {
	var out []Bucket
	for _, b := range c.all() {
		out = append(out, Bucket{
			Name: b.Bucket, Scope: b.Scope, Limit: b.Requests, Remaining: -1, Per: b.Per, Enforced: b.kind() != "none",
		})
	}
	return out
}

// key places all buckets of an instance in one slot of a Redis Cluster, so that all
// buckets of a call are updated atomically. External names are hashed: an id with a
// brace in it would move to another slot.
func (c Caller) key(scope network.Scope, name string) string {
	key := "dateline:limits:{" + digest(c.Network+"\n"+c.BaseURL) + "}:" + string(scope) + ":"
	if scope == network.ScopeAccount {
		key += digest(c.RemoteID) + ":"
	}
	return key + name
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

// kind is how acquire.lua counts a bucket that the network has not reported.
func (b bucket) kind() string {
	switch {
	case b.Requests <= 0 || b.Per < time.Millisecond || b.Default:
		return "none"
	case b.FixedWindow:
		return "fixed"
	default:
		return "gcra"
	}
}
