package network

import (
	"context"
	"io"
	"time"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/message"
)

// Network publishes to one kind of social network.
//
// Implementations are safe for concurrent use and keep no state that a restart
// would lose. Every error is an *[Error].
//
// It has nine methods because every network supports all of them and delivery
// uses all of them for each post. What only some networks support is an
// interface of its own (see the package documentation).
type Network interface {
	// Name returns the stable lowercase name in the API and the database.
	Name() string

	// Limits returns what the network allows this account. Adapters may cache
	// the result for at most 24 hours.
	Limits(ctx context.Context, account Account) (Limits, error)

	// Count returns how many characters of Limits.MaxCharacters the text uses,
	// counted the way the network counts. It does no I/O.
	Count(text string, limits Limits) int

	// Check validates content the way the network would. It does no I/O. An
	// empty result means that the network is expected to accept the content.
	Check(content Content, limits Limits) []Violation

	// Stage uploads one attachment ahead of the post. Staging it twice publishes
	// nothing. A network that takes attachments together with the post returns a
	// ready result without a call.
	Stage(ctx context.Context, account Account, media Media) (Staged, error)

	// StageStatus polls the processing of a staged attachment. It is called
	// until Ready, and not more often than Staged.CheckAfter allows.
	StageStatus(ctx context.Context, account Account, staged Staged) (Staged, error)

	// Publish makes the one call that publishes. It sends at most one request
	// that can publish. An error of class Ambiguous means that the post may
	// exist.
	Publish(ctx context.Context, account Account, submission Submission) (Receipt, error)

	// Reconcile searches for a submission whose response was lost. It sends
	// nothing that could publish.
	Reconcile(ctx context.Context, account Account, submission Submission, window Window) (Finding, error)

	// Delete removes a post. Deleting a post that does not exist is not an
	// error. A network without such a call returns Rejected with CodeUnsupported.
	Delete(ctx context.Context, account Account, remoteID string) error
}

// Preparer is a Network on which a post is created before it is published
// (Instagram's containers), or whose calls share a value that must be fixed
// before the first of them (Bluesky's record key).
type Preparer interface {
	// Prepare publishes nothing. It is called ahead of the scheduled time if
	// everything that the submission needs is known, otherwise right before
	// Publish. It is repeated, with the Handle of its last result in the
	// submission, until Ready. The Handle is stored as long as the content stays
	// the same, and is passed to every Publish and Reconcile of that content.
	Prepare(ctx context.Context, account Account, submission Submission) (Prepared, error)
}

// Prepared is a post that was created on the network and is not published yet.
type Prepared struct {
	Handle     string        `json:"handle"` // opaque to everyone but the adapter; contains no secrets
	Ready      bool          `json:"ready"`
	CheckAfter time.Duration `json:"check_after,omitempty"` // how long to wait before the next Prepare
	ExpiresAt  time.Time     `json:"expires_at,omitzero"`   // zero: does not expire
	Rates      []RateStatus  `json:"-"`                     // rate limits that the response reported
}

// Account contains what an adapter needs to act for a connected account. Its
// secrets stay in memory: they are never logged and never enter a workflow.
type Account struct {
	ID       string // Dateline's id
	BaseURL  string // scheme and host of the instance; empty for networks with a single service
	RemoteID string // the network's id of the account
	Handle   string // the account's name on the network, such as @news@social.example
	Name     string // display name
	// AvatarURL is the address of the account's picture; empty: none, or not known.
	// Adapters set it where an account is identified. It may expire.
	AvatarURL string
	Kind      Kind // empty: KindPerson
	// Notes say what the account's server is known to leave out of posts. Adapters set
	// them where an account is identified.
	Notes  message.Messages
	Token  secret.Text
	Scopes []string

	RefreshToken          secret.Text // for Refresher; empty: the token cannot be refreshed
	TokenExpiresAt        time.Time   // zero: not known to expire
	RefreshTokenExpiresAt time.Time   // after this the account has to be reconnected; zero: not known

	// Settings are options that users chose for this account, under names that
	// the adapter documents, such as "tier" for X. They contain no secrets.
	Settings map[string]string
}

// Kind is the type of an account on its network.
type Kind string

// The kinds of account.
const (
	KindPerson       Kind = "person"
	KindPage         Kind = "page"
	KindOrganization Kind = "organization"
	KindChannel      Kind = "channel" // a chat or channel that a bot posts to
)

// Content is what a user wrote, before anything is uploaded.
type Content struct {
	Text  string
	Media []MediaInfo
	Reply bool

	Options PostOptions // nil: none
}

// MediaInfo describes an attachment. It is read from the file's bytes.
type MediaInfo struct {
	MIMEType string
	Bytes    int64
	Width    int // pixels; 0: unknown
	Height   int
	Duration time.Duration // 0 for images
	Pages    int           // of a document; 0: unknown

	// Of a video; zero: unknown. Names are those of ffprobe.
	FrameRate   float64 // frames per second
	VideoCodec  string
	PixelFormat string
	AudioCodec  string // also empty without sound
	AudioRate   int    // samples per second

	AltText string
}

// Media is an attachment that can be read. Open can be called more than once.
type Media struct {
	MediaInfo
	FileName string
	Open     func(ctx context.Context) (io.ReadCloser, error)
	// URL returns an address at which the network can fetch the bytes for at
	// least ttl; nil if there is none.
	URL func(ctx context.Context, ttl time.Duration) (string, error)

	Options PostOptions // of the post, for networks that upload by its kind; nil: none
}

// Staged is an attachment that was uploaded and is not part of a post yet.
type Staged struct {
	RemoteID   string        `json:"remote_id"` // opaque to everyone but the adapter; contains no secrets
	Ready      bool          `json:"ready"`
	CheckAfter time.Duration `json:"check_after,omitempty"` // how long to wait before the next StageStatus
	ExpiresAt  time.Time     `json:"expires_at,omitzero"`   // zero: does not expire
	Rates      []RateStatus  `json:"-"`                     // rate limits that the response reported
}

// Submission is the input of one publishing call. It is fixed before the first
// attempt: every attempt at the same operation has the same values.
type Submission struct {
	Key      string // idempotency key, unique per operation
	Text     string
	MediaIDs []string // Staged.RemoteID, in order
	Media    []Media  // the same attachments, for networks that take them with the post
	ReplyTo  string   // remote id of the post that this post replies to
	RootID   string   // remote id of the first post of the thread; empty: it is ReplyTo, or not known
	Language string   // ISO 639-1; empty: the network decides
	Handle   string   // Prepared.Handle; empty before the first Prepare
	// Due is when the post is to appear, for networks on which its time is part of what is
	// prepared. It can change between attempts, so that a Handle with it must expire soon
	// after it. Zero: now.
	Due time.Time

	Options PostOptions // nil: none
}

// Receipt proves that the post exists.
type Receipt struct {
	RemoteID  string
	URL       string       // permalink for readers
	CreatedAt time.Time    // by the network's clock; zero: not reported
	SentAt    time.Time    // when the request was sent, by the local clock; zero: not known
	RequestID string       // the network's id of the request, for its support
	Rates     []RateStatus // rate limits that the response reported
	// Differences are what the network made otherwise than the submission asked, as
	// far as its response shows it (package matching, Comparison).
	Differences message.Messages
}

// Window bounds the search for a lost post.
type Window struct {
	From time.Time // time of the first send, minus the allowance for clock skew
	// Known contains the remote ids that the ledger already assigned to other
	// operations. They never match again. Two searches can run at the same time,
	// so the ledger also enforces one owner per account and remote id.
	Known   map[string]bool
	SinceID string // newest remote id that existed before the send, if known

	// Pending is the number of calls on this account, including this one, whose
	// outcome is unknown and whose posts look identical in a listing; 0 counts
	// as 1. Position is the position of this call among them by time, from 0:
	// the oldest matching post belongs to the oldest call. Unassignable means
	// that they differ in something that a listing does not show, so that no
	// post can be assigned to any of them.
	Pending      int
	Position     int
	Unassignable bool
}

// Finding is the result of Reconcile.
type Finding struct {
	Found    bool
	Receipt  Receipt
	Evidence message.Messages // for the post's timeline
	// Conclusive means that the whole window was searched. Listings can lag, so
	// a post was never made only if the last of several spaced searches is
	// conclusive and finds nothing. False means that the network could not be
	// queried, has too many posts in the window, lists several matches or a post
	// that may be this one, or may hide a post for longer than the search lasts.
	Conclusive bool
	// Similar is the number of posts that made the search inconclusive.
	Similar int
}
