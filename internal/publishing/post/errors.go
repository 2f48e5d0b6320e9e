package post

import (
	"fmt"
	"strings"

	"dateline/internal/infra/apperr"
)

// TooLate refuses a change after the point of no return.
func TooLate(p Post) *apperr.Error {
	reason := map[Status]string{
		Draft:        "it is a draft", // again, or only now: see NotDraft
		Scheduled:    "it is scheduled",
		Publishing:   "it is being published right now",
		Posted:       "it is already published",
		PartlyPosted: "it is already published on some accounts",
		Failed:       "publishing failed; retry or discard the failed accounts",
		Canceled:     "it is canceled",
	}[p.Status]
	if doubtful := p.uncertainHandles(); p.Status == Publishing && len(doubtful) > 0 {
		reason = "it needs a decision about " + strings.Join(doubtful, " and ") +
			"; confirm the post there or resend it"
	}
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "too_late",
		Message: fmt.Sprintf("The post can no longer be changed: %s.", reason),
	}
}

// uncertainHandles names the accounts with an uncertain target; none while the post is
// still being published on others.
func (p Post) uncertainHandles() []string {
	var handles []string
	for _, t := range p.Targets {
		switch {
		case t.Status.IsOpen():
			return nil
		case t.Status == TargetUncertain:
			handles = append(handles, "@"+strings.TrimPrefix(t.Handle, "@"))
		}
	}
	return handles
}

// NotDraft refuses to schedule a post that is not a draft.
func NotDraft(status Status) *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: "not_a_draft",
		Message: fmt.Sprintf("Only a draft can be scheduled, and this post is %s. To change its time, edit it.",
			strings.ReplaceAll(string(status), "_", " ")),
	}
}

// VersionMismatch refuses a change that was made against an older version.
func VersionMismatch(current int64) *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindPreconditionFailed, Code: "version_mismatch",
		Message: fmt.Sprintf("The post was changed in the meantime; its version is now %d. Load it again and repeat "+
			"the change.", current),
	}
}

// CodeSlotTaken is the code of SlotTaken.
const CodeSlotTaken = "slot_taken"

// SlotTaken refuses a slot of a queue that another post has.
func SlotTaken() *apperr.Error {
	return &apperr.Error{
		Kind: apperr.KindConflict, Code: CodeSlotTaken,
		Message: "Another post has this slot of the queue. Choose another time, or send when: next_free.",
	}
}
