// Package publishing stores posts, their delivery to networks, accounts, media and rules.
// SQL is in queries/; package db is generated from it (make generate).
package publishing

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/internal/storage/postgres/publishing/db"
)

// Stores are the stores of the domain.
type Stores struct {
	Posts    *PostStore
	Ledger   *LedgerStore
	Accounts *AccountStore
	Series   *SeriesStore
	Media    *MediaStore
	Labels   *LabelStore
	Snippets *SnippetStore
	Reviews  *ReviewStore
	Metrics  *MetricsStore
	Rules    *RuleStore
}

// New returns the stores of a database.
func New(pool *pgxpool.Pool) *Stores {
	s := &store{pool: pool, q: &queries{db.New(pool), pool}}
	return &Stores{
		Posts:    &PostStore{s},
		Ledger:   &LedgerStore{s},
		Accounts: &AccountStore{s},
		Series:   &SeriesStore{s},
		Media:    &MediaStore{s},
		Labels:   &LabelStore{s},
		Snippets: &SnippetStore{s},
		Reviews:  &ReviewStore{s},
		Metrics:  &MetricsStore{s},
		Rules:    &RuleStore{s},
	}
}

// PostStore stores posts, their schedule, approval and timeline.
type PostStore struct{ *store }

// LedgerStore stores the claims, calls and outcomes of targets, and what failed.
type LedgerStore struct{ *store }

// AccountStore stores accounts on networks, their tokens, and groups of accounts.
type AccountStore struct{ *store }

// SeriesStore stores recurring posts.
type SeriesStore struct{ *store }

// MediaStore stores files, uploads and renditions.
type MediaStore struct{ *store }

// LabelStore stores labels and campaigns.
type LabelStore struct{ *store }

// SnippetStore stores snippets and templates of texts.
type SnippetStore struct{ *store }

// ReviewStore stores review links and comments.
type ReviewStore struct{ *store }

// MetricsStore stores the metrics of published posts.
type MetricsStore struct{ *store }

// RuleStore stores rules that turn articles into posts, and their decisions.
type RuleStore struct{ *store }

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

func (s *store) labels() *LabelStore { return &LabelStore{s} }

func (s *store) posts() *PostStore { return &PostStore{s} }

// inTx runs f in a transaction that commits when f returns nil.
func (s *store) inTx(ctx context.Context, f func(q *queries) error) error {
	return pgx.BeginFunc(ctx, s.pool, func(t pgx.Tx) error { return f(&queries{s.q.WithTx(t), t}) })
}
