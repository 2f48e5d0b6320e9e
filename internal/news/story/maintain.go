package story

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Editing changes existing stories within a transaction.
type Editing interface {
	// MoveArticles moves articles, and pins them if a name is given.
	MoveArticles(ctx context.Context, articles []uuid.UUID, to uuid.UUID, pinnedBy string) error
	// SaveCluster stores the centroid of a story, and the similarities of its documents
	// by article.
	SaveCluster(ctx context.Context, c Cluster, similarities map[uuid.UUID]float64) error
	FoundStory(ctx context.Context, id uuid.UUID) error
	SetMerged(ctx context.Context, from uuid.UUID, into *uuid.UUID) error
	// Members returns the placements of all articles of a story, the earliest first.
	Members(ctx context.Context, story uuid.UUID) ([]Placement, error)
	// WasUndone reports whether an editor undid a merge of two stories, or a split.
	WasUndone(ctx context.Context, kind EventKind, a, b uuid.UUID) (bool, error)
	SaveEvent(ctx context.Context, e Event) error
	ReviewDone(ctx context.Context, story uuid.UUID) error
}

// EventKind is what happened to a story.
type EventKind string

// The kinds.
const (
	Merged         EventKind = "merged"          // the other story was merged into this one
	Split          EventKind = "split"           // articles moved from this story to a new one
	Moved          EventKind = "moved"           // an editor moved articles from this story to another one
	HeadlinePinned EventKind = "headline_pinned" // an editor chose the headline
)

// undone is recorded in the audit log when a change is undone; the event says of which kind
// it was.
const undone EventKind = "undone"

// Dateline is the actor of automatic events; others are user:<id>.
const Dateline = "dateline"

// Event is a change of a story that can be undone.
type Event struct {
	ID         uuid.UUID
	Language   string
	Kind       EventKind
	StoryID    uuid.UUID
	OtherID    *uuid.UUID // the merged story, or where the articles moved
	ArticleIDs []uuid.UUID
	Similarity float64
	Actor      string
	At         time.Time
	UndoneAt   *time.Time
	UndoneBy   string
}

// ReviewStore finds the stories to review.
type ReviewStore interface {
	Store
	// ReviewableStories returns stories whose review is due, with their languages.
	ReviewableStories(ctx context.Context, limit int) (ids []uuid.UUID, languages []string, err error)
	// RequestStoryReviews makes the review of all stories due that changed lately.
	RequestStoryReviews(ctx context.Context) (int64, error)
	// CleanStories deletes what is only needed for recent stories.
	CleanStories(ctx context.Context) error
}

// Maintainer merges and splits stories: some time after their third article, and every
// night.
type Maintainer struct {
	Store      ReviewStore
	Thresholds Thresholds
}

// maxMerges is the number of merges of one review. The next review continues.
const maxMerges = 20

// Nightly makes all recent stories due for review, and deletes what is no longer needed.
func (m *Maintainer) Nightly(ctx context.Context) (stories int64, err error) {
	if err := m.Store.CleanStories(ctx); err != nil {
		return 0, err
	}
	return m.Store.RequestStoryReviews(ctx)
}

// Review reviews some of the stories that are due and returns their number. Each review is
// one transaction. A story whose review fails does not stop the others.
func (m *Maintainer) Review(ctx context.Context, limit int) (done int, err error) {
	ids, languages, err := m.Store.ReviewableStories(ctx, limit)
	if err != nil {
		return 0, err
	}
	var failed []error
	for i, id := range ids {
		if err := m.Store.InStories(ctx, languages[i],
			func(tx Tx) error { return m.review(ctx, tx, languages[i], id) }); err != nil {
			failed = append(failed, fmt.Errorf("reviewing story %s: %w", id, err))
			continue
		}
		done++
	}
	return done, errors.Join(failed...)
}

// review merges a story with similar ones, or splits it.
func (m *Maintainer) review(ctx context.Context, tx Tx, language string, id uuid.UUID) error {
	if err := tx.ReviewDone(ctx, id); err != nil {
		return err
	}
	if err := rebuild(ctx, tx, id); err != nil {
		return err
	}
	for range maxMerges {
		into, err := m.merge(ctx, tx, language, id)
		if err != nil {
			return err
		}
		if into == uuid.Nil {
			break
		}
		id = into
	}
	return m.split(ctx, tx, language, id)
}

// merge merges a story with the most similar one and returns the surviving one, if any.
func (m *Maintainer) merge(ctx context.Context, tx Tx, language string, id uuid.UUID) (into uuid.UUID, err error) {
	own, err := tx.Clusters(ctx, []uuid.UUID{id})
	if err != nil || len(own) == 0 {
		return into, err
	}
	c, settings := own[0], m.Thresholds.Settings(language)
	heavy := c.Centroid.Heavy()
	near, err := tx.ClustersWith(ctx, heavy, sharedTerms(heavy), c.FirstAt.Add(-settings.Window),
		c.LastAt.Add(settings.Window))
	if err != nil {
		return into, err
	}
	index := NewIndex(settings, near)
	for {
		p, ok := index.Merge(c)
		if !ok {
			return uuid.Nil, nil
		}
		other := p.From
		if other == id {
			other = p.Into
		}
		undone, err := tx.WasUndone(ctx, Merged, p.Into, p.From)
		if err != nil {
			return into, err
		}
		members, err := tx.Members(ctx, p.From)
		if err != nil {
			return into, err
		}
		if undone || len(members) == 0 || slices.ContainsFunc(members, func(p Placement) bool { return p.IsPinned }) {
			index.Delete(other)
			continue
		}
		e := Event{Language: language, Similarity: p.Similarity, Actor: Dateline}
		return p.Into, merge(ctx, tx, e, p.Into, p.From, members, "")
	}
}

// merge moves all articles of a story into another one.
func merge(ctx context.Context, tx Tx, e Event, into, from uuid.UUID, members []Placement, pinnedBy string) error {
	e.Kind, e.StoryID, e.OtherID, e.ArticleIDs = Merged, into, &from, idsOf(members)
	if err := move(ctx, tx, e.ArticleIDs, from, into, pinnedBy); err != nil {
		return err
	}
	if err := tx.SetMerged(ctx, from, &into); err != nil {
		return err
	}
	return tx.SaveEvent(ctx, e)
}

// move moves articles between stories.
func move(ctx context.Context, tx Tx, articles []uuid.UUID, from, to uuid.UUID, pinnedBy string) error {
	if err := tx.MoveArticles(ctx, articles, to, pinnedBy); err != nil {
		return err
	}
	if err := rebuild(ctx, tx, from); err != nil {
		return err
	}
	return rebuild(ctx, tx, to)
}

// split moves the documents that do not belong to a story to a new one.
func (m *Maintainer) split(ctx context.Context, tx Tx, language string, id uuid.UUID) error {
	own, err := tx.Clusters(ctx, []uuid.UUID{id})
	if err != nil || len(own) == 0 || own[0].Documents < minSplitDocuments {
		return err
	}
	placements, err := tx.Members(ctx, id)
	if err != nil {
		return err
	}
	var members []Member
	for _, p := range placements {
		if p.IsDocument {
			members = append(members, Member{ID: p.ArticleID, Vector: p.Vector, IsPinned: p.IsPinned})
		}
	}
	apart := SplitOff(own[0].Centroid, members)
	undone, err := tx.WasUndone(ctx, Split, id, uuid.Nil)
	if err != nil || undone || len(apart) == 0 {
		return err
	}
	_, err = split(ctx, tx, Event{Language: language, Actor: Dateline}, id, withCopies(placements, apart), "")
	return err
}

// split moves articles to a new story and returns its id.
func split(
	ctx context.Context, tx Tx, e Event, from uuid.UUID, articles []uuid.UUID, pinnedBy string,
) (to uuid.UUID, err error) {
	to = uuid.Must(uuid.NewV7())
	if err := tx.FoundStory(ctx, to); err != nil {
		return to, err
	}
	if err := move(ctx, tx, articles, from, to, pinnedBy); err != nil {
		return to, err
	}
	e.Kind, e.StoryID, e.OtherID, e.ArticleIDs = Split, from, &to, articles
	return to, tx.SaveEvent(ctx, e)
}

// withCopies adds the other articles of the groups of articles.
func withCopies(all []Placement, articles []uuid.UUID) (out []uuid.UUID) {
	groups := map[uuid.UUID]bool{}
	for _, p := range all {
		if slices.Contains(articles, p.ArticleID) {
			groups[p.GroupID] = true
		}
	}
	for _, p := range all {
		if groups[p.GroupID] {
			out = append(out, p.ArticleID)
		}
	}
	return out
}

// rebuild computes a story from its documents.
func rebuild(ctx context.Context, tx Tx, id uuid.UUID) error {
	documents, err := tx.Documents(ctx, id)
	if err != nil {
		return err
	}
	c := Cluster{ID: id}
	for _, d := range documents {
		c.Add(d.Vector, d.DatedAt)
	}
	similarities := map[uuid.UUID]float64{}
	for _, d := range documents {
		similarities[d.ArticleID] = Similarity(d.Vector, c.Centroid)
	}
	return tx.SaveCluster(ctx, c, similarities)
}

func idsOf(placements []Placement) []uuid.UUID {
	out := make([]uuid.UUID, len(placements))
	for i, p := range placements {
		out[i] = p.ArticleID
	}
	return out
}
