package post

import (
	"time"

	"github.com/google/uuid"
)

// QueuedPost is a slot of a queue with the post that has it.
type QueuedPost struct {
	PostID  uuid.UUID
	GroupID uuid.UUID
	At      time.Time
}
