package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"dateline/activities"
	"dateline/internal/publishing/rule"
	"dateline/internal/testing/temporaltest"
	"dateline/workflows"
)

// fakeRules has the activities of rules. The second attempt to create a post works.
type fakeRules struct {
	outcome  rule.Outcome
	post     uuid.UUID
	attempts int
	looks    chan struct{}
}

func (f *fakeRules) EvaluateArticles(ctx context.Context) (int, error) {
	f.looks <- struct{}{}
	for ctx.Err() == nil {
		activity.RecordHeartbeat(ctx, 1)
		time.Sleep(20 * time.Millisecond)
	}
	return 1, ctx.Err()
}

func (f *fakeRules) ReserveDecision(context.Context, activities.DecisionInput) (rule.Outcome, error) {
	return f.outcome, nil
}

func (f *fakeRules) CreateRulePost(context.Context, activities.DecisionInput) (activities.DecisionResult, error) {
	if f.attempts++; f.attempts == 1 {
		return activities.DecisionResult{}, temporal.NewApplicationErrorWithOptions("the database is down", "down",
			temporal.ApplicationErrorOptions{NextRetryDelay: 10 * time.Millisecond})
	}
	return activities.DecisionResult{Outcome: rule.Created, PostID: f.post}, nil
}

func registerRules(r worker.WorkflowRegistry) {
	r.RegisterWorkflowWithOptions(workflows.EvaluateRules, workflow.RegisterOptions{
		Name: workflows.EvaluateRulesWorkflow,
	})
	r.RegisterWorkflowWithOptions(workflows.DecideRule, workflow.RegisterOptions{Name: workflows.DecideRuleWorkflow})
}

// TestRecordRules runs the workflows of rules on a real server and replays their
// histories; see TestRecord.
func TestRecordRules(t *testing.T) {
	address := temporaltest.Start(t)
	c := temporaltest.Dial(t, address, func(o *client.Options) { o.Identity = recorder })
	input := activities.DecisionInput{
		RuleID:    uuid.MustParse("0192f0c1-7a3e-7c34-9d54-2f7f2f3a1b00"),
		ArticleID: uuid.MustParse("0192f0c1-7a3e-7c34-9d54-2f7f2f3a1b01"),
	}
	for name, want := range map[string]activities.DecisionResult{
		"rule_skipped": {Outcome: rule.Skipped},
		"rule_created": {Outcome: rule.Created, PostID: uuid.MustParse("0192f0c1-7a3e-7c34-9d54-2f7f2f3a1b02")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeRules{outcome: rule.Reserved, post: want.PostID}
			if want.Outcome == rule.Skipped {
				f.outcome = rule.Skipped
			}
			run := start(t, c, f, name, workflows.DecideRuleWorkflow, input)
			var got activities.DecisionResult
			if err := run.Get(t.Context(), &got); err != nil || got != want {
				t.Errorf("got %+v, error %v; want %+v", got, err, want)
			}
			keep(t, c, name, run)
		})
	}
	t.Run("evaluate_rules_cancelled", func(t *testing.T) {
		t.Parallel()
		f := &fakeRules{looks: make(chan struct{}, 1)}
		run := start(t, c, f, "evaluate_rules_cancelled", workflows.EvaluateRulesWorkflow)
		<-f.looks
		if err := c.CancelWorkflow(t.Context(), run.GetID(), run.GetRunID()); err != nil {
			t.Fatal(err)
		}
		if err := run.Get(t.Context(), nil); !temporal.IsCanceledError(err) {
			t.Fatal(err)
		}
		keep(t, c, "evaluate_rules_cancelled", run)
	})
}
