package workflows_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"dateline/internal/publishing/measure"
	"dateline/internal/testing/temporaltest"
	"dateline/workflows"
)

// TestRecordMeasure runs the workflows that read metrics on a real server; -record stores
// their histories, see TestRecord.
func TestRecordMeasure(t *testing.T) {
	address := temporaltest.Start(t)
	c := temporaltest.Dial(t, address, func(o *client.Options) { o.Identity = recorder })
	account := uuid.NewSHA1(uuid.Nil, []byte("measure_account"))
	for name, row := range map[string]struct {
		workflow string
		args     []any
	}{
		"measure_posts":   {workflows.MeasurePostsWorkflow, nil},
		"measure_account": {workflows.MeasureAccountWorkflow, []any{workflows.MeasureAccountInput{AccountID: account}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := start(t, c, &measureActivities{}, name, row.workflow, row.args...)
			if err := run.Get(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			keep(t, c, name, run)
		})
	}
}

// measureActivities are the activities that read metrics; the first reading fails.
type measureActivities struct{ runs atomic.Int32 }

func (a *measureActivities) StartMeasuring(context.Context) (int, error) { return 2, nil }

func (a *measureActivities) MeasureAccount(context.Context, uuid.UUID) (measure.Summary, error) {
	if a.runs.Add(1) == 1 {
		return measure.Summary{}, temporal.NewApplicationErrorWithOptions("the database is down", "down",
			temporal.ApplicationErrorOptions{NextRetryDelay: 1})
	}
	return measure.Summary{Read: 3, Reason: measure.ReasonRateLimit}, nil
}
