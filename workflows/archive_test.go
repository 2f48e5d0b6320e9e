package workflows_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/testsuite"

	"dateline/activities"
	"dateline/workflows"
)

// vault stores archives; its engines fail for some attempts.
type vault struct {
	mu      sync.Mutex
	away    int // failing attempts
	written int
	failed  int
	dropped []time.Time
	keep    time.Duration // 0: a week
	now     func() time.Time
}

// WriteArchive implements the activity of that name.
func (v *vault) WriteArchive(context.Context, activities.ArchiveInput) (activities.ArchiveResult, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.away > 0 {
		v.away--
		return activities.ArchiveResult{}, errors.New("the object store is down")
	}
	v.written++
	keep := v.keep
	if keep == 0 {
		keep = 7 * 24 * time.Hour
	}
	return activities.ArchiveResult{Written: true, Bytes: 100, Keep: keep}, nil
}

// FailArchive implements the activity of that name.
func (v *vault) FailArchive(context.Context, activities.ArchiveInput) error {
	v.failed++
	return nil
}

// DropArchive implements the activity of that name.
func (v *vault) DropArchive(context.Context, activities.ArchiveInput) error {
	v.dropped = append(v.dropped, v.now())
	return nil
}

func exporting(v *vault) *testsuite.TestWorkflowEnvironment {
	var suite testsuite.WorkflowTestSuite
	suite.SetLogger(quiet{})
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterActivity(v)
	v.now = env.Now
	return env
}

// An archive is written although the object store is down for a while. It is deleted
// after a week.
func TestExportWorkspace_DeletesTheArchiveAfterAWeek(t *testing.T) {
	v := &vault{away: 3}
	env := exporting(v)
	began := env.Now()
	env.ExecuteWorkflow(workflows.ExportWorkspace, workflows.ExportWorkspaceInput{})
	if err := env.GetWorkflowError(); err != nil || v.written != 1 || v.failed != 0 || len(v.dropped) != 1 {
		t.Fatalf("%v, %+v", err, v)
	}
	if age := v.dropped[0].Sub(began); age < 7*24*time.Hour || age > 7*24*time.Hour+time.Hour {
		t.Errorf("deleted after %s", age)
	}
}

func TestExportWorkspace_RecordsFailure(t *testing.T) {
	v := &vault{away: 1000}
	env := exporting(v)
	env.ExecuteWorkflow(workflows.ExportWorkspace, workflows.ExportWorkspaceInput{})
	if err := env.GetWorkflowError(); err == nil || v.failed != 1 || len(v.dropped) != 0 {
		t.Errorf("%v, %+v", err, v)
	}
}

// Canceling the workflow deletes the archive immediately.
func TestExport_CancelLeavesNothing(t *testing.T) {
	v := &vault{}
	env := exporting(v)
	env.RegisterDelayedCallback(env.CancelWorkflow, time.Hour)
	began := env.Now()
	env.ExecuteWorkflow(workflows.ExportWorkspace, workflows.ExportWorkspaceInput{})
	if err := env.GetWorkflowError(); err != nil || len(v.dropped) != 1 || v.dropped[0].Sub(began) > 2*time.Hour {
		t.Errorf("%v, %+v", err, v)
	}
}
