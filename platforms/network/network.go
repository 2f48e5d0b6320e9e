// Package network is the contract between Dateline and a social network: what
// an adapter is given, what it must answer, and how it says what went wrong.
//
// Every adapter lives in its own package beside this one, implements Network,
// stands in the list of package platforms, and passes platformtest.
package network

import (
	"context"
	"io"
	"time"

	"dateline/internal/identity/secret"
)

// Network publishes for one kind of social network. Implementations are safe
// for concurrent use and keep no state that a restart would miss.
//
// Every error is an *Error, so that the caller knows whether trying again can
// publish twice.
type Network interface {
	// Name is the stable lower-case name in the API and the database.
	Name() string

	// Limits asks the network what it allows this account; adapters may answer
	// from a cache that is at most 24 hours old.
	Limits(ctx context.Context, account Account) (Limits, error)

	// Count is how many characters of Limits.MaxCharacters the text takes, as
	// the network itself counts. It does no input or output.
	Count(text string, limits Limits) int

	// Check counts and validates content as the network itself would. It does
	// no input or output. No problems means that the network should take it.
	Check(content Content, limits Limits) []Violation

	// Stage hands the network one attachment ahead of the post. Staging twice
	// publishes nothing. A network that takes attachments with the post only
	// answers at once, without a call.
	Stage(ctx context.Context, account Account, media Media) (Staged, error)

	// StageStatus asks how far the network is with something staged. It is
	// called until Ready, no more often than Staged.CheckAfter says.
	StageStatus(ctx context.Context, account Account, staged Staged) (Staged, error)

	// Publish makes the one call that cannot be taken back. It sends at most
	// once by itself. An error of class Ambiguous means that the post may exist.
	Publish(ctx context.Context, account Account, submission Submission) (Receipt, error)

	// Reconcile looks for a submission whose answer was lost, without sending
	// anything that could publish.
	Reconcile(ctx context.Context, account Account, submission Submission, window Window) (Finding, error)

	// Delete removes a post. A post that is already gone is no error. A network
	// that lets nobody delete through its API answers Rejected with CodeUnsupported.
	Delete(ctx context.Context, account Account, remoteID string) error
}

// Preparer is a Network that can be given all of a post but the word to show it
// (Instagram's containers), or whose calls share something that is fixed before
// the first of them (Bluesky's record key).
type Preparer interface {
	// Prepare publishes nothing. It is called ahead of the time where all that
	// the submission needs is known, else right before Publish; and again, with
	// the Handle of its last answer in the submission, until Ready. The Handle
	// is kept as long as the content stays the same, and comes with every
	// Publish and Reconcile of it.
	Prepare(ctx context.Context, account Account, submission Submission) (Prepared, error)
}

// Prepared is a post at the network that waits for its time.
type Prepared struct {
	Handle     string        `json:"handle"` // for the adapter alone; without secrets
	Ready      bool          `json:"ready"`
	CheckAfter time.Duration `json:"check_after,omitempty"` // wait this long before Prepare
	ExpiresAt  time.Time     `json:"expires_at,omitzero"`   // zero: does not expire
	Rates      []RateStatus  `json:"-"`                     // what the answer said of rate limits, if anything
}

// Account is what an adapter needs to act for one connected account. Its
// secrets stay in memory: they are never logged and never enter a workflow.
type Account struct {
	ID       string // ours
	BaseURL  string // scheme and host of the instance; empty for central networks
	RemoteID string // the network's id of the account
	Handle   string // how people name it there, e.g. @desk@news.example
	Name     string // its display name
	Kind     Kind   // empty: a person
	Token    secret.Text
	Scopes   []string

	RefreshToken          secret.Text // for Refresher; empty: the token cannot be renewed
	TokenExpiresAt        time.Time   // of Token; zero: not known to expire
	RefreshTokenExpiresAt time.Time   // when nothing but connecting anew helps; zero: not known

	// Settings are what people chose for this account, by the names that the
	// adapter documents, such as "tier" of X. Without secrets.
	Settings map[string]string
}

// Kind is what an account is at its network.
type Kind string

// The kinds of account.
const (
	KindPerson       Kind = "person"
	KindPage         Kind = "page"
	KindOrganization Kind = "organization"
	KindChannel      Kind = "channel" // a place that a bot writes to
)

// Content is what a person wrote, before any of it is uploaded.
type Content struct {
	Text  string
	Media []MediaInfo
	Reply bool
}

// MediaInfo describes an attachment by what its bytes say.
type MediaInfo struct {
	MIMEType string
	Bytes    int64
	Width    int // pixels; 0 when unknown
	Height   int
	Duration time.Duration // 0 for stills
	AltText  string
}

// Media is an attachment that can be read. Open may be called more than once.
type Media struct {
	MediaInfo
	FileName string
	Open     func(ctx context.Context) (io.ReadCloser, error)
	// URL is an address at which the network itself can fetch the bytes for at
	// least the time given; nil where there is none.
	URL func(ctx context.Context, life time.Duration) (string, error)
}

// Staged is an attachment at the network, waiting for its post.
type Staged struct {
	RemoteID   string        `json:"remote_id"` // for the adapter alone: an id, or whatever it needs; without secrets
	Ready      bool          `json:"ready"`
	CheckAfter time.Duration `json:"check_after,omitempty"` // wait this long before StageStatus
	ExpiresAt  time.Time     `json:"expires_at,omitzero"`   // zero: does not expire
	Rates      []RateStatus  `json:"-"`                     // what the answer said of rate limits, if anything
}

// Submission is one irreversible call, fixed before it is first made: every
// attempt at the same operation carries the same values.
type Submission struct {
	Key      string // idempotency key, unique per operation
	Text     string
	MediaIDs []string // Staged.RemoteID, in order
	Media    []Media  // the same attachments, for networks that take them with the post
	ReplyTo  string   // remote id of the post that this one answers
	RootID   string   // remote id of the first post of the thread; empty: ReplyTo is the first, or not known
	Language string   // ISO 639-1; empty lets the network decide
	Handle   string   // of Preparer; empty before its first answer
}

// Receipt proves that the post exists.
type Receipt struct {
	RemoteID  string
	URL       string       // permalink for people
	CreatedAt time.Time    // by the network's clock; zero when it did not say
	SentAt    time.Time    // when the call left, by our clock; zero when it is not known
	RequestID string       // the network's id of the call, for its support
	Rates     []RateStatus // what the answer said of rate limits, if anything
}

// Window bounds the search for a lost post.
type Window struct {
	From time.Time // first send, less the allowance for clock skew
	// Known are the remote ids that the ledger already holds: they are never
	// claimed again. Two operations may look at the same moment, so the ledger
	// also needs one owner per account and remote id.
	Known   map[string]bool
	SinceID string // newest remote id known from before the send, if any

	// Pending is the number of calls on this account, this one included, whose
	// outcome is unknown and whose posts a listing cannot tell apart; 0 counts as
	// 1. Place is the place of this call among them by time, from 0: the oldest
	// post that is found belongs to the oldest call. Mixed says that they differ
	// in something that a listing does not show, so that no post can be assigned.
	Pending      int
	Position     int
	Unassignable bool
}

// Finding is what Reconcile found out.
type Finding struct {
	Found    bool
	Receipt  Receipt
	Evidence string // one sentence for the timeline
	// Conclusive says that the whole window was searched. Listings may be late:
	// only when the last of several spaced searches is conclusive and finds
	// nothing was the post never made. False means that the network could not
	// be asked, has too much in the window, shows more than one match or a post
	// that may be this one, or may hide a post for longer than is searched.
	Conclusive bool
	// Similar is the number of posts that made the search inconclusive.
	Similar int
}
