// Package pgsearch finds articles with Postgres alone, without an extension.
// Words are brought into one form in Go (search.Tokens) and stored as tsvectors,
// so that every Postgres from version 14 on finds the same.
package pgsearch

import (
	"context"
	"log/slog"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/internal/search"
)

// Options say how to search.
type Options struct {
	Embedder search.Embedder // nil: by words only
	Model    string          // names the embedder: other models make other vectors
	Log      *slog.Logger
}

// Engine searches the tables of migration 00018.
type Engine struct {
	pool *pgxpool.Pool
	o    Options

	mu    sync.Mutex
	known map[string]struct{} // words that search_words has
}

// New uses a pool that the caller closes.
func New(pool *pgxpool.Pool, o Options) *Engine {
	return &Engine{pool: pool, o: o, known: map[string]struct{}{}}
}

// Prepare has nothing to do: migrations make the tables.
func (e *Engine) Prepare(context.Context) error { return nil }

var _ search.Engine = (*Engine)(nil)
