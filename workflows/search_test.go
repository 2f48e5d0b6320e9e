package workflows_test

import (
	"context"
	"errors"
	"testing"

	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"dateline/workflows"
)

// index is a search engine that fails now and then.
type index struct{ looks int }

// SyncIndex is a stub of the activity.
func (i *index) SyncIndex(context.Context) (int, error) {
	if i.looks++; i.looks%10 == 1 {
		return 0, errors.New("the engine is down")
	}
	return 1, nil
}

// Reindex implements the activity of that name.
func (i *index) Reindex(context.Context) (int, error) { return 7, nil }

// The workflow runs forever, continues as new from time to time, and survives an engine
// that is down.
func TestIndexArticles_RunsForever(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	i := &index{}
	env.RegisterActivity(i)
	env.ExecuteWorkflow(workflows.IndexArticles)
	var continued *workflow.ContinueAsNewError
	if err := env.GetWorkflowError(); !errors.As(err, &continued) || i.looks < 100 {
		t.Errorf("after %d polls: %v", i.looks, err)
	}
}

func TestIndexArticles_RebuildsOnDemand(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivity(&index{})
	env.ExecuteWorkflow(workflows.ReindexArticles)
	var articles int
	if err := env.GetWorkflowResult(&articles); err != nil || articles != 7 {
		t.Errorf("%d articles, %v", articles, err)
	}
}
