package pgsearch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"dateline/internal/news/search"
)

// enter waits for a turn: searches must not take all connections from what
// publishes posts, and on few processors more at once make each of them slower.
func (e *Engine) enter(ctx context.Context) (leave func(), err error) {
	wait := time.NewTimer(e.o.Wait)
	defer wait.Stop()
	select {
	case e.turns <- struct{}{}:
		return func() { <-e.turns }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-wait.C:
		return nil, search.ErrBusy
	}
}

// session lets one search look at the database as it is at one moment. No
// statement may take longer than e.o.Limit, nor all of them twice as long.
func (e *Engine) session(ctx context.Context, f func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*e.o.Limit)
	defer cancel()
	// Compiling a statement, or starting processes for it, takes longer than
	// running it. The index is in memory, so its pages cost little in any order.
	begin := fmt.Sprintf(`begin isolation level repeatable read read only; set local statement_timeout = %d;
		set local jit = off; set local max_parallel_workers_per_gather = 0; set local random_page_cost = 1.1`, e.o.Limit.Milliseconds())
	return pgx.BeginTxFunc(ctx, e.pool, pgx.TxOptions{BeginQuery: begin}, func(tx pgx.Tx) error { return f(ctx, tx) })
}

// tookTooLong says that a session ended because its time was over, and not
// because whoever asked went away.
func tookTooLong(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	var e *pgconn.PgError
	const queryCanceled = "57014" // PostgreSQL's manual, appendix A
	return errors.As(err, &e) && e.Code == queryCanceled || errors.Is(err, context.DeadlineExceeded)
}

// everyRowIsCurrent says whether all rows have what this version puts into them:
// the pairs of their words, by which phrases are looked for, and the stretches of
// their time. Rows from before are replaced soon after an update.
func (e *Engine) everyRowIsCurrent(ctx context.Context, tx pgx.Tx) (bool, error) {
	if e.current.Load() {
		return true, nil
	}
	var old bool
	if err := tx.QueryRow(ctx, "select exists (select from search_documents where not (paired and dated))").Scan(&old); err != nil {
		return false, err
	}
	if !old {
		e.current.Store(true)
	}
	return !old, nil
}
