// Package identity stores workspaces, members, API tokens, logins and the audit log.
// SQL is in queries/; package db is generated from it (make generate).
package identity

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/internal/storage/postgres/identity/db"
)

// Stores are the stores of the domain.
type Stores struct {
	Workspaces *WorkspaceStore
	Logins     *LoginStore
}

// New returns the stores of a database. The caller must close them.
func New(pool *pgxpool.Pool) *Stores {
	q := &queries{db.New(pool), pool}
	s := &store{pool: pool, q: q, tokenUsage: startTokenUsage(q)}
	return &Stores{
		Workspaces: &WorkspaceStore{s},
		Logins:     &LoginStore{s},
	}
}

// Close records the last use of tokens. The database must still be open.
func (s *Stores) Close() { s.Workspaces.tokenUsage.close() }

// WorkspaceStore stores workspaces, members, API tokens and the audit log.
type WorkspaceStore struct{ *store }

// LoginStore stores users, sessions and login links.
type LoginStore struct{ *store }

// store is what the stores share.
type store struct {
	pool *pgxpool.Pool
	q    *queries
	// tokenUsage records in the background; Close ends it.
	tokenUsage *tokenUsage
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
