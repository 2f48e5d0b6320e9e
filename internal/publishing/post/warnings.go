package post

import (
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/message"
)

// Warning is a hint about a post that was accepted.
type Warning struct {
	Code      string         `json:"code"`    // stable
	Message   string         `json:"message"` // a sentence for people
	Params    message.Params `json:"params,omitempty"`
	AccountID uuid.UUID      `json:"account_id,omitzero"`  // nil id: on all accounts
	PostID    *uuid.UUID     `json:"post_id,omitempty"`    // the other post that it is about
	At        *time.Time     `json:"other_time,omitempty"` // and its time
}

// NewWarning returns a Warning about an account, or about all accounts for the nil id,
// with a filled template, see message.Format.
func NewWarning(code string, account uuid.UUID, template string, args ...any) Warning {
	text, params := message.Format(template, args...)
	return Warning{Code: code, Message: text, Params: params, AccountID: account}
}

// Codes of warnings.
const (
	WarnQuota     = "quota_exceeded"
	WarnReconnect = "account_needs_reconnect"
	WarnExpires   = "account_expires"
	WarnDuplicate = "duplicate_content"
	WarnConflict  = "time_conflict"
	WarnNight     = "night"
	WarnNoAltText = "no_alt_text"
)

// How near another post has to be to be warned of.
const (
	DuplicateWindow = 30 * 24 * time.Hour
	ConflictWindow  = 5 * time.Minute
)

// Slot is where a post is, or is to be: on an account, at a time.
type Slot struct {
	PostID      uuid.UUID // nil id: it is not stored yet
	SeriesID    uuid.UUID // nil id: of no series
	AccountID   uuid.UUID
	At          time.Time
	Fingerprint []byte // nil: there are no words
}

// NearbyPost is another post near a spot.
type NearbyPost struct {
	Slot      int  // which of the requested posts
	SameText  bool // it has the same words; otherwise its time is close
	PostID    uuid.UUID
	At        time.Time
	Published bool
}

// Price is what networks bill for a post, in millionths of a US dollar.
type Price struct {
	MicroUSD int64
	Reasons  message.Messages
}

// Add adds what one more call costs.
func (p *Price) Add(more Price) {
	p.MicroUSD += more.MicroUSD
	for _, why := range more.Reasons {
		known := false
		for _, said := range p.Reasons {
			known = known || said.Text == why.Text
		}
		if !known {
			p.Reasons = append(p.Reasons, why)
		}
	}
}
