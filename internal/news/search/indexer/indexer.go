// Package indexer keeps the index of the search in step with the articles: what
// changed stands in an outbox, and leaves it when the index has it. A change may
// be taken in more than once, and by two workers at a time.
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

// Store is the database as the index follows it.
type Store interface {
	LeaseArticleChanges(ctx context.Context, most int, lease time.Duration) ([]search.Change, error)
	CompleteArticleChanges(ctx context.Context, ids []int64) (ages []time.Duration, err error)
	SearchDocuments(ctx context.Context, ids []uuid.UUID) ([]search.Document, error)
	SearchDocumentsAfter(ctx context.Context, after uuid.UUID, most int) ([]search.Document, error)
	CurrentRebuild(ctx context.Context) (name string, err error)
	SetRebuild(ctx context.Context, name string) error
	ClearRebuild(ctx context.Context, name string) error
	AlertingSearches(ctx context.Context) ([]savedsearch.Search, error)
	RecordMatches(ctx context.Context, searches, articles []uuid.UUID) (told int64, err error)
}

// Announcer tells streams and webhooks that there are new events.
type Announcer interface {
	Announce()
}

// Meter is told how fresh the search is.
type Meter interface {
	// Fresh notes how long after its publication an article came to a stage.
	Freshness(ctx context.Context, stage string, after time.Duration)
}

// Indexer brings changes into the index.
type Indexer struct {
	Store  Store
	Engine search.Engine
	Events Announcer
	Meter  Meter // nil: nobody is told
	Log    *slog.Logger
}

const (
	batchSize = 100
	// leaseDuration is how long a batch may take. What takes longer is given out again.
	leaseDuration = 2 * time.Minute
)

// Sync takes in what has changed, until there is nothing more. It gives how
// many changes the index has now.
func (x *Indexer) Sync(ctx context.Context, beat func(done int)) (done int, err error) {
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
		beat(done)
	}
}

// indexBatch takes in a batch; when the engine refuses it, one by one, so that an
// article which it cannot take holds up no other. That one is tried again later.
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
			x.Log.Warn("an article is not in the index yet; it is tried again", "article_id", c.ArticleID, "error", err)
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
	// Read after the changes were taken: what a change is of, stands in the row or
	// has been overtaken by something newer.
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
	// An article that was deleted meanwhile may have been taken out by somebody
	// else before it was put in here.
	still, err := x.Store.SearchDocuments(ctx, ids)
	if err != nil {
		return err
	}
	if gone := missingIDs(idsOf(docs), still); len(gone) > 0 {
		if err := x.write(ctx, rebuild, nil, gone); err != nil {
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

// write writes to the index that is being built, and then to the one that answers.
// Not the other way: when the two change places in between, the old one, which
// nobody needs any more, would have the change twice, and the new one not at all.
func (x *Indexer) write(ctx context.Context, rebuild string, docs []search.Document, gone []uuid.UUID) error {
	if rebuild != "" {
		if len(docs) > 0 {
			if err := x.Engine.AddToRebuild(ctx, rebuild, docs); err != nil {
				return err
			}
		}
		if len(gone) > 0 {
			if err := x.Engine.DeleteFromRebuild(ctx, rebuild, gone); err != nil {
				return err
			}
		}
	}
	if len(docs) > 0 {
		if err := x.Engine.Index(ctx, docs); err != nil {
			return err
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return x.Engine.Delete(ctx, gone)
}

// raiseAlerts holds new articles against the searches that alert. Which were told
// already, the database knows.
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
	told, err := x.Store.RecordMatches(ctx, searches, articles)
	if err == nil && told > 0 {
		x.Events.Announce()
	}
	return err
}

// Progress is how far a rebuild has come.
type Progress struct {
	Name     string
	After    uuid.UUID
	Articles int
}

// Reindex builds the index anew while the old one answers, and puts it in its
// place. at is where an earlier try has come to; it is empty at first.
func (x *Indexer) Reindex(ctx context.Context, at Progress, beat func(Progress)) (articles int, err error) {
	if at.Name == "" {
		if err := x.Engine.Prepare(ctx); err != nil {
			return 0, err
		}
		if at.Name, err = x.Engine.StartRebuild(ctx); err != nil {
			return 0, err
		}
		if err := x.Store.SetRebuild(ctx, at.Name); err != nil {
			return 0, err
		}
		beat(at)
	}
	for {
		docs, err := x.Store.SearchDocumentsAfter(ctx, at.After, batchSize)
		if err != nil {
			return at.Articles, err
		}
		if len(docs) == 0 {
			break
		}
		if err := x.Engine.AddToRebuild(ctx, at.Name, docs); err != nil {
			return at.Articles, err
		}
		ids := idsOf(docs)
		still, err := x.Store.SearchDocuments(ctx, ids)
		if err != nil {
			return at.Articles, err
		}
		if gone := missingIDs(ids, still); len(gone) > 0 {
			if err := x.Engine.DeleteFromRebuild(ctx, at.Name, gone); err != nil {
				return at.Articles, err
			}
		}
		at.After, at.Articles = ids[len(ids)-1], at.Articles+len(docs)
		beat(at)
	}
	if err := x.Engine.FinishRebuild(ctx, at.Name); err != nil {
		return at.Articles, err
	}
	return at.Articles, x.Store.ClearRebuild(ctx, at.Name)
}

func idsOf(docs []search.Document) []uuid.UUID {
	out := make([]uuid.UUID, len(docs))
	for i, d := range docs {
		out[i] = d.ID
	}
	return out
}

// missingIDs gives the ids of which there is no document.
func missingIDs(ids []uuid.UUID, docs []search.Document) []uuid.UUID {
	return slices.DeleteFunc(slices.Clone(ids), func(id uuid.UUID) bool {
		return slices.ContainsFunc(docs, func(d search.Document) bool { return d.ID == id })
	})
}
