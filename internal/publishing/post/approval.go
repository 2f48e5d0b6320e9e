package post

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
)

// ApprovalState is the state of a post's approval.
type ApprovalState string

// The states of approval. A post that is pending or rejected is a draft.
const (
	ApprovalNone     ApprovalState = "none"
	ApprovalPending  ApprovalState = "pending"
	ApprovalGranted  ApprovalState = "approved"
	ApprovalRejected ApprovalState = "rejected"
)

// Approval is a post's approval with its decision.
type Approval struct {
	State       ApprovalState // empty as NotAsked
	SubmittedBy *uuid.UUID    // nil: by its series or an operator
	SubmittedAt *time.Time
	DecidedBy   *uuid.UUID // nil as above
	DecidedAt   *time.Time
	Note        string // why it is rejected, or cannot be approved any more
}

// IsPendingApproval reports whether the post is unscheduled until it is approved.
func (p Post) IsPendingApproval() bool {
	return p.Status == Draft && p.Approval.State == ApprovalPending
}

// NotPending refuses a decision on a post that is not pending approval.
func NotPending(p Post) *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "not_pending",
		Message: fmt.Sprintf("The post is not pending approval: it is %s.", approvalStatus(p)),
	}
}

// NotDecided refuses to undo a decision that was not made.
func NotDecided(p Post) *apperr.Error {
	status := approvalStatus(p)
	if p.IsPendingApproval() {
		status = "pending approval"
	}
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "not_decided",
		Message: fmt.Sprintf("There is no approval to undo: the post is %s.", status),
	}
}

// AlreadyPending refuses to submit a post that is already pending.
func AlreadyPending() *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "already_pending",
		Message: "The post is already pending approval.",
	}
}

func approvalStatus(p Post) string {
	switch {
	case p.Approval.State == ApprovalRejected && p.Status == Draft:
		return "rejected"
	case p.Status == Draft:
		return "a draft that was not submitted"
	default:
		return strings.ReplaceAll(string(p.Status), "_", " ")
	}
}

// NeedsApproval refuses what an author cannot do alone.
func NeedsApproval(reason string) *apperr.Error {
	return &apperr.Error{Kind: apperr.KindConflict, Code: "approval_required", Message: reason}
}

// Overdue refuses to approve a post whose time has passed.
func Overdue(at time.Time) *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "too_late",
		Message: fmt.Sprintf("The scheduled time %s has passed. Set a later time and approve it again, or "+
			"publish it now.", at.Format(time.RFC3339)),
	}
}
