package news

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/identity/audit"
	"dateline/internal/news/story"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// WaitingStoryLanguages returns the languages of articles that wait for placement.
func (s *StoryStore) WaitingStoryLanguages(ctx context.Context) ([]string, error) {
	return s.q.WaitingStoryLanguages(ctx)
}

// maxStoryBacklog is the limit up to which waiting articles are counted.
const maxStoryBacklog = 100_000

// StoryBacklog returns the number of articles that wait for placement, up to 100,000, and
// the age of the oldest.
func (s *StoryStore) StoryBacklog(ctx context.Context) (articles int64, oldest time.Duration, err error) {
	row, err := s.q.StoryBacklog(ctx, maxStoryBacklog)
	return row.Articles, time.Duration(row.Oldest * float64(time.Second)), err
}

// InStories runs f in a transaction that locks the stories of a language.
func (s *StoryStore) InStories(ctx context.Context, language string, f func(story.Tx) error) error {
	return s.EditStories(ctx, language, func(tx story.EditorTx) error { return f(tx) })
}

// EditStories is InStories for changes by members.
func (s *StoryStore) EditStories(ctx context.Context, language string, f func(story.EditorTx) error) error {
	return s.inTx(ctx, func(q *queries) error {
		if err := q.LockStories(ctx, language); err != nil {
			return err
		}
		return f(&storyTx{q, language})
	})
}

// storyTx implements story.EditorTx.
type storyTx struct {
	q        *queries
	language string
}

// Queue returns the first articles of the queue.
func (t *storyTx) Queue(ctx context.Context, limit int) ([]story.Queued, error) {
	rows, err := t.q.StoryQueue(ctx, db.StoryQueueParams{Language: t.language, Batch: limit})
	out := make([]story.Queued, len(rows))
	for i, r := range rows {
		out[i] = story.Queued{
			ID: r.ID, ArticleID: r.ArticleID, Waited: time.Duration(r.WaitedSeconds * float64(time.Second)),
		}
	}
	return out, err
}

// Articles returns existing articles of the language.
func (t *storyTx) Articles(ctx context.Context, ids []uuid.UUID) ([]story.Article, error) {
	rows, err := t.q.StoryDocuments(ctx, db.StoryDocumentsParams{Ids: ids, Language: t.language})
	out := make([]story.Article, len(rows))
	for i, r := range rows {
		out[i] = story.Article{
			ID: r.ID, GroupID: r.GroupID, DomainID: r.DomainID, Version: r.Version,
			DatedAt:  r.DatedAt.UTC(),
			Document: story.Document{Title: r.Title, Lead: r.Lead, Body: r.Body},
		}
	}
	return out, err
}

// Placements returns those of articles, and of the documents of groups.
func (t *storyTx) Placements(ctx context.Context, articles, groups []uuid.UUID) ([]story.Placement, error) {
	rows, err := t.q.StoryPlacements(ctx, db.StoryPlacementsParams{
		Language: t.language, ArticleIds: articles, GroupIds: groups,
	})
	out := make([]story.Placement, len(rows))
	for i, r := range rows {
		out[i] = placementFromRow(r)
	}
	return out, err
}

func placementFromRow(r db.StoryPlacementsRow) story.Placement {
	return story.Placement{
		ArticleID: r.ArticleID, StoryID: r.StoryID, GroupID: r.GroupID, DomainID: r.DomainID,
		ArticleVersion: r.ArticleVersion, DatedAt: r.DatedAt.UTC(),
		IsDocument: r.IsDocument, Similarity: float64(r.Similarity), IsPinned: r.PinnedBy != "",
		Vector: vectorFrom(r.Terms, r.Weights),
	}
}

// Members returns the placements of a story, the earliest first.
func (t *storyTx) Members(ctx context.Context, id uuid.UUID) ([]story.Placement, error) {
	rows, err := t.q.StoryMembers(ctx, id)
	out := make([]story.Placement, len(rows))
	for i, r := range rows {
		out[i] = placementFromRow(db.StoryPlacementsRow(r))
	}
	return out, err
}

// Documents returns the documents of a story, of which each group has one.
func (t *storyTx) Documents(ctx context.Context, id uuid.UUID) ([]story.Placement, error) {
	if err := t.q.DemoteStoryCopies(ctx, id); err != nil {
		return nil, err
	}
	all, err := t.Members(ctx, id)
	return slices.DeleteFunc(all, func(p story.Placement) bool { return !p.IsDocument }), err
}

// Frequencies returns the frequencies of terms in the last months.
func (t *storyTx) Frequencies(ctx context.Context, terms []story.Term) (*story.Frequencies, error) {
	rows, err := t.q.TermCounts(ctx, db.TermCountsParams{Language: t.language, Terms: append(integers(terms), 0)})
	f := story.NewFrequencies(t.language)
	for _, r := range rows {
		if r.Term == 0 {
			f.Documents = float64(r.Documents)
			continue
		}
		f.Terms[story.Term(r.Term)] = float64(r.Documents)
	}
	return f, err
}

// Clusters returns stories that are not merged.
func (t *storyTx) Clusters(ctx context.Context, ids []uuid.UUID) ([]*story.Cluster, error) {
	rows, err := t.q.StoryClusters(ctx, ids)
	out := make([]*story.Cluster, len(rows))
	for i, r := range rows {
		out[i] = clusterFromRow(r)
	}
	return out, err
}

// ClustersWith returns the stories that overlap a time and have at least shared of the terms.
func (t *storyTx) ClustersWith(
	ctx context.Context, terms []story.Term, shared int, from, to time.Time,
) ([]*story.Cluster, error) {
	rows, err := t.q.StoryClustersWith(ctx, db.StoryClustersWithParams{
		Language: t.language, Terms: integers(terms), Shared: int64(shared), FromTime: from, ToTime: to,
	})
	out := make([]*story.Cluster, len(rows))
	for i, r := range rows {
		out[i] = clusterFromRow(db.StoryClustersRow(r))
	}
	return out, err
}

func clusterFromRow(r db.StoryClustersRow) *story.Cluster {
	return &story.Cluster{
		ID: r.ID, Centroid: vectorFrom(r.CentroidTerms, r.CentroidWeights),
		Documents: r.Documents, FirstAt: r.FirstAt.UTC(), LastAt: r.LastAt.UTC(),
	}
}

func vectorFrom(terms []int64, weights []float32) story.Vector {
	v := story.Vector{Terms: make([]story.Term, len(terms)), Weights: weights}
	for i, t := range terms {
		v.Terms[i] = story.Term(t)
	}
	return v
}

func integers(terms []story.Term) []int64 {
	out := make([]int64, len(terms), len(terms)+1)
	for i, t := range terms {
		out[i] = int64(t)
	}
	return out
}

// SaveBatch stores placed articles and their stories.
func (t *storyTx) SaveBatch(ctx context.Context, b story.Batch) error {
	if err := t.addCounts(ctx, b.Counted); err != nil {
		return err
	}
	if len(b.Removed) > 0 {
		if err := t.q.DeleteStoryArticles(ctx, b.Removed); err != nil {
			return err
		}
	}
	clusters := b.Changed
	for i := range b.Founded {
		f := &b.Founded[i]
		if err := t.q.InsertStory(ctx, db.InsertStoryParams{
			ID: f.ID, Language: t.language, FollowsID: f.FollowsID,
			FollowsSimilarity: float32(f.Following),
		}); err != nil {
			return err
		}
		clusters = append(clusters, &f.Cluster)
	}
	if err := t.savePlacements(ctx, b.Placements); err != nil {
		return err
	}
	ids := make([]uuid.UUID, len(clusters))
	for i, c := range clusters {
		ids[i] = c.ID
		if err := t.saveCentroid(ctx, *c); err != nil {
			return err
		}
	}
	if err := t.setTerms(ctx, clusters); err != nil {
		return err
	}
	if err := t.q.RefreshStories(ctx, db.RefreshStoriesParams{
		Ids: ids, ReviewIds: column.List(b.Review),
		ReviewSeconds: story.ReviewDelay.Seconds(),
	}); err != nil {
		return err
	}
	return t.q.CompleteStoryQueue(ctx, b.Queue)
}

// addCounts adds the terms of documents to the frequencies.
func (t *storyTx) addCounts(ctx context.Context, all []story.Counts) error {
	if len(all) == 0 {
		return nil
	}
	sums := map[int64]int{0: len(all)}
	for _, c := range all {
		for term := range c {
			sums[int64(term)]++
		}
	}
	p := db.AddTermCountsParams{Language: t.language}
	for term, n := range sums {
		p.Terms, p.Counts = append(p.Terms, term), append(p.Counts, n)
	}
	return t.q.AddTermCounts(ctx, p)
}

func (t *storyTx) savePlacements(ctx context.Context, all []story.Placement) error {
	var p db.SaveStoryArticlesParams
	for _, one := range all {
		p.ArticleIds, p.StoryIds, p.GroupIds, p.DomainIds = append(p.ArticleIds, one.ArticleID), append(p.StoryIds,
			one.StoryID), append(p.GroupIds, one.GroupID), append(p.DomainIds, one.DomainID)
		p.Documents, p.Similarities = append(p.Documents, one.IsDocument), append(p.Similarities,
			float32(one.Similarity))
		p.Times, p.Versions = append(p.Times, one.DatedAt), append(p.Versions, one.ArticleVersion)
	}
	if len(all) == 0 {
		return nil
	}
	if err := t.q.SaveStoryArticles(ctx, p); err != nil {
		return err
	}
	for _, one := range all {
		if !one.IsDocument {
			continue
		}
		if err := t.q.SaveStoryVector(ctx,
			db.SaveStoryVectorParams{
				ArticleID: one.ArticleID, Terms: integers(one.Vector.Terms),
				Weights: column.List(one.Vector.Weights),
			}); err != nil {
			return err
		}
	}
	return nil
}

func (t *storyTx) saveCentroid(ctx context.Context, c story.Cluster) error {
	return t.q.SaveStoryCluster(ctx, db.SaveStoryClusterParams{
		ID: c.ID, Terms: integers(c.Centroid.Terms), Weights: column.List(c.Centroid.Weights),
		Documents: c.Documents,
	})
}

func (t *storyTx) setTerms(ctx context.Context, clusters []*story.Cluster) error {
	p := db.SetStoryTermsParams{Language: t.language, StoryIds: []uuid.UUID{}, Owners: []uuid.UUID{}, Terms: []int64{}}
	for _, c := range clusters {
		p.StoryIds = append(p.StoryIds, c.ID)
		for _, term := range c.Centroid.Heavy() {
			p.Owners, p.Terms = append(p.Owners, c.ID), append(p.Terms, int64(term))
		}
	}
	return t.q.SetStoryTerms(ctx, p)
}

// MoveArticles moves articles to a story, and pins them if a name is given.
func (t *storyTx) MoveArticles(ctx context.Context, articles []uuid.UUID, to uuid.UUID, pinnedBy string) error {
	return t.q.MoveStoryArticles(ctx, db.MoveStoryArticlesParams{Ids: articles, StoryID: to, PinnedBy: pinnedBy})
}

// SaveCluster stores the centroid of a story and the similarities of its documents.
func (t *storyTx) SaveCluster(ctx context.Context, c story.Cluster, similarities map[uuid.UUID]float64) error {
	if err := t.saveCentroid(ctx, c); err != nil {
		return err
	}
	p := db.SetStorySimilaritiesParams{StoryID: c.ID, ArticleIds: []uuid.UUID{}, Similarities: []float32{}}
	for id, value := range similarities {
		p.ArticleIds, p.Similarities = append(p.ArticleIds, id), append(p.Similarities, float32(value))
	}
	if err := t.q.SetStorySimilarities(ctx, p); err != nil {
		return err
	}
	if err := t.setTerms(ctx, []*story.Cluster{&c}); err != nil {
		return err
	}
	return t.q.RefreshStories(ctx, db.RefreshStoriesParams{Ids: []uuid.UUID{c.ID}, ReviewIds: []uuid.UUID{}})
}

// FoundStory creates a story without articles.
func (t *storyTx) FoundStory(ctx context.Context, id uuid.UUID) error {
	return t.q.InsertStory(ctx, db.InsertStoryParams{ID: id, Language: t.language})
}

// SetMerged redirects a story to another one; nil: it no longer is.
func (t *storyTx) SetMerged(ctx context.Context, from uuid.UUID, into *uuid.UUID) error {
	// This waits for alerts that are being sent, see SendStoryAlert.
	if err := t.q.SetStoryMerged(ctx, db.SetStoryMergedParams{ID: from, Into: into}); err != nil || into == nil {
		return err
	}
	return t.q.MoveStoryAlerts(ctx, db.MoveStoryAlertsParams{FromID: from, IntoID: *into})
}

// WasUndone reports whether an editor undid such a change; uuid.Nil: of any other story.
func (t *storyTx) WasUndone(ctx context.Context, kind story.EventKind, a, b uuid.UUID) (bool, error) {
	return t.q.WasStoryEventUndone(ctx, db.WasStoryEventUndoneParams{
		Kind: db.StoryEventKind(kind), StoryID: a, OtherID: b,
	})
}

// SaveEvent records a change.
func (t *storyTx) SaveEvent(ctx context.Context, e story.Event) error {
	return t.q.InsertStoryEvent(ctx, db.InsertStoryEventParams{
		ID: column.NewID(), Language: e.Language,
		Kind: db.StoryEventKind(e.Kind), StoryID: e.StoryID, OtherID: e.OtherID,
		ArticleIds: column.List(e.ArticleIDs), Similarity: float32(e.Similarity), Actor: e.Actor,
	})
}

// ReviewDone records that a story was reviewed.
func (t *storyTx) ReviewDone(ctx context.Context, id uuid.UUID) error {
	return t.q.StoryReviewDone(ctx, id)
}

// Current returns a story, or the one into which it was merged.
func (t *storyTx) Current(ctx context.Context, id uuid.UUID) (uuid.UUID, error) {
	current, err := t.q.CurrentStory(ctx, id)
	return current, tx.OrNotFound(err, "story")
}

// InvisibleArticles counts articles of sources that a workspace does not crawl.
func (t *storyTx) InvisibleArticles(ctx context.Context, workspaceID uuid.UUID, articles []uuid.UUID) (int, error) {
	n, err := t.q.CountInvisibleArticles(ctx, db.CountInvisibleArticlesParams{WorkspaceID: workspaceID, Ids: articles})
	return int(n), err
}

// SetHeadline sets the article whose title is the headline; nil: automatic.
func (t *storyTx) SetHeadline(ctx context.Context, id uuid.UUID, article *uuid.UUID) error {
	return t.q.SetStoryHeadline(ctx, db.SetStoryHeadlineParams{ID: id, ArticleID: article})
}

// SetUndone records that an event was undone, and reports whether it was not yet.
func (t *storyTx) SetUndone(ctx context.Context, event uuid.UUID, by string) (bool, error) {
	n, err := t.q.UndoStoryEvent(ctx, db.UndoStoryEventParams{ID: event, UndoneBy: by})
	return n > 0, err
}

// RecordStoryChange writes an entry of the audit log.
func (t *storyTx) RecordStoryChange(ctx context.Context, workspaceID, id uuid.UUID, kind story.EventKind) error {
	return tx.Record(ctx, t.q.tx, workspaceID, audit.StoryChanged, "story", id, map[string]any{"change": kind})
}

// ReviewableStories returns stories whose review is due.
func (s *StoryStore) ReviewableStories(
	ctx context.Context, limit int,
) (ids []uuid.UUID, languages []string, err error) {
	rows, err := s.q.ReviewableStories(ctx, limit)
	for _, r := range rows {
		ids, languages = append(ids, r.ID), append(languages, r.Language)
	}
	return ids, languages, err
}

// RequestStoryReviews makes the review of recent stories due.
func (s *StoryStore) RequestStoryReviews(ctx context.Context) (int64, error) {
	return s.q.RequestStoryReviews(ctx)
}

// CleanStories deletes stories without articles, and terms and vectors that are only needed
// for recent stories.
func (s *StoryStore) CleanStories(ctx context.Context) error {
	if err := s.q.DeleteOldTermCounts(ctx); err != nil {
		return err
	}
	if err := s.q.DeleteOldStoryTerms(ctx); err != nil {
		return err
	}
	if err := s.q.DeleteOldStoryVectors(ctx); err != nil {
		return err
	}
	return s.q.DeleteEmptyStories(ctx)
}
