package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"
)

// park ends the workflow if nothing is left to do, or waits with the post's dead
// letters for a decision. done is false if there is more to do.
func (r *postRun) park() (done bool, err error) {
	if waited, err := r.answerUpdates(); waited || err != nil || !r.inbox.isEmpty() {
		return false, err
	}
	until := r.view.ParkedUntil
	if !until.After(workflow.Now(r.ctx)) {
		r.state = StateResult{Doing: "done", Revision: r.view.Revision}
		return true, nil
	}
	// There is no post left to cancel: a person who cancels a parked workflow wants
	// it to end. The dead letters stay, and a decision through the API starts a
	// workflow again.
	if err := r.inbox.outer.Err(); err != nil {
		r.state = StateResult{Doing: "done", Revision: r.view.Revision}
		return true, err
	}
	if workflow.GetInfo(r.ctx).GetContinueAsNewSuggested() {
		return true, workflow.NewContinueAsNewError(r.ctx, PostWorkflow, r.in)
	}
	workflow.SetCurrentDetails(r.ctx, "**dead letters**: waits for `retry`, `edit` or `discard` until "+
		until.Format(time.RFC3339))
	_, err = r.wait("parked", until)
	return false, err
}
