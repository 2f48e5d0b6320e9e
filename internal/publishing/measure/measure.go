// Package measure reads likes, views and other metrics of published posts from the
// networks, at growing intervals.
//
// Each account is read by itself, its posts together where the network allows it. The
// readings that are due are rows; a run claims them, so that they are read once
// whatever stops it. Reading uses at most a share of the account's rate limits, and an
// error only pauses reading: it never changes the state of the account or of a post.
//
// A metric that a network does not report is absent, never zero.
package measure

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/publishing/account"
	"dateline/internal/publishing/ratelimit"
	"dateline/platforms/network"
)

// State of the metrics of a post.
type State string

// The states. The first is of a post that was not read yet; all others say what the
// last reading showed.
const (
	Pending     State = "pending"
	Measured    State = "measured"
	Missing     State = "missing"     // the network did not have it; another reading decides
	Deleted     State = "deleted"     // two readings did not find it, while other posts were found
	Unavailable State = "unavailable" // it exists and cannot be read
	Unsupported State = "unsupported" // the network does not report numbers of such posts
)

// Reason why an account is not read at the moment.
type Reason string

// The reasons.
const (
	ReasonNoBudget     Reason = "no_budget"     // the network charges, and the account has no budget
	ReasonBudgetUsed   Reason = "budget_used"   // the budget of the month is used up
	ReasonNoCredits    Reason = "no_credits"    // the network's credit is used up (402)
	ReasonRateLimit    Reason = "rate_limit"    // its rate limit, or the share of it, is used up
	ReasonUnauthorized Reason = "unauthorized"  // the network rejects the token
	ReasonMissingScope Reason = "missing_scope" // no metric can be read without it
	ReasonUnreachable  Reason = "unreachable"   // the network does not respond
	ReasonRefused      Reason = "refused"       // the network refuses the call
)

// Status is the state of reading an account.
type Status struct {
	AccountID    uuid.UUID
	Reason       Reason // empty: it is read
	Message      string
	ResumeAt     time.Time // with a reason
	Failures     int
	TokenVersion int64
	Settings     map[string]string
	MissingScope string
	Refused      map[string]time.Time // network's names of metrics: until when they are not requested
	ChargedMonth time.Time            // first day, UTC
	ChargedReads int
	ReadAt       time.Time
}

// Reading is a claimed reading of a post.
type Reading struct {
	RemoteID     string
	State        State
	MissingSince time.Time
	MeasuredAt   time.Time
	ChargedOn    time.Time // day, UTC
	PostedAt     time.Time
	WorkspaceID  uuid.UUID
	PostID       uuid.UUID
	TargetID     uuid.UUID
	IsReply      bool
	Kind         string // the post option "kind"
	OwnReplies   int64  // replies of the same thread, which the network counts as well
}

// Result is the result of a Reading.
type Result struct {
	Reading

	State        State
	DueAt        time.Time // zero: no more readings
	MissingSince time.Time
	ChargedOn    time.Time
	At           time.Time                // of the reading; zero: the post was not read
	Values       map[network.Metric]int64 // absent metrics keep their latest value
}

// PostPart is the latest state of a part of a post on one account: of a segment of a
// thread, from 0.
type PostPart struct {
	TargetID   uuid.UUID
	AccountID  uuid.UUID
	Account    string // its name
	Network    string
	Segment    int
	RemoteID   string
	RemoteURL  string
	PostedAt   time.Time
	State      State
	MeasuredAt time.Time
	DueAt      time.Time // of the next reading; zero: none
	Latest     map[network.Metric]int64
	Series     []Point // by metric and time
}

// Point is one reading of a metric.
type Point struct {
	Metric network.Metric
	At     time.Time
	Value  int64
}

// Store has the readings.
type Store interface {
	// AddMeasuredPosts schedules the first reading of new posts, which is earlier at the URLs of sandboxes.
	AddMeasuredPosts(ctx context.Context, networks, sandboxes []string, since time.Time) (int64, error)
	// AccountsToMeasure lists accounts with due readings that are not paused.
	AccountsToMeasure(ctx context.Context, networks []string, now time.Time, limit int) ([]uuid.UUID, error)
	// MeasuringStatus returns the zero Status for an account that was never read.
	MeasuringStatus(ctx context.Context, account uuid.UUID) (Status, error)
	SaveMeasuringStatus(ctx context.Context, s Status) error
	ClaimReadings(ctx context.Context, account, claim uuid.UUID, now, until time.Time, limit int) ([]Reading, error)
	ReleaseReadings(ctx context.Context, account, claim uuid.UUID) error
	// RecordReadings stores results whose claim is still valid, in one transaction.
	RecordReadings(ctx context.Context, account, claim uuid.UUID, results []Result) error
	// ReadablePost returns the post that was read last, besides others; "": none.
	ReadablePost(ctx context.Context, account uuid.UUID, others []string) (string, error)
}

// Accounts opens accounts and renews their tokens.
type Accounts interface {
	Open(ctx context.Context, id uuid.UUID) (account.Account, network.Account, error)
	Renew(ctx context.Context, id uuid.UUID, version int64) (account.Renewal, error)
}

// Networks finds the networks that report metrics.
type Networks interface {
	Measurer(name string) (network.Measurer, bool)
	Names() []string
}

// Limits issues tokens for calls within a share of the rate limits.
type Limits interface {
	AcquireShare(ctx context.Context, c ratelimit.Caller, kind network.CallKind, percent int) ratelimit.Grant
	Observe(ctx context.Context, c ratelimit.Caller, kind network.CallKind, rates []network.RateStatus,
		failure *network.Error) (wake []uuid.UUID)
}

// Meter counts readings.
type Meter interface {
	// Measured counts posts by network and state.
	Measured(ctx context.Context, network, state string, posts int)
	// MeasuringPaused counts pauses by network and reason.
	MeasuringPaused(ctx context.Context, network, reason string)
}

// Bursts knows when many posts are sent at once.
type Bursts interface {
	// IsBurstNear reports whether a burst is about to be sent, or has just been.
	IsBurstNear(now time.Time) bool
}
