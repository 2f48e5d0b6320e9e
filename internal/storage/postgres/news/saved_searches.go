package news

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/internal/infra/idempotency"
	"dateline/internal/infra/optional"
	"dateline/internal/news/article"
	"dateline/internal/news/search"
	"dateline/internal/news/search/indexer"
	"dateline/internal/news/search/savedsearch"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// LeaseArticleChanges leases changes for indexing.
func (s *SearchStore) LeaseArticleChanges(
	ctx context.Context, limit int, lease time.Duration,
) ([]search.Change, error) {
	rows, err := s.q.LeaseArticleChanges(ctx, db.LeaseArticleChangesParams{
		Seconds: lease.Seconds(), Batch: limit,
	})
	out := make([]search.Change, len(rows))
	for i, r := range rows {
		out[i] = search.Change{ID: r.ID, ArticleID: r.ArticleID}
	}
	return out, err
}

// CompleteArticleChanges deletes indexed changes. It returns the ages of new articles
// that were published while their site was crawled.
func (s *SearchStore) CompleteArticleChanges(ctx context.Context, ids []int64) (ages []time.Duration, err error) {
	seconds, err := s.q.CompleteArticleChanges(ctx, ids)
	for _, n := range seconds {
		ages = append(ages, time.Duration(n*float64(time.Second)))
	}
	return ages, err
}

// SearchDocuments returns the existing articles among ids, for indexing.
func (s *SearchStore) SearchDocuments(ctx context.Context, ids []uuid.UUID) ([]search.Document, error) {
	rows, err := s.q.ArticlesByIDs(ctx, ids)
	out := make([]search.Document, len(rows))
	for i, r := range rows {
		out[i] = documentFromRow(db.ArticlesAfterRow(r))
	}
	return out, err
}

// SearchDocumentsAfter pages through all articles by id, for indexing.
func (s *SearchStore) SearchDocumentsAfter(ctx context.Context, after uuid.UUID, limit int) ([]search.Document, error) {
	rows, err := s.q.ArticlesAfter(ctx, db.ArticlesAfterParams{AfterID: after, Batch: limit})
	out := make([]search.Document, len(rows))
	for i, r := range rows {
		out[i] = documentFromRow(r)
	}
	return out, err
}

// documentFromRow returns the document of an article. Of a reserved one, only its title is
// searched and shown.
func documentFromRow(r db.ArticlesAfterRow) search.Document {
	d := search.Document{
		ID: r.ID, Version: r.Version, URL: r.CanonicalUrl, Domain: r.Domain, Title: r.Title,
		Lead: r.Lead, Body: r.BodyText, Authors: r.Authors, Tags: r.Tags,
		Section: r.Section, Language: r.Language, Image: r.ImageUrl, Published: r.FirstSeenAt.UTC(), Group: r.GroupID,
	}
	if r.PublishedAt != nil {
		d.Published = r.PublishedAt.UTC()
	}
	if live, err := liveEntriesFromRow(r.LiveEntries); err == nil { // both are found
		d.Body = article.FullText(d.Body, live)
	}
	if r.TdmReserved || r.Nosnippet {
		d.Lead, d.Body = "", ""
	}
	d.NoEmbedding = r.TdmReserved || r.Noai
	return d
}

// CurrentRebuild returns the name of the index rebuild in progress, or an empty string.
func (s *SearchStore) CurrentRebuild(ctx context.Context) (string, error) {
	return s.q.CurrentRebuild(ctx)
}

// SetRebuild starts writing changes to a new index too.
func (s *SearchStore) SetRebuild(ctx context.Context, name string) error {
	return s.q.SetRebuild(ctx, name)
}

// ClearRebuild stops writing changes to a new index.
func (s *SearchStore) ClearRebuild(ctx context.Context, name string) error {
	return s.q.ClearRebuild(ctx, name)
}

// Rebuild returns the last rebuild.
func (s *SearchStore) Rebuild(ctx context.Context) (indexer.Rebuild, error) {
	r, err := s.q.GetRebuild(ctx)
	if tx.NoRows(err) {
		return indexer.Rebuild{Status: indexer.NotRebuilt}, nil
	}
	return indexer.Rebuild{
		Status: indexer.RebuildStatus(r.Status), Done: r.Done, Total: r.Total, StartedAt: r.StartedAt,
		FinishedAt: r.FinishedAt,
	}, err
}

// RequestRebuild marks a rebuild as pending, unless one is active.
func (s *SearchStore) RequestRebuild(ctx context.Context) error { return s.q.RequestRebuild(ctx) }

// StartRebuild marks a rebuild as running and reports whether it was not canceled.
func (s *SearchStore) StartRebuild(ctx context.Context) (bool, error) {
	n, err := s.q.StartRebuild(ctx)
	return n == 1, err
}

// UpdateRebuild stores the progress of a rebuild and reports whether it was not canceled.
func (s *SearchStore) UpdateRebuild(ctx context.Context, name string, done int64) (bool, error) {
	n, err := s.q.UpdateRebuild(ctx, db.UpdateRebuildParams{Name: name, Done: done})
	return n == 1, err
}

// FinishRebuild marks a rebuild as done, and stops writing changes to the new index.
func (s *SearchStore) FinishRebuild(ctx context.Context, name string, done int64) error {
	return s.q.FinishRebuild(ctx, db.FinishRebuildParams{Name: name, Done: done})
}

// CancelRebuild marks the active rebuild as canceled, and stops writing changes to the new
// index.
func (s *SearchStore) CancelRebuild(ctx context.Context) error { return s.q.CancelRebuild(ctx) }

// DomainNames lists the domains on which a workspace has seeds.
func (s *SearchStore) DomainNames(ctx context.Context, workspaceID uuid.UUID) ([]string, error) {
	return s.q.ListDomainNames(ctx, workspaceID)
}

// CreateSavedSearch stores a saved search, unless the workspace has reached the limit.
func (s *SearchStore) CreateSavedSearch(
	ctx context.Context, n savedsearch.Search, limit int, key idempotency.Key,
) (created savedsearch.Search, replayed bool, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		earlier, err := tx.ClaimKey(ctx, q.tx, n.WorkspaceID, key, n.ID)
		if err != nil {
			return err
		}
		if replayed = earlier != uuid.Nil; replayed {
			row, err := q.GetSavedSearch(ctx, db.GetSavedSearchParams{ID: earlier, WorkspaceID: n.WorkspaceID})
			created = savedFromRow(row)
			return orSavedSearchNotFound(err)
		}
		f := n.Filters
		row, err := q.InsertSavedSearch(ctx, db.InsertSavedSearchParams{
			ID: n.ID, WorkspaceID: n.WorkspaceID,
			UserID: optional.Of(n.UserID), Name: n.Name, Query: n.Query, Mode: string(n.Mode),
			Domains: column.List(f.Domains), Languages: column.List(f.Languages), Sections: column.List(f.Sections),
			Tags: column.List(f.Tags), Authors: column.List(f.Authors), Alert: n.Alert, MaxSearches: limit,
		})
		if tx.NoRows(err) {
			return &apperr.Error{
				Kind: apperr.KindConflict, Code: "too_many_saved_searches",
				Message: fmt.Sprintf("A workspace can have %d saved searches. Delete one first.", limit),
			}
		}
		created = savedFromRow(row)
		return err
	})
	if err == nil && replayed {
		created, err = s.SavedSearch(ctx, n.WorkspaceID, created.ID)
	}
	return created, replayed, err
}

// SavedSearches lists the saved searches of a workspace.
func (s *SearchStore) SavedSearches(ctx context.Context, workspaceID uuid.UUID) ([]savedsearch.Search, error) {
	rows, err := s.q.ListSavedSearches(ctx, workspaceID)
	if err != nil {
		return nil, err
	}
	return s.withAlertCounts(ctx, workspaceID, uuid.Nil, savedFromRows(rows)...)
}

// withAlertCounts adds the numbers and times of alerts, for all searches of a workspace
// or one.
func (s *SearchStore) withAlertCounts(
	ctx context.Context, workspaceID, id uuid.UUID, list ...savedsearch.Search,
) ([]savedsearch.Search, error) {
	rows, err := s.q.CountSearchAlerts(ctx, db.CountSearchAlertsParams{WorkspaceID: workspaceID, ID: id})
	for _, r := range rows {
		if i := slices.IndexFunc(list, func(n savedsearch.Search) bool { return n.ID == r.ID }); i >= 0 {
			at := r.LastAlertedAt.UTC()
			list[i].AlertCount, list[i].LastAlertedAt = r.AlertCount, &at
		}
	}
	return list, err
}

// SavedSearchMatches lists the articles for which a search alerted, the newest first.
func (s *SearchStore) SavedSearchMatches(
	ctx context.Context, workspaceID, id, before uuid.UUID, limit int,
) ([]savedsearch.Match, error) {
	rows, err := s.q.ListSearchMatches(ctx, db.ListSearchMatchesParams{
		SearchID: id, WorkspaceID: workspaceID, Before: before, PageSize: limit,
	})
	out := make([]savedsearch.Match, len(rows))
	for i, r := range rows {
		out[i] = savedsearch.Match{
			ArticleID: r.ID, Title: r.Title, URL: r.CanonicalUrl, Domain: r.Domain, AlertedAt: r.AlertedAt.UTC(),
		}
	}
	return out, err
}

// SavedSearch returns a saved search.
func (s *SearchStore) SavedSearch(ctx context.Context, workspaceID, id uuid.UUID) (savedsearch.Search, error) {
	row, err := s.q.GetSavedSearch(ctx, db.GetSavedSearchParams{ID: id, WorkspaceID: workspaceID})
	if err != nil {
		return savedsearch.Search{}, orSavedSearchNotFound(err)
	}
	list, err := s.withAlertCounts(ctx, workspaceID, id, savedFromRow(row))
	return list[0], err
}

// UpdateSavedSearch changes a saved search. ifVersion 0 skips the version check.
func (s *SearchStore) UpdateSavedSearch(
	ctx context.Context, workspaceID, id uuid.UUID, ifVersion int64, change func(*savedsearch.Search) error,
) (changed savedsearch.Search, err error) {
	stale := &apperr.Error{
		Kind: apperr.KindPreconditionFailed, Code: "version_mismatch",
		Message: "The saved search was changed in the meantime. Load it again.",
	}
	was, err := s.SavedSearch(ctx, workspaceID, id)
	if err != nil {
		return was, err
	}
	if ifVersion != 0 && ifVersion != was.Version {
		return was, stale
	}
	n := was
	if err := change(&n); err != nil {
		return was, err
	}
	f := n.Filters
	resetAlerts := n.Query != was.Query || n.Alert && !was.Alert || !sameFilters(f, was.Filters)
	row, err := s.q.UpdateSavedSearch(ctx, db.UpdateSavedSearchParams{
		ID: id, WorkspaceID: workspaceID,
		Version: was.Version, Name: n.Name, Query: n.Query, Mode: string(n.Mode), Domains: column.List(f.Domains),
		Languages: column.List(f.Languages), Sections: column.List(f.Sections), Tags: column.List(f.Tags),
		Authors: column.List(f.Authors), Alert: n.Alert, ResetAlerts: resetAlerts,
	})
	if tx.NoRows(err) {
		return was, stale
	}
	changed = savedFromRow(row)
	changed.AlertCount, changed.LastAlertedAt = was.AlertCount, was.LastAlertedAt
	return changed, err
}

func sameFilters(a, b search.Filters) bool {
	return slices.Equal(a.Domains, b.Domains) && slices.Equal(a.Languages, b.Languages) &&
		slices.Equal(a.Sections, b.Sections) && slices.Equal(a.Tags, b.Tags) && slices.Equal(a.Authors, b.Authors)
}

// DeleteSavedSearch deletes a saved search.
func (s *SearchStore) DeleteSavedSearch(ctx context.Context, workspaceID, id uuid.UUID) error {
	n, err := s.q.DeleteSavedSearch(ctx, db.DeleteSavedSearchParams{ID: id, WorkspaceID: workspaceID})
	if err == nil && n == 0 {
		err = savedSearchNotFound()
	}
	return err
}

// SetFeed sets or clears the hash of a feed token.
func (s *SearchStore) SetFeed(ctx context.Context, workspaceID, id uuid.UUID, hash []byte) (savedsearch.Search, error) {
	row, err := s.q.SetFeed(ctx, db.SetFeedParams{ID: id, WorkspaceID: workspaceID, FeedHash: hash})
	return savedFromRow(row), orSavedSearchNotFound(err)
}

// SavedSearchWithFeed returns a saved search of any workspace, if it has a feed.
func (s *SearchStore) SavedSearchWithFeed(ctx context.Context, id uuid.UUID) (savedsearch.Search, error) {
	row, err := s.q.GetSavedSearchWithFeed(ctx, id)
	return savedFromRow(row), tx.OrNotFound(err, "feed")
}

// AlertingSearches lists the saved searches of all workspaces that have alerts.
func (s *SearchStore) AlertingSearches(ctx context.Context) ([]savedsearch.Search, error) {
	rows, err := s.q.ListAlertingSearches(ctx)
	return savedFromRows(rows), err
}

// RecordMatches records new matches of saved searches, raises an event for each and
// returns their number.
func (s *SearchStore) RecordMatches(ctx context.Context, searches, articles []uuid.UUID) (alerts int64, err error) {
	return s.q.RecordMatches(ctx, db.RecordMatchesParams{SearchIds: searches, ArticleIds: articles})
}

func savedSearchNotFound() error {
	return &apperr.Error{
		Kind: apperr.KindNotFound, Code: "saved_search_not_found",
		Message: "There is no such saved search in this workspace.",
	}
}

func orSavedSearchNotFound(err error) error {
	if tx.NoRows(err) {
		return savedSearchNotFound()
	}
	return err
}

func savedFromRows(rows []db.SavedSearch) []savedsearch.Search {
	out := make([]savedsearch.Search, len(rows))
	for i, r := range rows {
		out[i] = savedFromRow(r)
	}
	return out
}

func savedFromRow(r db.SavedSearch) savedsearch.Search {
	n := savedsearch.Search{
		ID: r.ID, WorkspaceID: r.WorkspaceID, Name: r.Name, Query: r.Query,
		Mode: search.Mode(r.Mode), Alert: r.Alert, FeedHash: r.FeedHash, Version: r.Version,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
		Filters: search.Filters{
			Domains: r.Domains, Languages: r.Languages, Sections: r.Sections, Tags: r.Tags, Authors: r.Authors,
		},
	}
	if r.UserID != nil {
		n.UserID = *r.UserID
	}
	return n
}
