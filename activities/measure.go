package activities

import (
	"context"

	"github.com/google/uuid"
	"go.temporal.io/sdk/activity"

	"dateline/internal/publishing/measure"
)

// PostMeasurer reads the metrics of posts: measure.Service.
type PostMeasurer interface {
	Due(ctx context.Context) ([]uuid.UUID, error)
	MeasureAccount(ctx context.Context, account uuid.UUID, heartbeat func()) (measure.Summary, error)
}

// MeasureClient starts the workflow that reads the metrics of an account, unless it
// runs.
type MeasureClient interface {
	StartMeasuring(ctx context.Context, account uuid.UUID) error
}

// Measure has the activities that read the metrics of posts.
type Measure struct {
	Measurer PostMeasurer
	Starter  MeasureClient
}

// StartMeasuring starts a workflow for every account with due readings, and returns
// their number.
func (m *Measure) StartMeasuring(ctx context.Context) (int, error) {
	due, err := m.Measurer.Due(ctx)
	if err != nil {
		return 0, err
	}
	for n, id := range due {
		if err := m.Starter.StartMeasuring(ctx, id); err != nil {
			return n, err
		}
		activity.RecordHeartbeat(ctx, n)
	}
	return len(due), nil
}

// MeasureAccount reads the due posts of an account. Refusals of the network are in the
// account's row.
func (m *Measure) MeasureAccount(ctx context.Context, account uuid.UUID) (measure.Summary, error) {
	summary, err := m.Measurer.MeasureAccount(ctx, account, heartbeatFunc(ctx))
	return summary, lasting(err)
}
