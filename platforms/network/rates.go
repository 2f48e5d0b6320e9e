package network

import "time"

// Scope says who shares a rate limit.
type Scope string

// The scopes. An app is Dateline's registration at a network or instance: all
// accounts that are connected through it share its limits.
const (
	ScopeAccount Scope = "account"
	ScopeApp     Scope = "app"
)

// CallKind is a kind of call that rate limits count.
type CallKind string

// The uses. A quota that says nothing of replies counts them as posts.
const (
	CallPublish CallKind = "publish"
	CallReply   CallKind = "reply" // a post that answers another
	CallUpload  CallKind = "upload"
)

// Quota is a rate limit as the network documents it. Every bucket that a Rate
// names has one, so that it is known before the call which buckets it falls in.
type Quota struct {
	Bucket   string // stable, lower case
	Scope    Scope
	Requests int // per Per; 0: unknown until the network reports it
	Per      time.Duration
	// FixedWindow: counted anew at the multiples of Per since 1970 (UTC), and not over
	// a period that moves along.
	FixedWindow bool
	// Default: what most instances allow, while each sets its own and reports it.
	// Forecasts believe it until then; no post waits for it.
	Default bool
	Costs   map[CallKind]int // what one call takes; absent: it is not counted here
}

// Cost is what one call takes from the bucket.
func (q Quota) Cost(use CallKind) int {
	if cost, ok := q.Costs[use]; ok || use != CallReply {
		return cost
	}
	return q.Costs[CallPublish]
}

// RateStatus is how a bucket stands, as the network said with its answer.
type RateStatus struct {
	Bucket    string
	Scope     Scope
	Limit     int           // in a whole period
	Remaining int           // after this call
	ResetAt   time.Time     // when Limit holds again, by our clock; zero: not said
	Per       time.Duration // of the window that Limit is for; 0: not said
}
