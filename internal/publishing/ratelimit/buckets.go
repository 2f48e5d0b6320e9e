// Package ratelimit keeps posts within the rate limits of networks: buckets in
// Redis, per account and per app, that all workers share.
//
// A bucket that the network reports follows its word: so many calls until that
// reset. One that is only documented is a fixed period or a generic cell rate
// algorithm. One of which nothing is known lets everybody pass. A refusal (429)
// closes its buckets until the time that the network named.
//
// Redis protects nothing that cannot be repeated here: when it is away or slow,
// everybody passes, and the network's own refusals are obeyed one by one.
package ratelimit

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"time"

	"dateline/platforms/network"
)

// Caller is whose limits count.
type Caller struct {
	Network  string
	BaseURL  string // instance; empty for central networks
	RemoteID string // the account there: workspaces that share it share its limits
	Quotas   []network.Quota
}

// Bucket is how one limit stands.
type Bucket struct {
	Name        string
	Scope       network.Scope
	Limit       int // 0: not known
	Remaining   int // -1: nobody counts it
	Per         time.Duration
	ResetAt     time.Time // zero: it fills evenly, or is not known
	ClosedUntil time.Time // zero: open
	Reported    bool      // by the network; else documented only
	Enforced    bool      // posts are held back by it
}

// Available is how many calls may still be made before the reset.
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

// Token is the right to make one call. The zero Permit took nothing.
type Token struct {
	caller     Caller
	kind       network.CallKind
	acquiredAt time.Time
	resets     []time.Time // of each bucket, when it was taken
}

// Grant answers Take.
type Grant struct {
	OK      bool
	Token   Token
	RetryAt time.Time // not OK: when to ask again
	Bucket  string    // not OK: which bucket is used up
	Scope   network.Scope
}

// bucket is a quota with its key.
type bucket struct {
	network.Quota
	key  string
	cost int
}

// buckets are those that a call falls in. Where nothing is declared there is
// one of the call's own name, so that a refusal has something to close.
func (c Caller) buckets(use network.CallKind) []bucket {
	var out []bucket
	for _, scope := range []network.Scope{network.ScopeAccount, network.ScopeApp} {
		before := len(out)
		for _, q := range c.Quotas {
			if cost := q.Cost(use); q.Scope == scope && cost > 0 {
				out = append(out, bucket{q, c.key(scope, q.Bucket), cost})
			}
		}
		if len(out) == before {
			out = append(out, bucket{network.Quota{Bucket: string(use), Scope: scope}, c.key(scope, string(use)), 1})
		}
	}
	return out
}

// all are the buckets of every use, each once.
func (c Caller) all() []bucket {
	out := c.buckets(network.CallPublish)
	for _, use := range []network.CallKind{network.CallReply, network.CallUpload} {
		for _, b := range c.buckets(use) {
			if !slices.ContainsFunc(out, func(o bucket) bool { return o.key == b.key }) {
				out = append(out, b)
			}
		}
	}
	return out
}

// DeclaredBuckets tells of an account's limits what is documented, for when nothing
// more can be known.
func DeclaredBuckets(c Caller) []Bucket {
	var out []Bucket
	for _, b := range c.all() {
		out = append(out, Bucket{Name: b.Bucket, Scope: b.Scope, Limit: b.Requests, Remaining: -1, Per: b.Per, Enforced: b.kind() != "none"})
	}
	return out
}

// key keeps all buckets of an instance in one slot of a Redis Cluster, so that
// a call's are taken at once. Names from outside are hashed: an id with a brace
// in it would move to another slot.
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

// kind says how acquire.lua counts a bucket that the network has not reported.
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
