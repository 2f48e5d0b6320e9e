package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"
)

// park waits with the post's dead letters for a decision.
func (r *postRun) park(s step) (event, error) {
	workflow.SetCurrentDetails(r.ctx, "**dead letters**: waits for `retry`, `edit` or `discard` until "+
		s.at.Format(time.RFC3339))
	_, err := r.wait("parked", s.at)
	return r.receiveAgain(), err
}
