package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.temporal.io/sdk/testsuite"

	"dateline/activities"
	"dateline/internal/publishing/account"
	"dateline/workflows"
)

// login is a network's login that fails for a while.
type login struct {
	steps []activities.RenewalStep
	asked []uuid.UUID
}

// RenewToken implements the activity of that name.
func (l *login) RenewToken(_ context.Context, id uuid.UUID) (activities.RenewalStep, error) {
	l.asked = append(l.asked, id)
	return l.steps[min(len(l.asked), len(l.steps))-1], nil
}

func TestRefreshToken_RetriesUntilTheNetworkResponds(t *testing.T) {
	for _, end := range []account.Outcome{account.Renewed, account.Refused, account.NotRenewable} {
		var suite testsuite.WorkflowTestSuite
		suite.SetLogger(quiet{})
		env := suite.NewTestWorkflowEnvironment()
		env.SetStartTime(opening)
		l := &login{
			steps: []activities.RenewalStep{
				{Outcome: account.Deferred, Wait: time.Minute},
				{Outcome: account.Deferred, Wait: 3 * time.Hour},
				{Outcome: end},
			},
		}
		env.RegisterActivity(l)
		id := uuid.New()
		env.ExecuteWorkflow(workflows.RefreshToken, workflows.RefreshTokenInput{AccountID: id})
		var result workflows.RefreshTokenResult
		if err := env.GetWorkflowResult(&result); err != nil || result.Outcome != string(end) || len(l.asked) != 3 ||
			l.asked[2] != id {
			t.Errorf("%+v after %d tries, %v", result, len(l.asked), err)
		}
		if took := env.Now().Sub(opening); took < 3*time.Hour+time.Minute || took > 3*time.Hour+2*time.Minute {
			t.Errorf("took %s", took)
		}
	}
}
