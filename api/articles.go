package api

import (
	"bytes"
	"context"
	"time"

	"dateline/api/spec"
	"dateline/internal/infra/optional"
	"dateline/internal/news/article"
	"dateline/internal/news/pipeline"
)

// ArticleHandler serves articles and the selectors of domains.
type ArticleHandler struct{ Articles *pipeline.Service }

func limitOf(p *int) int {
	if p == nil {
		return defaultPage
	}
	return *p
}

// ListArticles lists articles, newest first.
func (s *ArticleHandler) ListArticles(
	ctx context.Context, r spec.ListArticlesRequestObject,
) (spec.ListArticlesResponseObject, error) {
	far := time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)
	w := pipeline.ArticleQuery{
		Domain: optional.Value(r.Params.Domain), Removed: optional.Value(r.Params.Removed),
		From: optional.Value(r.Params.From), To: far,
		Before: far, Limit: limitOf(r.Params.Limit) + 1,
	}
	if r.Params.To != nil {
		w.To = *r.Params.To
	}
	if r.Params.Cursor != nil {
		at, id, err := readCursor(*r.Params.Cursor)
		if err != nil {
			return nil, err
		}
		w.Before, w.BeforeID = *at, *id
	}
	all, err := s.Articles.List(ctx, principal(ctx), w)
	if err != nil {
		return nil, err
	}
	out := spec.ListArticles200JSONResponse{Articles: []spec.ArticleSummary{}}
	if len(all) == w.Limit {
		all = all[:w.Limit-1]
		last := all[len(all)-1]
		out.NextCursor = optional.Of(cursor(last.SortTime, last.ID))
	}
	for _, e := range all {
		out.Articles = append(out.Articles, articleSummary(e))
	}
	return out, nil
}

// GetArticle gets an article.
func (s *ArticleHandler) GetArticle(
	ctx context.Context, r spec.GetArticleRequestObject,
) (spec.GetArticleResponseObject, error) {
	one, err := s.Articles.Get(ctx, principal(ctx), r.Id)
	return spec.GetArticle200JSONResponse(articleJSON(one)), err
}

// DownloadArticlePage downloads the raw page of an article.
func (s *ArticleHandler) DownloadArticlePage(
	ctx context.Context, r spec.DownloadArticlePageRequestObject,
) (spec.DownloadArticlePageResponseObject, error) {
	raw, err := s.Articles.Raw(ctx, principal(ctx), r.Id, optional.Value(r.Params.Version))
	if err != nil {
		return nil, err
	}
	name := `attachment; filename="` + r.Id.String() + `.html"`
	return spec.DownloadArticlePage200ApplicationoctetStreamResponse{
		Body:          bytes.NewReader(raw),
		ContentLength: int64(len(raw)),
		Headers:       spec.DownloadArticlePage200ResponseHeaders{ContentDisposition: &name},
	}, nil
}

// ListArticleRevisions lists the versions of an article.
func (s *ArticleHandler) ListArticleRevisions(
	ctx context.Context, r spec.ListArticleRevisionsRequestObject,
) (spec.ListArticleRevisionsResponseObject, error) {
	limit := limitOf(r.Params.Limit)
	all, err := s.Articles.Revisions(ctx, principal(ctx), r.Id, optional.Value(r.Params.Cursor), limit+1)
	if err != nil {
		return nil, err
	}
	out := spec.ListArticleRevisions200JSONResponse{Revisions: []spec.ArticleRevision{}}
	if len(all) > limit {
		all = all[:limit]
		out.NextCursor = &all[limit-1].Version
	}
	for _, v := range all {
		out.Revisions = append(out.Revisions, revisionJSON(v))
	}
	return out, nil
}

// GetArticleRevision gets a version of an article.
func (s *ArticleHandler) GetArticleRevision(
	ctx context.Context, r spec.GetArticleRevisionRequestObject,
) (spec.GetArticleRevisionResponseObject, error) {
	v, added, removed, err := s.Articles.Revision(ctx, principal(ctx), r.Id, r.Version)
	if err != nil {
		return nil, err
	}
	out := revisionJSON(v.Revision)
	out.Authors, out.PublishedAt, out.ModifiedAt, out.Lead, out.Text = &v.Authors, optional.UTC(v.Published),
		optional.UTC(v.Updated),
		optional.Of(v.Lead), &v.Text
	out.ImageUrl, out.Section, out.Tags = optional.Of(v.Image), optional.Of(v.Section), &v.Tags
	if added != nil {
		out.Added = &added
	}
	if removed != nil {
		out.Removed = &removed
	}
	return spec.GetArticleRevision200JSONResponse(out), nil
}

// SimilarArticles lists near-duplicates of an article.
func (s *ArticleHandler) SimilarArticles(
	ctx context.Context, r spec.SimilarArticlesRequestObject,
) (spec.SimilarArticlesResponseObject, error) {
	all, err := s.Articles.AlsoReportedBy(ctx, principal(ctx), r.Id, limitOf(r.Params.Limit))
	if err != nil {
		return nil, err
	}
	out := spec.SimilarArticles200JSONResponse{Articles: []spec.SimilarArticle{}}
	for _, one := range all {
		out.Articles = append(out.Articles, spec.SimilarArticle{
			Article: articleSummary(one.ArticleSummary), Distance: one.Distance,
		})
	}
	return out, nil
}

func revisionJSON(v pipeline.Revision) spec.ArticleRevision {
	return spec.ArticleRevision{
		Version: v.Version, SeenAt: v.SeenAt.UTC(), Changed: v.Changed, Title: v.Title,
		ContentHash: v.ContentHash,
		Characters:  v.Characters, SelectorVersion: optional.Of(v.SelectorVersion),
	}
}

func articleSummary(e pipeline.ArticleSummary) spec.ArticleSummary {
	return spec.ArticleSummary{
		Id: e.ID, Domain: e.Domain, Url: e.URL, CanonicalUrl: e.CanonicalURL, Title: e.Title,
		Authors: e.Authors, PublishedAt: optional.UTC(e.Published),
		ModifiedAt: optional.UTC(e.Updated), DateOnly: e.DateOnly, FirstSeenAt: e.FirstSeen.UTC(),
		DatedAt: e.SortTime.UTC(),
		Lead:    optional.Of(e.Lead), ImageUrl: optional.Of(e.Image),
		Section: optional.Of(e.Section), Tags: e.Tags, Language: optional.Of(e.Language), Site: optional.Of(e.Site),
		GroupId: e.Group, Version: e.Version, UpdatedAt: e.ChangedAt.UTC(), RemovedAt: optional.UTC(e.RemovedAt),
		Access: spec.ArticleSummaryAccess(e.Access), Reservations: reservationsJSON(e.Reservations),
	}
}

func articleJSON(a pipeline.StoredArticle) spec.Article {
	e := a.ArticleSummary
	return spec.Article{
		Id: e.ID, Domain: e.Domain, Url: e.URL, CanonicalUrl: e.CanonicalURL, Title: e.Title,
		Authors: e.Authors, PublishedAt: optional.UTC(e.Published),
		ModifiedAt: optional.UTC(e.Updated), DateOnly: e.DateOnly, FirstSeenAt: e.FirstSeen.UTC(),
		DatedAt: e.SortTime.UTC(),
		Lead:    optional.Of(e.Lead), ImageUrl: optional.Of(e.Image),
		Section: optional.Of(e.Section), Tags: e.Tags, Language: optional.Of(e.Language), Site: optional.Of(e.Site),
		GroupId: e.Group, Version: e.Version, UpdatedAt: e.ChangedAt.UTC(), RemovedAt: optional.UTC(e.RemovedAt),
		Access: spec.ArticleAccess(e.Access), Reservations: reservationsJSON(e.Reservations),
		Text: a.Text, Html: a.HTML, Origins: originsJSON(a.Origins), ContentHash: a.ContentHash,
		FetchedAt: a.FetchedAt.UTC(), SelectorVersion: optional.Of(a.SelectorVersion),
		LiveEntries: liveEntriesJSON(a.Live),
	}
}

func liveEntriesJSON(all []article.LiveEntry) []spec.LiveEntry {
	out := make([]spec.LiveEntry, len(all))
	for i, e := range all {
		out[i] = spec.LiveEntry{Key: e.Key, Title: optional.Of(e.Title), Text: e.Text, Html: e.HTML}
		if !e.Time.IsZero() {
			out[i].At = optional.UTC(&e.Time)
		}
	}
	return out
}

func reservationsJSON(r article.Reservations) spec.Reservations {
	return spec.Reservations{
		Noindex: r.NoIndex, Noarchive: r.NoArchive, Nosnippet: r.NoSnippet, Noai: r.NoAI,
		Tdm: r.TDM, TdmPolicy: optional.Of(r.TDMPolicy),
	}
}

func originsJSON(all map[article.Field]article.Origin) map[string]spec.FieldOrigin {
	out := make(map[string]spec.FieldOrigin, len(all))
	for f, o := range all {
		out[string(f)] = spec.FieldOrigin{Source: string(o.Source), Confidence: float32(o.Confidence)}
	}
	return out
}
