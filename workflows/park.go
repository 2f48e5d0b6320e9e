package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"
)

// changePark marks histories in which a post with dead letters waits for a
// person. Older ones ended there.
const changePark = "park"

// park ends the workflow when nothing is left to do, or waits with the post's
// dead letters for somebody to decide on them. done is false when there is
// something to do again.
func (r *postRun) park() (done bool, err error) {
	if !r.inbox.empty() {
		return false, nil
	}
	until := r.view.ParkedUntil
	if !until.After(workflow.Now(r.ctx)) || workflow.GetVersion(r.ctx, changePark, workflow.DefaultVersion, 1) == workflow.DefaultVersion {
		r.state = StateResult{Doing: "done", Revision: r.view.Revision}
		return true, nil
	}
	// There is no post left to take back: whoever cancels a parked workflow wants
	// it out of the way. The dead letters stay, and deciding on one by the API
	// starts a workflow again.
	if err := r.inbox.outer.Err(); err != nil {
		r.state = StateResult{Doing: "done", Revision: r.view.Revision}
		return true, err
	}
	if workflow.GetInfo(r.ctx).GetContinueAsNewSuggested() {
		return true, workflow.NewContinueAsNewError(r.ctx, PostWorkflow, r.in)
	}
	workflow.SetCurrentDetails(r.ctx, "**dead letters**: waits for `retry`, `edit` or `discard` until "+until.Format(time.RFC3339))
	_, err = r.wait("parked", until)
	return false, err
}
