// Package pgsearch finds articles with Postgres alone, without an extension.
// Words are brought into one form in Go (search.Tokens) and stored as tsvectors,
// so that every Postgres from version 14 on finds the same.
package pgsearch

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/internal/news/search"
)

// Options say how to search.
type Options struct {
	Embedder search.Embedder // nil: by words only
	Model    string          // names the embedder: other models make other vectors
	Log      *slog.Logger
	AtOnce   int           // searches of this process; the others wait; 0: 8
	Wait     time.Duration // for a turn, before a search is refused; 0: 1 s
	Limit    time.Duration // of a statement, before only the newest articles are looked at; 0: 600 ms
}

// Engine searches the tables of migrations 00018, 00025 and 00028.
type Engine struct {
	pool    *pgxpool.Pool
	o       Options
	turns   chan struct{}
	current atomic.Bool // see everyRowIsCurrent

	mu    sync.Mutex
	known map[string]struct{} // words that search_words has
}

// New uses a pool that the caller closes.
func New(pool *pgxpool.Pool, o Options) *Engine {
	if o.AtOnce <= 0 {
		o.AtOnce = 8
	}
	for field, fallback := range map[*time.Duration]time.Duration{&o.Wait: time.Second, &o.Limit: 600 * time.Millisecond} {
		if *field <= 0 {
			*field = fallback
		}
	}
	return &Engine{pool: pool, o: o, turns: make(chan struct{}, o.AtOnce), known: map[string]struct{}{}}
}

// Prepare has nothing to do: migrations make the tables.
func (e *Engine) Prepare(context.Context) error { return nil }

var _ search.Engine = (*Engine)(nil)
