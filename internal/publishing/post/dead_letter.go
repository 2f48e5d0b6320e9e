package post

import (
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/message"
)

// ReasonLate is the error class of a target that its post's late policy
// dropped. The other classes are the networks'.
const ReasonLate = "late"

// ParkTimeout is how long a post with dead letters waits in its workflow.
const ParkTimeout = 30 * 24 * time.Hour

// DeadLetter is a target that waits for a person.
type DeadLetter struct {
	TargetID      uuid.UUID
	PostID        uuid.UUID
	AccountID     uuid.UUID
	Network       string
	Handle        string
	Status        TargetStatus // failed or uncertain; posted or publishing if it differs
	Reason        string       // error class, or ReasonDiffers
	Code          string
	Message       string
	Attempts      int
	Content       string
	ScheduledTime time.Time
	TimeZone      string
	Since         time.Time
	Differences   message.Messages // of ReasonDiffers
}

// DeadLetterCount is how many dead letters there are of one kind.
type DeadLetterCount struct {
	Status  TargetStatus
	Reason  string
	Network string
	Count   int
	Oldest  time.Time
}

// NotDeadLetter rejects the retry or discard of a target that has not failed.
func NotDeadLetter() *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "not_a_dead_letter",
		Message: "This post has no failed accounts to retry or discard. An uncertain account needs a decision: " +
			"confirm the post or resend it.",
	}
}

// NotDeletable refuses to delete what is not published, or still being published.
func NotDeletable() *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "not_deletable",
		Message: "Only a post that is published completely can be deleted at its network, and only once. " +
			"Load it again.",
	}
}

// NotUncertain refuses a decision about a target that is not uncertain.
func NotUncertain() *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "not_uncertain",
		Message: "This account is not uncertain, so there is nothing to decide.",
	}
}
