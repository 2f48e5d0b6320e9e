package story

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

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
	terms, shared := map[Term]bool{}, minShared
	var from, to time.Time
	for _, a := range b.articles {
		heavy := a.vector.Heavy()
		shared = min(shared, max(sharedTerms(heavy), 1))
		for _, t := range heavy {
			terms[t] = true
		}
		if from.IsZero() || a.DatedAt.Before(from) {
			from = a.DatedAt
		}
		if a.DatedAt.After(to) {
			to = a.DatedAt
		}
	}
	near, err := tx.ClustersWith(ctx, keys(terms), shared, from.Add(-followUpWindow), to.Add(b.settings.Window))
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
