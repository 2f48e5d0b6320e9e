// Package post defines a scheduled post: its fields, its states, its times, and the
// errors that users see.
package post

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/message"
	"dateline/internal/infra/utm"
)

// Status is the state of a post; docs/reference/post-states.md draws the transitions.
type Status string

// The states of a post.
const (
	Draft        Status = "draft"
	Scheduled    Status = "scheduled"
	Publishing   Status = "publishing"
	Posted       Status = "posted"
	PartlyPosted Status = "partly_posted"
	Failed       Status = "failed"
	Canceled     Status = "canceled"
)

// Statuses lists every state, in the order of a post's life.
func Statuses() []Status {
	return []Status{Draft, Scheduled, Publishing, Posted, PartlyPosted, Failed, Canceled}
}

// IsFinal reports whether the post changes no more without a request.
func (s Status) IsFinal() bool {
	switch s {
	case Posted, PartlyPosted, Failed, Canceled:
		return true
	}
	return false
}

// TargetStatus is the state of a post on one account.
type TargetStatus string

// The states of a target. TargetUncertain needs a decision: the network gave no
// reliable response and the post could not be found.
const (
	TargetScheduled  TargetStatus = "scheduled"
	TargetPublishing TargetStatus = "publishing"
	TargetPosted     TargetStatus = "posted"
	TargetFailed     TargetStatus = "failed"
	TargetUncertain  TargetStatus = "uncertain"
	TargetCanceled   TargetStatus = "canceled"
)

// Dead reports whether the target is a dead letter, which needs a decision.
func (s TargetStatus) Dead() bool { return s == TargetFailed || s == TargetUncertain }

// IsOpen reports whether the publisher still has something to do for the target.
func (s TargetStatus) IsOpen() bool { return s == TargetScheduled || s == TargetPublishing }

// Post is a scheduled post as stored in the database.
type Post struct {
	ID             uuid.UUID
	WorkspaceID    uuid.UUID
	UserID         uuid.UUID
	Content        string
	ScheduledTime  time.Time // UTC; zero: a draft without a time
	TimeZone       string    // IANA name, as the author meant the time
	Status         Status
	RetryCount     int
	AttachmentIDs  []uuid.UUID
	AttachmentURLs []string        // s3://bucket/key, same order
	PlatformMedia  json.RawMessage // account id → handles at the network
	ThreadID       *uuid.UUID
	ThreadParentID *uuid.UUID
	Language       string
	Thread         []Segment     // what follows the first segment
	Options        Options       // options for the networks; an override's replace them
	LateLimit      time.Duration // dropped rather than published later than this; 0: never dropped
	LinkBase       string        // addresses in the text are sent as short links that begin so; "": as they are
	Series         *Occurrence   // nil: of no series
	QueueGroupID   *uuid.UUID    // the account group whose queue it has a slot of
	LabelIDs       []uuid.UUID   // labels and at most one campaign
	UTM            utm.Params    // of tracked links, in place of those of the account and the campaign
	Approval       Approval
	RedrivenAt     *time.Time // when a person last requested a retry
	Version        int64      // every change; the API's ETag
	Revision       int64      // every change of what or when
	PostedAt       *time.Time
	CreatedAt      time.Time
	UpdatedAt      time.Time
	Targets        []Target
	Warnings       []Warning // about the change just made; not stored
	Price          Price     // of the change just made; not stored
	Unscheduled    bool      // off the schedule by the change just made; not stored
}

// Target is a post on one account.
type Target struct {
	ID           uuid.UUID
	PostID       uuid.UUID
	AccountID    uuid.UUID
	Network      string
	Handle       string
	Status       TargetStatus
	Override     *Override
	Attempts     int
	Fence        int64
	ClaimedUntil *time.Time
	RemoteID     string
	RemoteURL    string
	ErrorClass   string
	ErrorCode    string
	ErrorMessage string
	SentAt       *time.Time // when the final call left, by the database's clock
	PostedAt     *time.Time // when its response arrived
	UpdatedAt    time.Time
	Published    []PublishedSegment // of a thread: the segments that are out
	Differences  []Difference       // what the network made otherwise than asked
	NeedsReview  bool               // one of them is serious, and nobody has decided yet
	DeletedAt    *time.Time         // when a person had it deleted at the network
}

// Difference is something that a network made of a segment otherwise than asked.
type Difference struct {
	message.Message
	Segment int `json:"segment"`
}

// ReasonDiffers is the reason of a target in need of a decision that is published.
const ReasonDiffers = "differs"

// PublishedSegment is one segment at its network.
type PublishedSegment struct {
	Segment   int
	RemoteID  string
	RemoteURL string
	SentAt    *time.Time
	PostedAt  time.Time
}

// Event is one line of a post's timeline. ID grows along the timeline.
type Event struct {
	ID       int64
	PostID   uuid.UUID
	TargetID *uuid.UUID
	Type     string
	Actor    string
	Data     json.RawMessage
	At       time.Time
}

// EventCursor is a position in the events of a workspace: after an event, in the
// order in which transactions started to write.
type EventCursor struct {
	Tx uint64
	ID int64
}

// WorkspaceEvent is an event of a workspace: of a post, of an account, or of
// neither.
type WorkspaceEvent struct {
	Cursor    EventCursor
	PostID    *uuid.UUID
	TargetID  *uuid.UUID
	AccountID *uuid.UUID // nil also if TargetID identifies the account
	Type      string
	Actor     string
	Data      json.RawMessage
	At        time.Time
}

// EventFilter chooses events of one workspace. Zero values choose everything.
type EventFilter struct {
	WorkspaceID uuid.UUID
	Types       []string
	AccountID   *uuid.UUID
}

// Types of events.
const (
	EventCreated    = "created"
	EventEdited     = "edited"
	EventCanceled   = "canceled"
	EventPublishNow = "publish_now"
	EventSending    = "sending"
	EventRetrying   = "retrying"
	EventAmbiguous  = "ambiguous"
	EventReconciled = "reconciled"
	EventUncertain  = "uncertain"
	EventPosted     = "posted"
	EventFailed     = "failed"
	EventRefused    = "refused"   // a signal that was too late or invalid
	EventStatus     = "status"    // the post's own status changed
	EventScheduled  = "scheduled" // a draft became a scheduled post
	EventPrepared   = "prepared"  // attachments are at the network
	EventProblem    = "problem"   // found while preparing, before its time
	EventDiffers    = "differs"   // the network made it otherwise than asked
	EventAccepted   = "accepted"  // a person accepted that a post differs
	EventDeleted    = "deleted"   // a person had it deleted at the network
	EventSegment    = "segment_posted"
	EventNoComment  = "comment_failed" // the post is out, its first comment is not
	EventLate       = "late"           // its time has passed and it is not out
	EventRedriven   = "redriven"       // dead letters are retried
	EventDiscarded  = "discarded"      // dead letters were discarded
	EventConfirmed  = "confirmed"      // a person confirmed that an uncertain post exists
	EventResend     = "resend"         // a user decided that the post does not exist at the network
	EventThrottled  = "throttled"      // delayed by a rate limit, before anything is sent
	EventSubmitted  = "submitted"      // it waits for approval
	EventApproved   = "approved"       // and is on the schedule
	EventRejected   = "rejected"
	EventReopened   = "reopened"          // its approval or rejection was undone
	EventLabeled    = "labeled"           // its labels changed
	EventRezoned    = "time_zone_changed" // another time zone database changed the instant of its local time
	EventCommented  = "commented"         // a member wrote a comment

	// EventNetworkWait means delayed because the network does not respond, or too slowly.
	EventNetworkWait = "waiting_for_network"
)

// EditedDraft marks, in the data of an edited event, the edit of a draft that does
// not wait for approval.
const EditedDraft = "draft"

// CanceledRemaining marks, in the data of a canceled event, that only the segments
// were canceled that had not been published.
const CanceledRemaining = "remaining"

// Evidence is, in the data of an event, what was searched for and found at a network:
// the sentences. EvidenceParts are their codes and values, see message.Messages.
const (
	Evidence      = "evidence"
	EvidenceParts = "evidence_parts"
)

// Types of events that are of no post.
const (
	EventNeedsReconnect  = "needs_reconnect"  // of an account
	EventExpiring        = "expiring"         // of an account: access ends in so many days
	EventStoryMissed     = "story_missed"     // of a workspace: other sources have a story
	EventArticleMatched  = "article_matched"  // of a saved search: a new article matches it
	EventDisconnected    = "disconnected"     // of an account, by a person
	EventWebhookDisabled = "webhook_disabled" // of an endpoint

	EventSelectorsLearned    = "selectors_learned"     // of a domain: other selectors are in use
	EventSelectorsRolledBack = "selectors_rolled_back" // of a domain: those before are in use again
	// Of a domain: those in use do badly, and none better were learned
	EventSelectorsFailed = "selectors_failed"
)

// Actors besides "user:<id>".
const (
	ActorOperator = "operator" // a signal that an operator sent to the workflow
	ActorDateline = "dateline"
)

// Change is an edit: nil leaves a field as it is.
type Change struct {
	Content       *string
	ScheduledTime *time.Time
	TimeZone      *string
	Language      *string
	AttachmentIDs *[]uuid.UUID
	AccountIDs    *[]uuid.UUID
	Thread        *[]Segment
	Options       *Options
	Overrides     map[uuid.UUID]*Override // by account; a nil value removes one
	LateLimit     *time.Duration          // 0: none
	LinkBase      *string                 // "": links are not tracked
	UTM           *utm.Params
	QueueGroupID  *uuid.UUID // the nil id: it leaves its queue

	// NeedsApproval unschedules a scheduled post: with the change it is pending
	// approval.
	NeedsApproval bool
}

// IsEmpty reports whether the edit changes nothing.
func (c Change) IsEmpty() bool {
	return c.Content == nil && c.ScheduledTime == nil && c.TimeZone == nil &&
		c.Language == nil && c.AttachmentIDs == nil && c.AccountIDs == nil &&
		c.Thread == nil && c.Options == nil && len(c.Overrides) == 0 && c.LateLimit == nil && c.LinkBase == nil &&
		c.UTM == nil && c.QueueGroupID == nil
}

// Guard names the post of a change and the conditions that must still hold.
type Guard struct {
	WorkspaceID uuid.UUID
	PostID      uuid.UUID
	IfVersion   int64 // 0: any
	Actor       string
	CommandKey  string    // of an operator's command, recorded with the change; empty: none
	UserID      uuid.UUID // who requests it; nil id: an operator, or Dateline
	IsAuthor    bool      // the requester is only an author
	Review      *Review   // the review link that decides; nil: a member does
}

// Review is a decision by a review link.
type Review struct {
	LinkID  uuid.UUID
	Name    string // of the reviewer
	Comment string
}

// Unattended is a post whose workflow may be missing.
type Unattended struct {
	PostID        uuid.UUID
	ScheduledTime time.Time
	IsStale       bool // of its newest revision, as far as is known
}

// QueuedPost is a slot of a queue with the post that has it.
type QueuedPost struct {
	PostID  uuid.UUID
	GroupID uuid.UUID
	At      time.Time
}
