package story

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Article is a stored article as far as stories use it.
type Article struct {
	ID       uuid.UUID
	GroupID  uuid.UUID // of near-duplicates
	DomainID int32
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
	DomainID       int32
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
	// ClustersWith returns the stories with one of the terms among their heaviest that
	// overlap a time.
	ClustersWith(ctx context.Context, terms []Term, from, to time.Time) ([]*Cluster, error)
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
// the order of the queue, not on how it is divided into batches.
func (p *Placer) Place(ctx context.Context, progress func(done int)) (done int, err error) {
	for {
		languages, err := p.Store.WaitingStoryLanguages(ctx)
		if err != nil || len(languages) == 0 {
			return done, err
		}
		for _, language := range languages {
			n, err := p.placeBatch(ctx, language)
			done += n
			if err != nil {
				return done, err
			}
			progress(done)
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

// batch is the state of placing a batch.
type batch struct {
	articles []vectored
	byID     map[uuid.UUID]*Placement
	byGroup  map[uuid.UUID]*Placement // the document of a group
	index    *Index
	newID    func() uuid.UUID

	counted  []Counts
	founded  []uuid.UUID
	follows  map[uuid.UUID]Founded
	changed  []uuid.UUID
	saved    []uuid.UUID // articles
	removed  []uuid.UUID
	review   []uuid.UUID
	rebuild  []uuid.UUID
	results  map[uuid.UUID]string // for the meter
	settings Settings
}

type vectored struct {
	Article
	vector Vector
}

// load reads what is needed to place the queued articles.
func (p *Placer) load(ctx context.Context, tx Tx, language string, queued []Queued) (*batch, error) {
	b := &batch{byID: map[uuid.UUID]*Placement{}, byGroup: map[uuid.UUID]*Placement{}, follows: map[uuid.UUID]Founded{}, results: map[uuid.UUID]string{}, settings: p.Thresholds.Settings(language), newID: p.NewID}
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
	slices.SortFunc(articles, func(a, b Article) int { return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID)) })
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
		if placed := b.byID[id]; placed != nil && !slices.ContainsFunc(articles, func(a Article) bool { return a.ID == id }) {
			b.removed, b.rebuild = append(b.removed, id), appendNew(b.rebuild, placed.StoryID)
		}
	}
	if err := b.vectorize(ctx, tx, articles); err != nil {
		return nil, err
	}
	return b, b.loadClusters(ctx, tx, stories)
}

// vectorize counts the articles and weights their terms. Only one article of a group of
// near-duplicates counts towards the frequencies.
func (b *batch) vectorize(ctx context.Context, tx Tx, articles []Article) error {
	counts, terms := make([]Counts, len(articles)), map[Term]bool{}
	for i, a := range articles {
		counts[i] = Count(a.Document)
		for t := range counts[i] {
			terms[t] = true
		}
	}
	f, err := tx.Frequencies(ctx, keys(terms))
	if err != nil {
		return err
	}
	counted := map[uuid.UUID]bool{}
	for i, a := range articles {
		if b.byID[a.ID] == nil && b.byGroup[a.GroupID] == nil && !counted[a.GroupID] {
			counted[a.GroupID] = true
			f.Add(counts[i])
			b.counted = append(b.counted, counts[i])
		}
		b.articles = append(b.articles, vectored{a, Vectorize(counts[i], f)})
	}
	return nil
}

func (b *batch) loadClusters(ctx context.Context, tx Tx, stories []uuid.UUID) error {
	terms := map[Term]bool{}
	var from, to time.Time
	for _, a := range b.articles {
		for _, t := range a.vector.Heavy() {
			terms[t] = true
		}
		if from.IsZero() || a.DatedAt.Before(from) {
			from = a.DatedAt
		}
		if a.DatedAt.After(to) {
			to = a.DatedAt
		}
	}
	near, err := tx.ClustersWith(ctx, keys(terms), from.Add(-followUpWindow), to.Add(b.settings.Window))
	if err != nil {
		return err
	}
	own, err := tx.Clusters(ctx, stories)
	if err != nil {
		return err
	}
	b.index = NewIndex(b.settings, near)
	for _, c := range own {
		if b.index.Get(c.ID) == nil {
			b.index.Put(c)
		}
	}
	return nil
}

func (b *batch) place(a vectored) {
	if old := b.byID[a.ID]; old != nil {
		if !b.placeAgain(a, old) {
			return
		}
	} else if document := b.byGroup[a.GroupID]; document != nil {
		b.results[a.ID] = "copy"
		b.save(a, Placement{StoryID: document.StoryID, Similarity: document.Similarity})
		if c := b.index.Get(document.StoryID); c != nil {
			c.extend(a.DatedAt)
			b.changed = appendNew(b.changed, c.ID)
		}
		return
	}
	c, similarity := b.index.Nearest(a.vector, a.DatedAt)
	b.results[a.ID] = "joined"
	if c == nil {
		b.results[a.ID] = "founded"
		similarity = 1
		c = &Cluster{ID: b.newID()}
		b.founded = append(b.founded, c.ID)
		if earlier, following := b.index.Followed(a.vector, a.DatedAt); earlier != nil {
			b.follows[c.ID] = Founded{FollowsID: &earlier.ID, Following: following}
		}
	} else {
		b.changed = appendNew(b.changed, c.ID)
	}
	c.Add(a.vector, a.DatedAt)
	b.index.Put(c)
	if c.Documents == reviewDocuments {
		b.review = appendNew(b.review, c.ID)
	}
	b.save(a, Placement{StoryID: c.ID, Similarity: similarity, IsDocument: true, Vector: a.vector})
}

// placeAgain updates the placement of a changed article, and reports whether it must be
// placed again, because it is no longer similar to its story.
func (b *batch) placeAgain(a vectored, old *Placement) (again bool) {
	c := b.index.Get(old.StoryID)
	if old.ArticleVersion == a.Version && old.GroupID == a.GroupID || c == nil {
		return false
	}
	updated := *old
	if old.IsDocument {
		without := *c
		without.Centroid = c.Centroid.plus(old.Vector, -1)
		similarity := 1.
		if c.Documents > 1 {
			similarity = Similarity(a.vector, without.Centroid)
			if !old.IsPinned && similarity < old.Similarity*fallenFactor {
				without.Documents--
				*c = without
				b.index.Put(c)
				b.rebuild, b.changed = appendNew(b.rebuild, c.ID), appendNew(b.changed, c.ID)
				return true
			}
		}
		without.Centroid = without.Centroid.plus(a.vector, 1)
		*c = without
		b.index.Put(c)
		updated.Vector, updated.Similarity = a.vector, similarity
	}
	c.extend(a.DatedAt)
	b.changed, b.results[a.ID] = appendNew(b.changed, c.ID), "updated"
	b.save(a, updated)
	return false
}

func (b *batch) save(a vectored, p Placement) {
	p.ArticleID, p.GroupID, p.DomainID, p.ArticleVersion, p.DatedAt = a.ID, a.GroupID, a.DomainID, a.Version, a.DatedAt
	b.byID[a.ID] = &p
	if p.IsDocument {
		b.byGroup[a.GroupID] = &p
	}
	b.saved = appendNew(b.saved, a.ID)
}

// result returns what is stored.
func (b *batch) result(queued []Queued) Batch {
	out := Batch{Counted: b.counted, Removed: b.removed, Review: b.review}
	for _, q := range queued {
		out.Queue = append(out.Queue, q.ID)
	}
	for _, id := range b.founded {
		f := b.follows[id]
		f.Cluster = *b.index.Get(id)
		out.Founded = append(out.Founded, f)
	}
	for _, id := range b.changed {
		if !slices.Contains(b.founded, id) {
			out.Changed = append(out.Changed, b.index.Get(id))
		}
	}
	for _, id := range b.saved {
		out.Placements = append(out.Placements, *b.byID[id])
	}
	return out
}

func appendNew(ids []uuid.UUID, id uuid.UUID) []uuid.UUID {
	if slices.Contains(ids, id) {
		return ids
	}
	return append(ids, id)
}

func keys(terms map[Term]bool) []Term {
	out := make([]Term, 0, len(terms))
	for t := range terms {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}
