package installation

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/storage/postgres/installation/db"
	"dateline/internal/system/status"
)

// maxLatenessSamples limits the posts of the lateness statistics of a workspace.
const maxLatenessSamples = 20_000

// WorkspaceBacklog counts the posts and deliveries of a workspace by state, each up to
// a limit.
func (s *StatusStore) WorkspaceBacklog(ctx context.Context, workspaceID uuid.UUID) (status.Posts, error) {
	row, err := s.q.WorkspaceBacklog(ctx, db.WorkspaceBacklogParams{
		WorkspaceID: workspaceID, MaxCount: maxBacklogCount,
	})
	return status.Posts(row), err
}

// WorkspaceLateness returns the lateness of a workspace's posts that were scheduled
// within the last window.
func (s *StatusStore) WorkspaceLateness(
	ctx context.Context, workspaceID uuid.UUID, window time.Duration,
) ([]status.Lateness, error) {
	rows, err := s.q.WorkspaceLateness(ctx, db.WorkspaceLatenessParams{
		WorkspaceID: workspaceID, WindowSeconds: window.Seconds(), MaxCount: maxLatenessSamples,
	})
	all := make([]status.Lateness, 0, len(rows))
	for _, r := range rows {
		if r.Sent > 0 {
			all = append(all, status.Lateness{
				Network: r.Network, Sent: r.Sent, Median: fromSeconds(r.Median),
				P99: fromSeconds(r.P99), Max: fromSeconds(r.Max),
			})
		}
	}
	return all, err
}

func fromSeconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// DatabaseUsage returns the used connections of the database server and the size of
// the database.
func (s *StatusStore) DatabaseUsage(ctx context.Context) (status.Usage, int64, error) {
	state, err := s.ServerState(ctx)
	return status.Usage{Used: state.Connections, Max: state.MaxConnections}, state.Bytes, err
}
