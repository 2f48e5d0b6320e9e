package post

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/idempotency"
)

// NewPost is a post to be created.
type NewPost struct {
	Post        Post // ID, WorkspaceID, UserID and the author's fields
	AccountIDs  []uuid.UUID
	TargetIDs   map[uuid.UUID]uuid.UUID // of targets, by account; others get one when they are stored
	Overrides   map[uuid.UUID]*Override // by account
	Actor       string
	Idempotency idempotency.Key
	// DecisionID is the decision of a rule to create the post, if any. The post is stored
	// only while the decision is reserved for it.
	DecisionID uuid.UUID
}

// TargetID returns the id of a target that is going to be stored.
func (n NewPost) TargetID(account uuid.UUID) uuid.UUID {
	if id, ok := n.TargetIDs[account]; ok {
		return id
	}
	return uuid.Must(uuid.NewV7())
}

// ErrDecided reports that a rule no longer wants the post: another attempt has finished the
// decision to create it, or the rule was deleted.
var ErrDecided = errors.New("the decision to create the post is finished or deleted") //nolint:gochecknoglobals // a sentinel

// Filter selects posts of one workspace. Zero values select everything.
type Filter struct {
	WorkspaceID uuid.UUID
	Statuses    []Status
	From, To    *time.Time // scheduled time; To is exclusive
	AccountID   *uuid.UUID
	SeriesID    *uuid.UUID
	Approvals   []ApprovalState
	LabelID     *uuid.UUID
	Text        string // words of the post or of its accounts, without case and accents
	Ascending   bool
	AfterTime   *time.Time // the cursor: the last post of the previous page
	AfterID     *uuid.UUID
	Limit       int
}

// DeadLetterFilter selects dead letters of one workspace. Zero values select
// everything.
type DeadLetterFilter struct {
	WorkspaceID uuid.UUID
	Reasons     []string // error classes
	Networks    []string
	AccountID   *uuid.UUID
	PostIDs     []uuid.UUID
	Status      TargetStatus // failed or uncertain
	BeforeTime  *time.Time   // the cursor
	BeforeID    *uuid.UUID
	Limit       int
}

// Decision is a user's decision about an uncertain target: the post exists, or
// it is sent again.
type Decision struct {
	TargetID  uuid.UUID
	Exists    bool
	RemoteID  string // with Exists
	RemoteURL string
}

// SeriesFilter selects series of one workspace.
type SeriesFilter struct {
	WorkspaceID uuid.UUID
	Statuses    []string
	BeforeTime  *time.Time // the cursor
	BeforeID    *uuid.UUID
	Limit       int
}

// SeriesChange is an edit of a series; an empty field is left unchanged.
type SeriesChange struct {
	Rule, Starts, TimeZone string
	Template               json.RawMessage
	ByAuthor               bool // its posts need approval like an author's
}
