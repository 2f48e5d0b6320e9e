package news

import (
	"context"
	"encoding/json"
	"math/bits"

	"github.com/google/uuid"

	"dateline/internal/news/article"
	"dateline/internal/news/pipeline"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// Article returns an article of a domain on which the workspace has seeds.
func (s *ArticleStore) Article(ctx context.Context, workspaceID, id uuid.UUID) (pipeline.StoredArticle, error) {
	row, err := s.q.ArticleOfWorkspace(ctx, db.ArticleOfWorkspaceParams{ID: id, WorkspaceID: workspaceID})
	if err != nil {
		return pipeline.StoredArticle{}, tx.OrNotFound(err, "article")
	}
	return storedFromRow(row.Article, row.Domain)
}

// Articles lists articles, the newest first.
func (s *ArticleStore) Articles(ctx context.Context, w pipeline.ArticleQuery) ([]pipeline.ArticleSummary, error) {
	rows, err := s.q.ArticlesOfWorkspace(ctx, db.ArticlesOfWorkspaceParams{
		WorkspaceID: w.Workspace, Domain: w.Domain,
		Removed: w.Removed, FromTime: w.From, ToTime: w.To,
		BeforeTime: w.Before, BeforeID: w.BeforeID, PageSize: w.Limit,
	})
	out := make([]pipeline.ArticleSummary, len(rows))
	for i, r := range rows {
		out[i] = pipeline.ArticleSummary{
			ID: r.ID, DomainID: r.DomainID, Domain: r.Domain, URL: r.Url,
			CanonicalURL: r.CanonicalUrl, Title: r.Title, Authors: r.Authors,
			Published: r.PublishedAt, Updated: r.ModifiedAt, DateOnly: r.DateOnly, FirstSeen: r.FirstSeenAt,
			SortTime: r.DatedAt, Lead: r.Lead, Image: r.ImageUrl,
			Section: r.Section, Tags: r.Tags, Language: r.Language, Site: r.SiteName, Group: r.GroupID,
			Version: r.Version, ChangedAt: r.UpdatedAt, RemovedAt: r.RemovedAt,
			Access: article.Access(r.Access), Reservations: article.Reservations{
				NoIndex: r.Noindex, NoArchive: r.Noarchive, NoSnippet: r.Nosnippet, NoAI: r.Noai, TDM: r.TdmReserved,
				TDMPolicy: r.TdmPolicy,
			},
		}
	}
	return out, err
}

// AlsoReportedBy lists the near-duplicates of an article, the oldest first.
func (s *ArticleStore) AlsoReportedBy(
	ctx context.Context, workspaceID uuid.UUID, a pipeline.StoredArticle, limit int,
) ([]pipeline.SimilarArticle, error) {
	rows, err := s.q.AlsoReportedBy(ctx, db.AlsoReportedByParams{
		GroupID: a.Group, ID: a.ID, WorkspaceID: workspaceID, PageSize: limit,
	})
	out := make([]pipeline.SimilarArticle, len(rows))
	for i, r := range rows {
		out[i] = pipeline.SimilarArticle{Distance: bits.OnesCount64(uint64(a.SimHash ^ r.Simhash)), //nolint:gosec // only the bits matter
			ArticleSummary: pipeline.ArticleSummary{
				ID: r.ID, DomainID: r.DomainID, Domain: r.Domain, URL: r.Url,
				CanonicalURL: r.CanonicalUrl, Title: r.Title, Authors: r.Authors,
				Published: r.PublishedAt, Updated: r.ModifiedAt, DateOnly: r.DateOnly, FirstSeen: r.FirstSeenAt,
				SortTime: r.DatedAt, Lead: r.Lead, Image: r.ImageUrl,
				Section: r.Section, Tags: r.Tags, Language: r.Language, Site: r.SiteName, Group: r.GroupID,
				Version: r.Version, ChangedAt: r.UpdatedAt, RemovedAt: r.RemovedAt,
				Access: article.Access(r.Access), Reservations: article.Reservations{
					NoIndex: r.Noindex, NoArchive: r.Noarchive, NoSnippet: r.Nosnippet, NoAI: r.Noai,
					TDM: r.TdmReserved, TDMPolicy: r.TdmPolicy,
				},
			}}
	}
	return out, err
}

// Revisions lists the versions of an article below before, the newest first.
func (s *ArticleStore) Revisions(
	ctx context.Context, id uuid.UUID, before int64, limit int,
) ([]pipeline.Revision, error) {
	rows, err := s.q.ListRevisions(ctx, db.ListRevisionsParams{ArticleID: id, Before: before, PageSize: limit})
	out := make([]pipeline.Revision, len(rows))
	for i, r := range rows {
		out[i] = pipeline.Revision{
			Version: r.Version, SeenAt: r.SeenAt, Changed: r.Changed, Title: r.Title,
			ContentHash:     r.ContentHash,
			SelectorVersion: r.SelectorVersion, Characters: r.Characters,
		}
	}
	return out, err
}

// Revision returns a version of an article.
func (s *ArticleStore) Revision(ctx context.Context, id uuid.UUID, version int64) (pipeline.RevisionContent, error) {
	r, err := s.q.GetRevision(ctx, db.GetRevisionParams{ArticleID: id, Version: version})
	return pipeline.RevisionContent{
			Revision: pipeline.Revision{
				Version: r.Version, SeenAt: r.SeenAt,
				Changed: r.Changed, Title: r.Title, ContentHash: r.ContentHash,
				SelectorVersion: r.SelectorVersion, Characters: len([]rune(r.BodyText)),
			}, Authors: r.Authors,
			Published: r.PublishedAt, Updated: r.ModifiedAt, Lead: r.Lead,
			Text: r.BodyText, Image: r.ImageUrl, Section: r.Section, Tags: r.Tags, ObjectKey: r.ObjectKey,
		},
		tx.OrNotFound(err, "revision")
}

func storedFromRow(r db.Article, domain string) (out pipeline.StoredArticle, err error) {
	out = pipeline.StoredArticle{
		ArticleSummary: pipeline.ArticleSummary{
			ID: r.ID, DomainID: r.DomainID, Domain: domain,
			URL: r.Url, CanonicalURL: r.CanonicalUrl, Title: r.Title, Authors: r.Authors,
			Published: r.PublishedAt, Updated: r.ModifiedAt, DateOnly: r.DateOnly, FirstSeen: r.FirstSeenAt,
			SortTime: r.DatedAt, Lead: r.Lead, Image: r.ImageUrl,
			Section: r.Section, Tags: r.Tags, Language: r.Language, Site: r.SiteName, Group: r.GroupID,
			Version:   r.Version,
			ChangedAt: r.UpdatedAt, RemovedAt: r.RemovedAt,
			Access: article.Access(r.Access), Reservations: article.Reservations{
				NoIndex: r.Noindex, NoArchive: r.Noarchive, NoSnippet: r.Nosnippet, NoAI: r.Noai, TDM: r.TdmReserved,
				TDMPolicy: r.TdmPolicy,
			},
		},
		Text: r.BodyText, HTML: r.BodyHtml, ContentHash: r.ContentHash, SimHash: r.Simhash, ObjectKey: r.ObjectKey,
		FetchedAt: r.FetchedAt, SelectorVersion: r.SelectorVersion,
	}
	if out.Live, err = liveEntriesFromRow(r.LiveEntries); err != nil {
		return out, err
	}
	return out, json.Unmarshal(r.Origins, &out.Origins)
}
