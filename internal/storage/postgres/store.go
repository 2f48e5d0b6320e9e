// Package postgres stores the data of Dateline in Postgres. SQL is in queries/ and
// migrations/; package db is generated from both (make generate).
package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	pgxuuid "github.com/vgarvardt/pgx-google-uuid/v5"

	"dateline/internal/storage/postgres/db"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is the database. It is safe for concurrent use.
type Store struct {
	pool       *pgxpool.Pool
	q          *db.Queries
	tokenUsage *tokenUsage
}

// Open connects to a Postgres of version 14 or later.
func Open(ctx context.Context, url string) (*Store, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL cannot be read: %w", err)
	}
	cfg.ConnConfig.RuntimeParams["timezone"] = "UTC"
	cfg.ConnConfig.RuntimeParams["application_name"] = "dateline"
	if cfg.MaxConns < 20 {
		cfg.MaxConns = 20
	}
	cfg.MaxConnIdleTime = 5 * time.Minute
	cfg.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		// Without it pgx converts every id to text and back.
		pgxuuid.Register(conn.TypeMap())
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("the database does not answer: %w", err)
	}
	q := db.New(pool)
	return &Store{pool: pool, q: q, tokenUsage: startTokenUsage(q)}, nil
}

// Close closes all connections.
func (s *Store) Close() {
	s.tokenUsage.close()
	s.pool.Close()
}

// Ping returns an error if the database does not respond.
func (s *Store) Ping(ctx context.Context) error { return s.pool.Ping(ctx) }

// inTx runs f in a transaction that commits when f returns nil.
func (s *Store) inTx(ctx context.Context, f func(q *db.Queries) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return f(s.q.WithTx(tx)) })
}

func noRows(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// Time returns the time of the database's clock, which all rows use.
func (s *Store) Time(ctx context.Context) (time.Time, error) { return s.q.DatabaseTime(ctx) }
