package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/condition"
	"dateline/internal/store/db"
)

// latenessBound is how many sends the lateness of a workspace is told of.
const latenessBound = 20_000

// WorkspaceQueues counts what waits of a workspace.
func (s *Store) WorkspaceQueues(ctx context.Context, workspaceID uuid.UUID) (condition.Posts, error) {
	row, err := s.q.WorkspaceQueues(ctx, db.WorkspaceQueuesParams{WorkspaceID: workspaceID, Most: queueBound})
	return condition.Posts(row), err
}

// WorkspaceLateness says how late a workspace's posts were sent: those whose
// time was at most so long ago.
func (s *Store) WorkspaceLateness(ctx context.Context, workspaceID uuid.UUID, back time.Duration) ([]condition.Lateness, error) {
	rows, err := s.q.WorkspaceLateness(ctx, db.WorkspaceLatenessParams{WorkspaceID: workspaceID, BackSeconds: back.Seconds(), Most: latenessBound})
	all := make([]condition.Lateness, 0, len(rows))
	for _, r := range rows {
		if r.Sent > 0 {
			all = append(all, condition.Lateness{Network: r.Network, Sent: r.Sent, Median: ofSeconds(r.Median), P99: ofSeconds(r.P99), Latest: ofSeconds(r.Latest)})
		}
	}
	return all, err
}

func ofSeconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// DatabaseFullness says how full the database server is.
func (s *Store) DatabaseFullness(ctx context.Context) (condition.Fullness, int64, error) {
	state, err := s.ServerState(ctx)
	return condition.Fullness{Used: state.Used, Most: state.Most}, state.Bytes, err
}
