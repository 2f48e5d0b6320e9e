// Package postgres stores the data of Dateline in Postgres: it has the connection pool and
// the migrations. Each domain has a package below with its stores, its SQL in queries/
// and the package db that is generated from it (make generate).
package postgres

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	pgxuuid "github.com/vgarvardt/pgx-google-uuid/v5"

	"dateline/internal/storage/postgres/audience"
	"dateline/internal/storage/postgres/identity"
	"dateline/internal/storage/postgres/installation"
	"dateline/internal/storage/postgres/news"
	"dateline/internal/storage/postgres/notify"
	"dateline/internal/storage/postgres/publishing"
	"dateline/internal/storage/postgres/tx"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Store is the database with the stores of all domains. It is safe for concurrent use.
type Store struct {
	pool *pgxpool.Pool

	Publishing   *publishing.Stores
	Audience     *audience.Stores
	News         *news.Stores
	Identity     *identity.Stores
	Notify       *notify.Stores
	Installation *installation.Stores
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
	return &Store{
		pool: pool, Publishing: publishing.New(pool), Audience: audience.New(pool), News: news.New(pool),
		Identity: identity.New(pool), Notify: notify.New(pool), Installation: installation.New(pool),
	}, nil
}

// Close closes all connections.
func (s *Store) Close() {
	s.Identity.Close()
	s.pool.Close()
}

// Ping returns an error if the database does not respond.
func (s *Store) Ping(ctx context.Context) error { return s.pool.Ping(ctx) }

// Time returns the time of the database's clock, which all rows use.
func (s *Store) Time(ctx context.Context) (time.Time, error) { return tx.Time(ctx, s.pool) }

// Pool returns the connection pool for the search engine on Postgres, which builds its
// own statements (internal/news/search/pgsearch).
func (s *Store) Pool() *pgxpool.Pool { return s.pool }
