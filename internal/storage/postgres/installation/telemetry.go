package installation

import (
	"context"
	"time"

	"dateline/internal/storage/postgres/installation/db"
)

// Backlog contains the posts by state and the pending deliveries of the installation,
// each counted up to 100,000.
type Backlog struct {
	Scheduled, Due, Overdue, Publishing, Parked, Deliveries int64
}

// maxBacklogCount is the limit up to which backlogs are counted.
const maxBacklogCount = 100_000

// Backlog counts the posts by state and the pending deliveries.
func (s *StatusStore) Backlog(ctx context.Context) (Backlog, error) {
	row, err := s.q.Backlog(ctx, maxBacklogCount)
	return Backlog(row), err
}

// DeadLetterReasons counts all dead letters by reason; those with an uncertain outcome
// are counted as "uncertain".
func (s *StatusStore) DeadLetterReasons(ctx context.Context) (map[string]int64, error) {
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

// AccountCount is the number of accounts of a network with a status.
type AccountCount struct {
	Network, Status string
	Accounts        int64
	FirstExpiry     *time.Duration // until the first non-renewable access expires; nil if none does
}

// AccountStates counts accounts.
func (s *StatusStore) AccountStates(ctx context.Context) ([]AccountCount, error) {
	rows, err := s.q.AccountStates(ctx)
	states := make([]AccountCount, len(rows))
	for i, r := range rows {
		states[i] = accountCountOf(r)
	}
	return states, err
}

func accountCountOf(r db.AccountStatesRow) AccountCount {
	s := AccountCount{Network: r.Network, Status: r.Status, Accounts: r.Accounts}
	if r.Expiring > 0 {
		left := time.Duration(r.FirstExpirySeconds * float64(time.Second))
		s.FirstExpiry = &left
	}
	return s
}

// Connections returns the used and idle connections of the pool, and its size.
func (s *StatusStore) Connections() (used, idle, maximum int32) {
	stat := s.pool.Stat()
	return stat.AcquiredConns(), stat.IdleConns(), stat.MaxConns()
}

// ReaderState is the state of the view counts in the database.
type ReaderState struct {
	SinceFlush time.Duration // since the last flush, or since the installation
	Mismatches int64         // counts that differed from Redis in the last comparison
}

// ReaderState returns the state of the view counts.
func (s *StatusStore) ReaderState(ctx context.Context) (ReaderState, error) {
	row, err := s.q.ReaderState(ctx)
	return ReaderState{time.Duration(row.SinceFlush * float64(time.Second)), row.Mismatches}, err
}

// CrawlState counts seeds, domains and known URLs.
type CrawlState struct {
	Seeds   struct{ Active, Paused, Due, Overdue int64 }
	Domains struct{ Known, Paused, BackingOff, Due int64 }
	URLs    int64
}

// maxExactURLs is the limit up to which URLs are counted exactly; above it, the count is
// an estimate.
const maxExactURLs = 10_000

// CrawlState returns the state of the crawler.
func (s *StatusStore) CrawlState(ctx context.Context) (c CrawlState, err error) {
	row, err := s.q.CrawlState(ctx, maxExactURLs)
	c.Seeds.Active, c.Seeds.Paused, c.Seeds.Due, c.Seeds.Overdue = row.Active, row.Paused, row.Due, row.Overdue
	c.Domains.Known, c.Domains.Paused, c.Domains.BackingOff, c.Domains.Due = row.Known, row.DomainsPaused,
		row.BackingOff, row.DomainsDue
	c.URLs = row.Urls
	if err == nil && c.URLs == maxExactURLs {
		c.URLs, err = s.estimateURLs(ctx)
	}
	return c, err
}

// estimateURLs returns the row estimate of Postgres for the partitions of urls, as of
// their last analysis.
func (s *StatusStore) estimateURLs(ctx context.Context) (urls int64, err error) {
	err = s.pool.QueryRow(ctx, `select greatest($1, coalesce(sum(greatest(c.reltuples, 0)), 0)::bigint)
		from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'urls'::regclass`,
		maxExactURLs).Scan(&urls)
	return urls, err
}

// PagesToParse counts the pages pending extraction and returns the age of the oldest.
func (s *StatusStore) PagesToParse(ctx context.Context) (pages int64, oldest time.Duration, err error) {
	row, err := s.q.PagesToParse(ctx, maxBacklogCount)
	return row.Pages, time.Duration(row.Oldest * float64(time.Second)), err
}

// ChangesToIndex counts the article changes pending indexing and returns the age of
// the oldest.
func (s *StatusStore) ChangesToIndex(ctx context.Context) (changes int64, oldest time.Duration, err error) {
	row, err := s.q.ChangesToIndex(ctx, maxBacklogCount)
	return row.Changes, time.Duration(row.Oldest * float64(time.Second)), err
}

// ServerState is the state of the database server.
type ServerState struct {
	Connections, MaxConnections int64 // of all clients
	Bytes                       int64 // size of this database
}

// ServerState returns the state of the database server.
func (s *StatusStore) ServerState(ctx context.Context) (ServerState, error) {
	var state ServerState
	err := s.pool.QueryRow(ctx, `select (select count(*) from pg_stat_activity where backend_type = 'client backend'),
		current_setting('max_connections')::bigint, pg_database_size(current_database())`).Scan(&state.Connections,
		&state.MaxConnections, &state.Bytes)
	return state, err
}
