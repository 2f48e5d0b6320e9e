// Package indexer keeps the search index in sync with the articles. Changes are read
// from an outbox and deleted when the index has them. A change may be processed more
// than once, and by two workers concurrently.
package indexer

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/search"
	"dateline/internal/news/search/savedsearch"
)

// Store is the database of the indexer.
type Store interface {
	ChangeStore
	RebuildStore
	AlertStore
}

// ChangeStore is the outbox of changes and the articles to index.
type ChangeStore interface {
	LeaseArticleChanges(ctx context.Context, limit int, lease time.Duration) ([]search.Change, error)
	CompleteArticleChanges(ctx context.Context, ids []int64) (ages []time.Duration, err error)
	SearchDocuments(ctx context.Context, ids []uuid.UUID) ([]search.Document, error)
	SearchDocumentsAfter(ctx context.Context, after uuid.UUID, limit int) ([]search.Document, error)
}

// RebuildStore records the index rebuild in progress.
type RebuildStore interface {
	CurrentRebuild(ctx context.Context) (name string, err error)
	SetRebuild(ctx context.Context, name string) error
	ClearRebuild(ctx context.Context, name string) error
	// StartRebuild, UpdateRebuild and FinishRebuild record the progress. If the rebuild was
	// canceled, active is false.
	StartRebuild(ctx context.Context) (active bool, err error)
	UpdateRebuild(ctx context.Context, name string, done int64) (active bool, err error)
	FinishRebuild(ctx context.Context, name string, done int64) error
}

// AlertStore finds saved searches with alerts and records their matches.
type AlertStore interface {
	AlertingSearches(ctx context.Context) ([]savedsearch.Search, error)
	RecordMatches(ctx context.Context, searches, articles []uuid.UUID) (alerts int64, err error)
}

// Announcer notifies streams and webhooks of new events.
type Announcer interface {
	Announce()
}

// Meter measures the freshness of search.
type Meter interface {
	// Freshness records the time from publication to a stage.
	Freshness(ctx context.Context, stage string, after time.Duration)
}

// Indexer indexes changed articles.
type Indexer struct {
	Store  Store
	Engine search.Engine
	Events Announcer
	Meter  Meter // optional
	Log    *slog.Logger
}

const (
	batchSize = 100
	// leaseDuration is how long a batch may take before it is leased again.
	leaseDuration = 2 * time.Minute
)

// Sync indexes changes until none are left, and returns their number.
func (x *Indexer) Sync(ctx context.Context, heartbeat func(done int)) (done int, err error) {
	for {
		changes, err := x.Store.LeaseArticleChanges(ctx, batchSize, leaseDuration)
		if err != nil || len(changes) == 0 {
			return done, err
		}
		n, err := x.indexBatch(ctx, changes)
		done += n
		if err != nil {
			return done, err
		}
		heartbeat(done)
	}
}

// indexBatch indexes a batch. If the engine rejects it, changes are indexed one by one,
// so that an invalid article does not block others. It is retried later.
func (x *Indexer) indexBatch(ctx context.Context, changes []search.Change) (done int, err error) {
	err = x.index(ctx, changes)
	if err == nil {
		return len(changes), nil
	}
	if len(changes) == 1 || errors.Is(err, search.ErrUnavailable) || ctx.Err() != nil {
		return 0, err
	}
	for _, c := range changes {
		if err := x.index(ctx, []search.Change{c}); err == nil {
			done++
		} else {
			x.Log.Warn("could not index an article; it is retried", "article_id", c.ArticleID, "error", err)
		}
	}
	if done == 0 {
		return 0, err
	}
	return done, nil
}

func (x *Indexer) index(ctx context.Context, changes []search.Change) error {
	rows, ids := make([]int64, len(changes)), make([]uuid.UUID, 0, len(changes))
	for i, c := range changes {
		rows[i] = c.ID
		if !slices.Contains(ids, c.ArticleID) {
			ids = append(ids, c.ArticleID)
		}
	}
	// Read after leasing, so that the rows are at least as new as the changes.
	docs, err := x.Store.SearchDocuments(ctx, ids)
	if err != nil {
		return err
	}
	rebuild, err := x.Store.CurrentRebuild(ctx)
	if err != nil {
		return err
	}
	if err := x.write(ctx, rebuild, docs, missingIDs(ids, docs)); err != nil {
		return err
	}
	// An article may have been deleted, and removed from the index by another worker,
	// before it was indexed here.
	current, err := x.Store.SearchDocuments(ctx, ids)
	if err != nil {
		return err
	}
	if deleted := missingIDs(idsOf(docs), current); len(deleted) > 0 {
		if err := x.write(ctx, rebuild, nil, deleted); err != nil {
			return err
		}
	}
	if err := x.raiseAlerts(ctx, docs); err != nil {
		return err
	}
	ages, err := x.Store.CompleteArticleChanges(ctx, rows)
	if x.Meter != nil {
		for _, age := range ages {
			x.Meter.Freshness(ctx, "searchable", age)
		}
	}
	return err
}

// write writes to the index being rebuilt first, and then to the live one. In the other
// order, a swap in between would apply the change twice to the old index and never to
// the new one.
func (x *Indexer) write(ctx context.Context, rebuild string, docs []search.Document, deleted []uuid.UUID) error {
	if rebuild != "" {
		if len(docs) > 0 {
			if err := x.Engine.AddToRebuild(ctx, rebuild, docs); err != nil {
				return err
			}
		}
		if len(deleted) > 0 {
			if err := x.Engine.DeleteFromRebuild(ctx, rebuild, deleted); err != nil {
				return err
			}
		}
	}
	if len(docs) > 0 {
		if err := x.Engine.Index(ctx, docs); err != nil {
			return err
		}
	}
	if len(deleted) == 0 {
		return nil
	}
	return x.Engine.Delete(ctx, deleted)
}

// raiseAlerts matches new articles against the searches with alerts. The database
// ensures that each match alerts once.
func (x *Indexer) raiseAlerts(ctx context.Context, docs []search.Document) error {
	if len(docs) == 0 {
		return nil
	}
	all, err := x.Store.AlertingSearches(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	texts := make([]*search.Text, len(docs))
	for i, d := range docs {
		texts[i] = search.NewText(d)
	}
	var searches, articles []uuid.UUID
	for _, s := range all {
		q := search.Parse(s.Query)
		for i, d := range docs {
			if s.Matches(q, texts[i], d) {
				searches, articles = append(searches, s.ID), append(articles, d.ID)
			}
		}
	}
	if len(searches) == 0 {
		return nil
	}
	alerts, err := x.Store.RecordMatches(ctx, searches, articles)
	if err == nil && alerts > 0 {
		x.Events.Announce()
	}
	return err
}

func idsOf(docs []search.Document) []uuid.UUID {
	out := make([]uuid.UUID, len(docs))
	for i, d := range docs {
		out[i] = d.ID
	}
	return out
}

// missingIDs returns the ids without a document.
func missingIDs(ids []uuid.UUID, docs []search.Document) []uuid.UUID {
	return slices.DeleteFunc(slices.Clone(ids), func(id uuid.UUID) bool {
		return slices.ContainsFunc(docs, func(d search.Document) bool { return d.ID == id })
	})
}
