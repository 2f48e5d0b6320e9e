package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/ops/status"
	"dateline/internal/storage/postgres/db"
)

// latenessBound is how many sends the lateness of a workspace is told of.
const latenessBound = 20_000

// WorkspaceQueues counts what waits of a workspace.
func (s *Store) WorkspaceQueues(ctx context.Context, workspaceID uuid.UUID) (status.Posts, error) {
	row, err := s.q.WorkspaceQueues(ctx, db.WorkspaceQueuesParams{WorkspaceID: workspaceID, Most: queueBound})
	return status.Posts(row), err
}

// WorkspaceLateness says how late a workspace's posts were sent: those whose
// time was at most so long ago.
func (s *Store) WorkspaceLateness(ctx context.Context, workspaceID uuid.UUID, back time.Duration) ([]status.Lateness, error) {
	rows, err := s.q.WorkspaceLateness(ctx, db.WorkspaceLatenessParams{WorkspaceID: workspaceID, BackSeconds: back.Seconds(), Most: latenessBound})
	all := make([]status.Lateness, 0, len(rows))
	for _, r := range rows {
		if r.Sent > 0 {
			all = append(all, status.Lateness{Network: r.Network, Sent: r.Sent, Median: ofSeconds(r.Median), P99: ofSeconds(r.P99), Latest: ofSeconds(r.Latest)})
		}
	}
	return all, err
}

func ofSeconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// DatabaseFullness says how full the database server is.
func (s *Store) DatabaseFullness(ctx context.Context) (status.Fullness, int64, error) {
	state, err := s.ServerState(ctx)
	return status.Fullness{Used: state.Used, Most: state.Most}, state.Bytes, err
}
