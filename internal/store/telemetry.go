package store

import (
	"context"
	"time"

	"dateline/internal/store/db"
)

// Queues are the numbers of what waits, each counted up to 100,000.
type Queues struct {
	Scheduled, Due, Overdue, Publishing, Deliveries int64
}

// queueBound is how far queues are counted.
const queueBound = 100_000

// QueueSizes counts what waits.
func (s *Store) QueueSizes(ctx context.Context) (Queues, error) {
	row, err := s.q.QueueSizes(ctx, queueBound)
	return Queues(row), err
}

// DeadLetterReasons counts all dead letters by reason; those in doubt are
// "uncertain".
func (s *Store) DeadLetterReasons(ctx context.Context) (map[string]int64, error) {
	rows, err := s.q.DeadLetterReasons(ctx)
	counts := map[string]int64{}
	for _, r := range rows {
		reason := r.Reason
		if r.Status == "uncertain" {
			reason = r.Status
		}
		counts[reason] += r.Letters
	}
	return counts, err
}

// AccountState is how many accounts of a network have a status.
type AccountState struct {
	Network, Status string
	Accounts        int64
	FirstEnd        *time.Duration // until access ends that cannot be renewed; nil: never, as far as is known
}

// AccountStates counts accounts.
func (s *Store) AccountStates(ctx context.Context) ([]AccountState, error) {
	rows, err := s.q.AccountStates(ctx)
	states := make([]AccountState, len(rows))
	for i, r := range rows {
		states[i] = stateOf(r)
	}
	return states, err
}

func stateOf(r db.AccountStatesRow) AccountState {
	s := AccountState{Network: r.Network, Status: r.Status, Accounts: r.Accounts}
	if r.Ending > 0 {
		left := time.Duration(r.FirstEndSeconds * float64(time.Second))
		s.FirstEnd = &left
	}
	return s
}

// Connections says how many connections to the database are in use, idle, and
// possible at most.
func (s *Store) Connections() (used, idle, most int32) {
	stat := s.pool.Stat()
	return stat.AcquiredConns(), stat.IdleConns(), stat.MaxConns()
}
