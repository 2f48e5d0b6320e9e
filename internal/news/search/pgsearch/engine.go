// Package pgsearch is the search engine on Postgres, without extensions. Text is
// tokenized and folded in Go (search.Tokens) and stored as tsvectors, so that results
// don't depend on the configuration of Postgres. It needs Postgres 14 or newer.
package pgsearch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/internal/news/search"
)

// Options configure the engine.
type Options struct {
	Embedder search.Embedder // nil: keyword search only
	Model    string          // name of the embedding model; vectors of other models are replaced
	Log      *slog.Logger
	// Concurrent searches of this process, the others wait; 0: one more than there are processors, up to 8
	MaxConcurrent    int
	MaxWait          time.Duration // for a slot before a search fails with ErrBusy; 0: 1 s
	StatementTimeout time.Duration // before the search is limited to the newest articles; 0: 600 ms
}

// Engine implements search.Engine on the tables search_documents, search_texts,
// search_words and search_embeddings.
type Engine struct {
	pool  *pgxpool.Pool
	opts  Options
	slots chan struct{}

	mu         sync.Mutex
	knownWords map[string]struct{} // words that are in search_words
	times      timeStatistics

	signs signCache
}

// New returns an engine that uses pool, which the caller closes.
func New(pool *pgxpool.Pool, o Options) *Engine {
	if o.MaxConcurrent <= 0 {
		// More would only slow each other down: with one after the other, half of them
		// end early.
		o.MaxConcurrent = min(runtime.NumCPU()+1, 8)
	}
	for field, fallback := range map[*time.Duration]time.Duration{
		&o.MaxWait:          time.Second,
		&o.StatementTimeout: 600 * time.Millisecond,
	} {
		if *field <= 0 {
			*field = fallback
		}
	}
	return &Engine{pool: pool, opts: o, slots: make(chan struct{}, o.MaxConcurrent), knownWords: map[string]struct{}{}}
}

// Prepare does nothing: migrations create the tables.
func (e *Engine) Prepare(context.Context) error { return nil }

var _ search.Engine = (*Engine)(nil)

// acquireSlot limits concurrent searches, so that they leave database connections for
// publishing. It returns ErrBusy if there is no free slot within MaxWait.
func (e *Engine) acquireSlot(ctx context.Context) (release func(), err error) {
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

// inReadTx runs f in a read-only snapshot. Each statement may take up to
// StatementTimeout, and all of them together twice as long.
func (e *Engine) inReadTx(ctx context.Context, f func(ctx context.Context, tx pgx.Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*e.opts.StatementTimeout)
	defer cancel()
	// JIT compilation and parallel workers take longer to start than these statements
	// run. The index is in memory, so random access is cheap.
	begin := fmt.Sprintf(`begin isolation level repeatable read read only; set local statement_timeout = %d;
		set local jit = off; set local max_parallel_workers_per_gather = 0; set local random_page_cost = 1.1`,
		e.opts.StatementTimeout.Milliseconds())
	return pgx.BeginTxFunc(ctx, e.pool, pgx.TxOptions{BeginQuery: begin}, func(tx pgx.Tx) error { return f(ctx, tx) })
}

// isTimeout reports whether a search exceeded its time limit, and not because the
// caller canceled it.
func isTimeout(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	var e *pgconn.PgError
	const queryCanceled = "57014" // PostgreSQL's manual, appendix A
	return errors.As(err, &e) && e.Code == queryCanceled || errors.Is(err, context.DeadlineExceeded)
}
