// Package notify stores webhooks and notification channels with their deliveries.
// SQL is in queries/; package db is generated from it (make generate).
package notify

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/internal/storage/postgres/notify/db"
)

// Stores are the stores of the domain.
type Stores struct {
	Webhooks      *WebhookStore
	Notifications *NotificationStore
}

// New returns the stores of a database.
func New(pool *pgxpool.Pool) *Stores {
	s := &store{pool: pool, q: &queries{db.New(pool), pool}}
	return &Stores{
		Webhooks:      &WebhookStore{s},
		Notifications: &NotificationStore{s},
	}
}

// WebhookStore stores webhooks and their deliveries.
type WebhookStore struct{ *store }

// NotificationStore stores notification channels and notifications.
type NotificationStore struct{ *store }

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
