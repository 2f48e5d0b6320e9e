package postgres

import (
	"context"
	"time"

	"dateline/internal/storage/postgres/db"
)

// Queues are the numbers of what waits, each counted up to 100,000.
type Queues struct {
	Scheduled, Due, Overdue, Publishing, Parked, Deliveries int64
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

// ReaderState is how the counts of readers are kept.
type ReaderState struct {
	SinceFlush time.Duration // since the database got counts last, or since the beginning
	Differing  int64         // counts that the last comparison with Redis found to differ
}

// ReaderState looks how the counts of readers are kept.
func (s *Store) ReaderState(ctx context.Context) (ReaderState, error) {
	row, err := s.q.ReaderState(ctx)
	return ReaderState{time.Duration(row.SinceFlush * float64(time.Second)), row.Differing}, err
}

// CrawlState counts what the crawler knows.
type CrawlState struct {
	Seeds   struct{ Active, Paused, Due, Overdue int64 }
	Domains struct{ Known, Paused, Waiting, Due int64 }
	URLs    int64
}

// frontierBound is how far the frontier is counted; beyond it is an estimate.
const frontierBound = 10_000

// CrawlState looks what the crawler knows, and what of it is due.
func (s *Store) CrawlState(ctx context.Context) (c CrawlState, err error) {
	row, err := s.q.CrawlState(ctx, frontierBound)
	c.Seeds.Active, c.Seeds.Paused, c.Seeds.Due, c.Seeds.Overdue = row.Active, row.Paused, row.Due, row.Overdue
	c.Domains.Known, c.Domains.Paused, c.Domains.Waiting, c.Domains.Due = row.Known, row.DomainsPaused, row.Waiting, row.DomainsDue
	c.URLs = row.Urls
	if err == nil && c.URLs == frontierBound {
		c.URLs, err = s.estimateFrontier(ctx)
	}
	return c, err
}

// estimateFrontier gives what Postgres believes to be in the frontier's
// partitions since it looked at them last.
func (s *Store) estimateFrontier(ctx context.Context) (urls int64, err error) {
	err = s.pool.QueryRow(ctx, `select greatest($1, coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint)
		from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'urls'::regclass`, frontierBound).Scan(&urls)
	return urls, err
}

// PagesToParse counts the pages that wait to be parsed, and says how long the
// oldest has been waiting.
func (s *Store) PagesToParse(ctx context.Context) (pages int64, oldest time.Duration, err error) {
	row, err := s.q.PagesToParse(ctx, queueBound)
	return row.Pages, time.Duration(row.Oldest * float64(time.Second)), err
}

// ChangesToIndex counts the changes of articles that the search has not taken in,
// and says how long the oldest has been waiting.
func (s *Store) ChangesToIndex(ctx context.Context) (changes int64, oldest time.Duration, err error) {
	row, err := s.q.ChangesToIndex(ctx, queueBound)
	return row.Changes, time.Duration(row.Oldest * float64(time.Second)), err
}

// ServerState is how full the database server is.
type ServerState struct {
	Used, Most int64 // connections, of everybody
	Bytes      int64 // of this database
}

// ServerState looks how full the database server is.
func (s *Store) ServerState(ctx context.Context) (ServerState, error) {
	var state ServerState
	err := s.pool.QueryRow(ctx, `select (select count(*) from pg_stat_activity where backend_type = 'client backend'),
		current_setting('max_connections')::bigint, pg_database_size(current_database())`).Scan(&state.Used, &state.Most, &state.Bytes)
	return state, err
}
