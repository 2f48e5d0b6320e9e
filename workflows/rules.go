package workflows

import (
	"strconv"
	"time"

	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/publishing/rule"
)

// Workflow types of rules.
const (
	EvaluateRulesWorkflow = "EvaluateRules"
	DecideRuleWorkflow    = "DecideRule"
)

// EvaluateRulesSchedule is the id of the schedule that keeps EvaluateRules running.
const EvaluateRulesSchedule = "evaluate-rules"

// DecisionID is the workflow id of the decision of a rule about an article. It completes
// once, or once an hour if the article was selected by its views: the caps may allow later
// what they did not.
func DecisionID(r rule.Request) string {
	id := "rule/" + r.RuleID.String() + "/" + r.ArticleID.String()
	if r.Round > 0 || !r.Hour.IsZero() {
		id += "/" + strconv.Itoa(r.Round)
	}
	if !r.Hour.IsZero() {
		id += "/" + r.Hour.UTC().Format("2006-01-02T15")
	}
	return id
}

// evaluationsPerRun is the number of EvaluateArticles activities of a run before it
// continues as new.
const evaluationsPerRun = 100

// EvaluateRules evaluates stored and changed articles. Each activity polls the queue for
// minutes, which keeps histories short and evaluates articles within seconds.
func EvaluateRules(ctx workflow.Context) error {
	var r *activities.Rules
	for range evaluationsPerRun {
		if err := workflow.ExecuteActivity(syncOptions(ctx, "Evaluate new articles"), r.EvaluateArticles).Get(ctx,
			nil); err != nil {
			return err
		}
	}
	return workflow.NewContinueAsNewError(ctx, EvaluateRulesWorkflow)
}

// DecideRule decides about an article and creates its post. Both activities are
// idempotent: the row of the decision decides, and contains the id of the post.
func DecideRule(ctx workflow.Context, in activities.DecisionInput) (out activities.DecisionResult, err error) {
	var r *activities.Rules
	if err := workflow.ExecuteLocalActivity(databaseOptions(ctx, "Decide within the caps of the rule"),
		r.ReserveDecision, in).Get(ctx, &out.Outcome); err != nil {
		return out, err
	}
	if out.Outcome != rule.Reserved {
		return out, nil
	}
	err = workflow.ExecuteActivity(createPostOptions(ctx), r.CreateRulePost, in).Get(ctx, &out)
	return out, err
}

// createPostOptions are for creating a post, which may fetch an image. An outage delays
// the post and never loses it.
func createPostOptions(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: 2 * time.Minute,
		RetryPolicy:         retryForever(time.Minute),
		Summary:             "Create the post",
	})
}
