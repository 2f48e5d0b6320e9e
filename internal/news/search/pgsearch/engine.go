// Package pgsearch finds articles with Postgres alone, without an extension.
// Words are brought into one form in Go (search.Tokens) and stored as tsvectors,
// so that every Postgres from version 14 on finds the same.
package pgsearch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/internal/news/search"
)

// Options say how to search.
type Options struct {
	Embedder         search.Embedder // nil: by words only
	Model            string          // names the embedder: other models make other vectors
	Log              *slog.Logger
	MaxConcurrent    int           // searches of this process; the others wait; 0: 8
	MaxWait          time.Duration // for a turn, before a search is refused; 0: 1 s
	StatementTimeout time.Duration // of a statement, before only the newest articles are looked at; 0: 600 ms
}

// Engine searches the tables of migrations 00018, 00025 and 00028.
type Engine struct {
	pool    *pgxpool.Pool
	opts    Options
	slots   chan struct{}
	current atomic.Bool // see everyRowIsCurrent

	mu         sync.Mutex
	knownWords map[string]struct{} // words that search_words has
}

// New uses a pool that the caller closes.
func New(pool *pgxpool.Pool, o Options) *Engine {
	if o.MaxConcurrent <= 0 {
		o.MaxConcurrent = 8
	}
	for field, fallback := range map[*time.Duration]time.Duration{&o.MaxWait: time.Second, &o.StatementTimeout: 600 * time.Millisecond} {
		if *field <= 0 {
			*field = fallback
		}
	}
	return &Engine{pool: pool, opts: o, slots: make(chan struct{}, o.MaxConcurrent), knownWords: map[string]struct{}{}}
}

// Prepare has nothing to do: migrations make the tables.
func (e *Engine) Prepare(context.Context) error { return nil }

var _ search.Engine = (*Engine)(nil)

// acquireSlot waits for a turn: searches must not take all connections from what
// publishes posts, and on few processors more at once make each of them slower.
func (e *Engine) acquireSlot(ctx context.Context) (leave func(), err error) {
	wait := time.NewTimer(e.opts.MaxWait)
	defer wait.Stop()
	select {
	case e.slots <- struct{}{}:
		return func() { <-e.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-wait.C:
		return nil, search.ErrBusy
	}
}

// inReadTx lets one search look at the database as it is at one moment. No
// statement may take longer than e.o.Limit, nor all of them twice as long.
func (e *Engine) inReadTx(ctx context.Context, f func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*e.opts.StatementTimeout)
	defer cancel()
	// Compiling a statement, or starting processes for it, takes longer than
	// running it. The index is in memory, so its pages cost little in any order.
	begin := fmt.Sprintf(`begin isolation level repeatable read read only; set local statement_timeout = %d;
		set local jit = off; set local max_parallel_workers_per_gather = 0; set local random_page_cost = 1.1`, e.opts.StatementTimeout.Milliseconds())
	return pgx.BeginTxFunc(ctx, e.pool, pgx.TxOptions{BeginQuery: begin}, func(tx pgx.Tx) error { return f(ctx, tx) })
}

// isTimeout says that a session ended because its time was over, and not
// because whoever asked went away.
func isTimeout(ctx context.Context, err error) bool {
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
