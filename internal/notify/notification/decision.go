package notification

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/message"
)

// LinkState is the state of a link about an uncertain post.
type LinkState string

// The states. Only an open link allows a decision.
const (
	LinkOpen    LinkState = "open"
	LinkUsed    LinkState = "used"
	LinkDecided LinkState = "decided" // elsewhere
	LinkExpired LinkState = "expired"
)

// Decision is what a link about an uncertain post allows.
type Decision struct {
	Item                     int64
	State                    LinkState
	WorkspaceID, UserID      uuid.UUID
	PostID, TargetID         uuid.UUID
	UserName                 string
	MayDecide                bool // the role of the member allows it
	Network, Handle, Content string
	At                       time.Time      // when the post became uncertain
	Zone                     *time.Location // of the recipient
	Data                     []byte         // of the event
}

// Found returns when the lost call was sent, and what the search for it found.
func (d Decision) Found() (sent *time.Time, evidence message.Messages) {
	var of data
	if json.Unmarshal(d.Data, &of) != nil {
		return nil, nil
	}
	return of.Sent, of.found()
}
