// Package news stores crawled domains and pages, articles, stories and searches.
// SQL is in queries/; package db is generated from it (make generate).
package news

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"dateline/internal/storage/postgres/news/db"
)

// Stores are the stores of the domain.
type Stores struct {
	Frontier *FrontierStore
	Domains  *DomainStore
	Articles *ArticleStore
	Stories  *StoryStore
	Searches *SearchStore
	Watches  *WatchStore
}

// New returns the stores of a database.
func New(pool *pgxpool.Pool) *Stores {
	s := &store{pool: pool, q: &queries{db.New(pool), pool}}
	return &Stores{
		Frontier: &FrontierStore{s},
		Domains:  &DomainStore{s},
		Articles: &ArticleStore{s},
		Stories:  &StoryStore{s},
		Searches: &SearchStore{s},
		Watches:  &WatchStore{s},
	}
}

// FrontierStore stores the URLs to fetch and what was fetched.
type FrontierStore struct{ *store }

// DomainStore stores domains, seeds, versions of pages and WebSub subscriptions.
type DomainStore struct{ *store }

// ArticleStore stores articles and the selectors that extract them.
type ArticleStore struct{ *store }

// StoryStore stores stories: clusters of articles, and their alerts.
type StoryStore struct{ *store }

// SearchStore stores saved searches and the queue of the search index.
type SearchStore struct{ *store }

// WatchStore stores watched pages.
type WatchStore struct{ *store }

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
