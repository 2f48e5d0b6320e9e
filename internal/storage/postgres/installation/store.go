// Package installation stores what belongs to no domain: workers, exports, and the status and keys of an installation.
// SQL is in queries/; package db is generated from it (make generate).
package installation

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/internal/storage/postgres/installation/db"
)

// Stores are the stores of the domain.
type Stores struct {
	Status  *StatusStore
	Workers *WorkerStore
	Archive *ArchiveStore
	Secrets *SecretStore
}

// New returns the stores of a database.
func New(pool *pgxpool.Pool) *Stores {
	s := &store{pool: pool, q: &queries{db.New(pool), pool}}
	return &Stores{
		Status:  &StatusStore{s},
		Workers: &WorkerStore{s},
		Archive: &ArchiveStore{s},
		Secrets: &SecretStore{s},
	}
}

// StatusStore reads the backlog and the state of an installation.
type StatusStore struct{ *store }

// WorkerStore stores the heartbeats of workers and finds posts to release.
type WorkerStore struct{ *store }

// ArchiveStore reads and writes all rows of a workspace, and stores exports.
type ArchiveStore struct{ *store }

// SecretStore reads and replaces sealed values of all domains.
type SecretStore struct{ *store }

// store is what the stores share.
type store struct {
	pool *pgxpool.Pool
	q    *queries
}

// queries are the statements of the domain. tx runs those of all domains, see package tx.
type queries struct {
	*db.Queries
	tx db.DBTX
}

// inTx runs f in a transaction that commits when f returns nil.
func (s *store) inTx(ctx context.Context, f func(q *queries) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(t pgx.Tx) error { return f(&queries{s.q.WithTx(t), t}) })
}
