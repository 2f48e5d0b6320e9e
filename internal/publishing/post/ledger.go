package post

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/message"
)

// States of a call in the ledger.
const (
	CallSending          = "sending"
	CallAccepted         = "accepted"
	CallFailed           = "definite_failure"
	CallAmbiguous        = "ambiguous"
	CallReconciledOK     = "reconciled_ok"
	CallReconciledAbsent = "reconciled_absent"
	CallManual           = "manual" // a person must decide
)

// Call is a ledger row: one call that cannot be undone, made or about to be made.
type Call struct {
	OperationID    uuid.UUID
	PostID         uuid.UUID
	TargetID       uuid.UUID
	Segment        int
	Revision       int64
	Epoch          int // counts the sends of one operation
	Fence          int64
	IdempotencyKey string
	Fingerprint    []byte // SHA-256 of the sent content
	ContentKey     []byte // SHA-256 of what a listing shows of it (matching.Key)
	Prepared       json.RawMessage
	SentAt         time.Time // by the database's clock
	ClaimedUntil   time.Time // by the database's clock
	// When it will be sent, by the host's clock, unless immediately: claims may be batched until shortly before
	Due time.Time
}

// SimilarCalls describes the account for a search for a lost post.
type SimilarCalls struct {
	KnownRemoteIDs map[string]bool // remote ids that belong to other calls already
	// Calls are those with the same content key whose outcome is unknown, oldest
	// first.
	Calls    []SimilarCall
	InFlight int // other calls on the account without a response, or whose response was lost a moment ago
}

// SimilarCall is a call whose post a listing cannot distinguish from another's.
type SimilarCall struct {
	OperationID uuid.UUID `json:"id"`
	Fingerprint string    `json:"fingerprint"` // hexadecimal
	State       string    `json:"state"`
	SentAt      time.Time `json:"sent_at"`
}

// IsUnchanged reports whether a later reading shows the same call in the same state.
func (c SimilarCall) IsUnchanged(later SimilarCall) bool {
	return c.OperationID == later.OperationID && c.State == later.State
}

// Outcome is what became of a target, as Finish records it.
type Outcome struct {
	PostID      uuid.UUID
	TargetID    uuid.UUID
	Fence       int64
	Revision    int64     // that the outcome is for
	OperationID uuid.UUID // nil id: nothing was sent
	Segment     int       // that RemoteID is
	Status      TargetStatus
	Operation   string // the ledger's state afterwards
	Evidence    map[string]any
	Attempts    int // 1 when this used up a try
	RemoteID    string
	RemoteURL   string
	ErrorClass  string
	ErrorCode   string
	Error       string
	SentAt      *time.Time // when the call left; nil: as the claim planned it
	PostedAt    *time.Time
	WaitsUntil  *time.Time // when the next segment is due; nil: immediately
	Event       string
	EventData   map[string]any
	// Differences are what the network made of the segment otherwise than asked.
	Differences message.Messages
}
