// Package audience stores counted views, sites, short links and reports.
// SQL is in queries/; package db is generated from it (make generate).
package audience

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/internal/storage/postgres/audience/db"
)

// Stores are the stores of the domain.
type Stores struct {
	Views         *ViewStore
	Reports       *ReportStore
	Sites         *SiteStore
	Links         *LinkStore
	Subscriptions *SubscriptionStore
}

// New returns the stores of a database.
func New(pool *pgxpool.Pool) *Stores {
	s := &store{pool: pool, q: &queries{db.New(pool), pool}}
	return &Stores{
		Views:         &ViewStore{s},
		Reports:       &ReportStore{s},
		Sites:         &SiteStore{s},
		Links:         &LinkStore{s},
		Subscriptions: &SubscriptionStore{s},
	}
}

// ViewStore stores counted views, rolls them up and deletes them.
type ViewStore struct{ *store }

// ReportStore reads the reports of sites and articles.
type ReportStore struct{ *store }

// SiteStore stores sites, shared reports and imported statistics.
type SiteStore struct{ *store }

// LinkStore stores short links.
type LinkStore struct{ *store }

// SubscriptionStore stores who gets reports and alerts by email, and the outbox.
type SubscriptionStore struct{ *store }

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

func (s *store) sites() *SiteStore { return &SiteStore{s} }

// inTx runs f in a transaction that commits when f returns nil.
func (s *store) inTx(ctx context.Context, f func(q *queries) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(t pgx.Tx) error { return f(&queries{s.q.WithTx(t), t}) })
}
