package story

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Article is a stored article as far as stories use it.
type Article struct {
	ID       uuid.UUID
	GroupID  uuid.UUID // of near-duplicates
	DomainID int
	Version  int64
	Document Document
	DatedAt  time.Time // the stated time, or when it was found; never in the future
}

// Queued is an article that waits for placement. It may have been deleted.
type Queued struct {
	ID        int64
	ArticleID uuid.UUID
	Waited    time.Duration
}

// Placement is the place of an article in a story.
type Placement struct {
	ArticleID      uuid.UUID
	StoryID        uuid.UUID
	GroupID        uuid.UUID
	DomainID       int
	ArticleVersion int64
	DatedAt        time.Time
	IsDocument     bool    // others are copies of a document of the story, with the same group
	Similarity     float64 // with the story, when it was placed or last reviewed
	IsPinned       bool    // by an editor
	Vector         Vector  // of a document
}

// Founded is a new story.
type Founded struct {
	Cluster
	FollowsID *uuid.UUID // the earlier story that it follows up
	Following float64    // similarity with it
}

// Batch is the result of placing a batch of articles.
type Batch struct {
	Queue      []int64 // completed
	Counted    []Counts
	Founded    []Founded
	Changed    []*Cluster
	Placements []Placement
	Removed    []uuid.UUID // articles
	Review     []uuid.UUID // stories to review after ReviewDelay
}

// ReviewDelay is the time between the third article of a story and its review.
const ReviewDelay = 30 * time.Minute

// reviewDocuments is the number of documents from which a story is reviewed.
const reviewDocuments = 3

// Store gives access to the stories of a language.
type Store interface {
	WaitingStoryLanguages(ctx context.Context) ([]string, error)
	// InStories runs f in a transaction that locks the stories of a language.
	InStories(ctx context.Context, language string, f func(Tx) error) error
}

// Tx reads and writes stories within a transaction.
type Tx interface {
	Queue(ctx context.Context, limit int) ([]Queued, error)
	Articles(ctx context.Context, ids []uuid.UUID) ([]Article, error)
	// Placements returns those of articles and of the members of groups.
	Placements(ctx context.Context, articles, groups []uuid.UUID) ([]Placement, error)
	Documents(ctx context.Context, story uuid.UUID) ([]Placement, error)
	Frequencies(ctx context.Context, terms []Term) (*Frequencies, error)
	Clusters(ctx context.Context, ids []uuid.UUID) ([]*Cluster, error)
	// ClustersWith returns the stories with at least shared of the terms among their
	// heaviest that overlap a time.
	ClustersWith(ctx context.Context, terms []Term, shared int, from, to time.Time) ([]*Cluster, error)
	SaveBatch(ctx context.Context, b Batch) error
	Editing
}

// Meter measures placements.
type Meter interface {
	// ArticlePlaced records a result: joined, founded, copy or updated.
	ArticlePlaced(ctx context.Context, result string, waited time.Duration)
}

// Placer places queued articles.
type Placer struct {
	Store      Store
	Thresholds Thresholds
	Meter      Meter            // optional
	NewID      func() uuid.UUID // ids grow with time; nil: version 7
}

const placeBatch = 100

// Place places queued articles of all languages until none are left, and returns their
// number. A batch is one transaction that locks the language, so a crash repeats it as a
// whole, and there is one placer for each language at a time. The result depends only on
// the order of the queue, not on how it is divided into batches. A language that fails does
// not stop the others.
func (p *Placer) Place(ctx context.Context, progress func(done int)) (done int, err error) {
	for {
		languages, err := p.Store.WaitingStoryLanguages(ctx)
		if err != nil || len(languages) == 0 {
			return done, err
		}
		var failed []error
		for _, language := range languages {
			n, err := p.placeBatch(ctx, language)
			done += n
			if err != nil {
				failed = append(failed, fmt.Errorf("placing articles in %q: %w", language, err))
			}
			progress(done)
		}
		if len(failed) > 0 {
			return done, errors.Join(failed...)
		}
	}
}

func (p *Placer) placeBatch(ctx context.Context, language string) (done int, err error) {
	var queued []Queued
	var b *batch
	err = p.Store.InStories(ctx, language, func(tx Tx) error {
		if queued, err = tx.Queue(ctx, placeBatch); err != nil || len(queued) == 0 {
			return err
		}
		if b, err = p.load(ctx, tx, language, queued); err != nil {
			return err
		}
		for _, a := range b.articles {
			b.place(a)
		}
		if err := tx.SaveBatch(ctx, b.result(queued)); err != nil {
			return err
		}
		for _, id := range b.rebuild {
			if err := rebuild(ctx, tx, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if p.Meter != nil {
		for _, q := range queued {
			if result := b.results[q.ArticleID]; result != "" {
				p.Meter.ArticlePlaced(ctx, result, q.Waited)
				delete(b.results, q.ArticleID)
			}
		}
	}
	return len(queued), nil
}

// load reads what is needed to place the queued articles.
func (p *Placer) load(ctx context.Context, tx Tx, language string, queued []Queued) (*batch, error) {
	b := &batch{
		byID: map[uuid.UUID]*Placement{}, byGroup: map[uuid.UUID]*Placement{}, follows: map[uuid.UUID]Founded{},
		results: map[uuid.UUID]string{}, settings: p.Thresholds.Settings(language), newID: p.NewID,
	}
	if b.newID == nil {
		b.newID = func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
	}
	var ids []uuid.UUID
	for _, q := range queued {
		if !slices.Contains(ids, q.ArticleID) {
			ids = append(ids, q.ArticleID)
		}
	}
	articles, err := tx.Articles(ctx, ids)
	if err != nil {
		return nil, err
	}
	// In the order of the queue.
	slices.SortFunc(articles, func(a, b Article) int {
		return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID))
	})
	groups := make([]uuid.UUID, len(articles))
	for i, a := range articles {
		groups[i] = a.GroupID
	}
	placements, err := tx.Placements(ctx, ids, groups)
	if err != nil {
		return nil, err
	}
	var stories []uuid.UUID
	for _, placed := range placements {
		b.byID[placed.ArticleID] = &placed
		if placed.IsDocument {
			b.byGroup[placed.GroupID] = &placed
		}
		stories = append(stories, placed.StoryID)
	}
	for _, id := range ids {
		if placed := b.byID[id]; placed != nil &&
			!slices.ContainsFunc(articles, func(a Article) bool { return a.ID == id }) {
			b.removed, b.rebuild = append(b.removed, id), appendNew(b.rebuild, placed.StoryID)
		}
	}
	if err := b.vectorize(ctx, tx, articles); err != nil {
		return nil, err
	}
	return b, b.loadClusters(ctx, tx, stories)
}
