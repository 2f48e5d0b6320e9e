package audience

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"dateline/internal/audience/flush"
	"dateline/internal/storage/postgres/audience/db"
	"dateline/internal/storage/postgres/column"
)

// viewTable is a table of counts partitioned by time.
type viewTable string

const (
	viewHours      viewTable = "view_hours"
	viewDays       viewTable = "view_days"
	viewMonths     viewTable = "view_months"
	viewDimensions viewTable = "view_dimensions"
	viewFiltered   viewTable = "view_filtered"
	viewUniques    viewTable = "view_uniques"
	viewEngagement viewTable = "view_engagement"
)

func viewTables() []viewTable {
	return []viewTable{viewHours, viewDays, viewMonths, viewDimensions, viewFiltered, viewUniques, viewEngagement}
}

// span returns the time range of the partition at t: a day for hours, a month
// for days, a year for months.
func (v viewTable) span(t time.Time) (from, to time.Time) {
	y, m, d := t.UTC().Date()
	switch v {
	case viewHours:
		from = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
		return from, from.AddDate(0, 0, 1)
	case viewMonths:
		from = time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)
		return from, from.AddDate(1, 0, 0)
	default:
		from = time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
		return from, from.AddDate(0, 1, 0)
	}
}

// name returns the name of the partition that starts at a time.
func (v viewTable) name(from time.Time) string { return string(v) + from.Format("_20060102") }

// partitions are the partitions needed by a write, by table and start.
type partitions map[viewTable]map[time.Time]bool

func (p partitions) add(table viewTable, t time.Time) {
	if p[table] == nil {
		p[table] = map[time.Time]bool{}
	}
	from, _ := table.span(t)
	p[table][from] = true
}

// noPartitionCode is the SQLSTATE for a row without a partition.
const noPartitionCode = "23514"

// withPartitions runs a write. If a partition is missing, it creates the needed
// ones and runs it again; usually they were created in advance.
func (s *ViewStore) withPartitions(ctx context.Context, needed partitions, write func() error) error {
	err := write()
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != noPartitionCode {
		return err
	}
	if err := s.createPartitions(ctx, needed); err != nil {
		return err
	}
	return write()
}

// viewFillFactor is the fill factor of partitions in percent. Rows are updated
// often, and free space on their page allows updates without new index entries
// ("Heap-Only Tuples" in the Postgres manual).
const viewFillFactor = 60

// partitionLock is the key of the advisory lock for creating and dropping
// partitions.
const partitionLock = 0x646c_7061_7274 // "dlpart"

// createPartitions creates each partition in a transaction of its own. Creating one locks its table against
// readers, and a transaction that holds one table and waits for the next one would deadlock with a report that
// reads both.
func (s *ViewStore) createPartitions(ctx context.Context, needed partitions) error {
	for table, starts := range needed {
		for start := range starts {
			from, to := table.span(start)
			create := fmt.Sprintf(
				"create table if not exists %s partition of %s for values from ('%s') to ('%s') with (fillfactor = %d)",
				pgx.Identifier{table.name(from)}.Sanitize(), pgx.Identifier{string(table)}.Sanitize(),
				from.Format(time.RFC3339), to.Format(time.RFC3339), viewFillFactor)
			if err := s.withPartitionLock(ctx, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, create)
				return err
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// withPartitionLock runs f exclusively. It fails after a lock timeout instead
// of blocking the writers that queue behind it.
func (s *ViewStore) withPartitionLock(ctx context.Context, f func(tx pgx.Tx) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock($1)", int64(partitionLock)); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "set local lock_timeout = '5s'"); err != nil {
			return err
		}
		return f(tx)
	})
}

// CreateViewPartitions creates the partitions of the coming days.
func (s *ViewStore) CreateViewPartitions(ctx context.Context, now time.Time) error {
	needed := partitions{}
	for days := range 4 {
		needed.add(viewHours, now.AddDate(0, 0, days))
	}
	for _, table := range []viewTable{viewDays, viewMonths, viewDimensions, viewFiltered, viewUniques, viewEngagement} {
		needed.add(table, now)
		needed.add(table, now.AddDate(0, 0, 3))
	}
	return s.createPartitions(ctx, needed)
}

// batchRetention is how long a ledger row is retained after its batch was
// dropped in Redis.
const batchRetention = 7 * 24 * time.Hour

// DropExpiredViews drops partitions that are past retention and rolled up, and
// ledger rows except those of the pending batches, which Redis still has.
func (s *ViewStore) DropExpiredViews(ctx context.Context, now time.Time, r flush.Retention, pending []uuid.UUID) error {
	if err := s.q.DeleteExpiredViewRecords(ctx); err != nil {
		return err
	}
	if _, err := s.q.DeleteExpiredViewBatches(ctx,
		db.DeleteExpiredViewBatchesParams{
			OlderThanSeconds: batchRetention.Seconds(),
			Pending:          column.List(pending),
		}); err != nil {
		return err
	}
	for _, table := range viewTables() {
		retention := r.Days
		switch table {
		case viewHours:
			retention = r.Hours
		case viewMonths:
			retention = 0
		case viewDimensions:
			retention = flush.PageDimensions
			if r.Days > 0 {
				retention = min(retention, r.Days)
			}
		}
		if retention == 0 {
			continue
		}
		if err := s.dropPartitions(ctx, table, now.Add(-retention)); err != nil {
			return err
		}
	}
	return nil
}

func (s *ViewStore) dropPartitions(ctx context.Context, table viewTable, before time.Time) error {
	return s.withPartitionLock(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "select inhrelid::regclass::text from pg_inherits where inhparent = $1::regclass",
			string(table))
		if err != nil {
			return err
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		for _, name := range names {
			start, err := time.Parse("20060102", strings.TrimPrefix(name, string(table)+"_"))
			if err != nil {
				continue // not a partition created here
			}
			from, to := table.span(start)
			if to.After(before) {
				continue
			}
			var due bool
			if err := tx.QueryRow(ctx,
				`select exists (select 1 from view_hours_due where $1 = 'view_hours' and hour >= $2 and hour < $3)
				or exists (select 1 from view_days_due where $1 = 'view_days' and day >= $2::date and day < $3::date)`,
				string(table), from, to).Scan(&due); err != nil {
				return err
			}
			if due {
				continue // not rolled up yet
			}
			if _, err := tx.Exec(ctx, "drop table "+pgx.Identifier{name}.Sanitize()); err != nil {
				return err
			}
		}
		return nil
	})
}
