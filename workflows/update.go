package workflows

import (
	"errors"
	"time"

	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/publishing/delivery"
)

// acceptUpdates handles the commands of operators as updates, too: other than a signal, an update is answered when the
// command is applied, and with the reason if it is refused.
func (r *postRun) acceptUpdates() error {
	for _, name := range []string{SignalCancel, SignalEdit, SignalPublishNow, SignalRetry, SignalDiscard} {
		apply := func(ctx workflow.Context, input converter.RawValue) error {
			return r.update(ctx, parseCommand(name, input))
		}
		validate := func(input converter.RawValue) error {
			if problem := parseCommand(name, input).InputError; problem != "" {
				return errors.New(problem)
			}
			return nil
		}
		if err := workflow.SetUpdateHandlerWithOptions(r.ctx, name, apply,
			workflow.UpdateHandlerOptions{Validator: validate}); err != nil {
			return err
		}
	}
	return nil
}

func (r *postRun) update(ctx workflow.Context, command delivery.Command) error {
	defer func() { r.isAnswered = true }()
	command.PostID = r.in.PostID
	command.Key = commandKey(ctx, "update", command.Name, workflow.GetCurrentUpdateInfo(ctx).ID)
	var publishing *activities.Publishing
	var refusal delivery.Refusal
	err := workflow.ExecuteLocalActivity(databaseOptions(ctx, "update "+command.Name), publishing.ApplyCommand,
		command).Get(ctx, &refusal)
	if err != nil {
		return err
	}
	r.inbox.changed()
	if refusal.Code != "" {
		return temporal.NewNonRetryableApplicationError(refusal.Reason, refusal.Code, nil)
	}
	return nil
}

// answerUpdates waits until all updates are answered: a workflow that ends earlier leaves them without an answer.
func (r *postRun) answerUpdates() error {
	return workflow.Await(r.ctx, func() bool { return workflow.AllHandlersFinished(r.ctx) })
}

// mustDeliverAnswers reports whether the workflow would end together with the answer to an update. If a signal arrives
// at the same moment, Temporal Server 1.32 rejects the end (UNHANDLED_COMMAND), and with it the answer: the sender gets
// "unexpected workflow task failure" for a command that was applied.
func (r *postRun) mustDeliverAnswers() bool {
	return r.isAnswered && workflow.GetVersion(r.ctx, "deliver answers before the end", workflow.DefaultVersion, 1) > 0
}

// deliverAnswers ends the workflow task, which sends the answers in it to the server.
func (r *postRun) deliverAnswers() error {
	r.isAnswered = false
	return workflow.Sleep(r.ctx, time.Millisecond)
}
