package news

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/article"
	"dateline/internal/news/crawl/change"
	"dateline/internal/news/pipeline"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/news/db"
	"dateline/internal/storage/postgres/tx"
)

// saveArticle stores an article under its canonical URL. Writers of one domain are
// serialized by LockSiteMonitor.
func saveArticle(ctx context.Context, q *queries, r pipeline.Extraction, k *pipeline.SaveResult) error {
	old, urlID, err := canonicalArticle(ctx, q, r)
	if err != nil || urlID == uuid.Nil {
		return err
	}
	if old == nil {
		if old, err = findMovedArticle(ctx, q, r); err != nil {
			return err
		}
	}
	if old == nil {
		return insertArticle(ctx, q, r, urlID, k)
	}
	k.Article = old.ID
	if r.Page.FetchedAt.Before(old.FetchedAt) {
		return nil // a newer version of the page was processed already
	}
	return updateArticle(ctx, q, r, *old, urlID, k)
}

// canonicalArticle returns the URL id that an article is stored under, and the article
// stored there. A zero id means that the page is a copy of an article that is already
// known under its own URL.
//
// A canonical URL is accepted only if it leads to the same story, because some templates
// state the same URL on all pages.
func canonicalArticle(
	ctx context.Context, q *queries, r pipeline.Extraction,
) (old *db.Article, urlID uuid.UUID, err error) {
	own := r.Page.URLID
	if r.CanonicalID == own {
		old, err = articleAt(ctx, q, r, own)
		if err != nil || old == nil || old.PageID == own || isSameContent(*old, r) {
			return old, own, err
		}
		// Another page declared this URL as canonical for a different story.
		return nil, own, restoreOwnURL(ctx, q, r, *old)
	}
	canonical, err := articleAt(ctx, q, r, r.CanonicalID)
	if err != nil {
		return nil, own, err
	}
	existing, err := articleAt(ctx, q, r, own)
	if err != nil {
		return nil, own, err
	}
	switch {
	case canonical == nil:
		return existing, r.CanonicalID, nil
	case canonical.PageID == own:
		return canonical, r.CanonicalID, nil
	case !isSameContent(*canonical, r):
		return existing, own, nil
	}
	if existing != nil {
		if err := deleteArticle(ctx, q, existing.ID); err != nil {
			return nil, own, err
		}
	}
	if canonical.PageID == r.CanonicalID {
		return nil, uuid.Nil, nil
	}
	return canonical, r.CanonicalID, nil
}

// findMovedArticle returns the article of another page that redirects to this one, if it
// is the same story. It moves with all its versions.
func findMovedArticle(ctx context.Context, q *queries, r pipeline.Extraction) (*db.Article, error) {
	row, err := q.FindMovedArticle(ctx, db.FindMovedArticleParams{DomainID: r.Page.DomainID, PageID: r.Page.URLID})
	if tx.NoRows(err) || err == nil && !isSameContent(row, r) {
		return nil, nil //nolint:nilnil // not found is not an error
	}
	return &row, err
}

func articleAt(ctx context.Context, q *queries, r pipeline.Extraction, urlID uuid.UUID) (*db.Article, error) {
	row, err := q.ArticleByURL(ctx, db.ArticleByURLParams{DomainID: r.Page.DomainID, UrlID: urlID})
	if tx.NoRows(err) {
		return nil, nil //nolint:nilnil // not found is not an error
	}
	return &row, err
}

func isSameContent(old db.Article, r pipeline.Extraction) bool {
	return old.ContentHash == r.ContentHash ||
		change.NormalizeText(old.Title) == change.NormalizeText(r.Article.Title) ||
		change.SimHash(old.Simhash).IsNear(change.SimHash(r.SimHash)) //nolint:gosec // only the bits matter
}

// restoreOwnURL stores an article under the URL of its own page again.
func restoreOwnURL(ctx context.Context, q *queries, r pipeline.Extraction, a db.Article) error {
	existing, err := articleAt(ctx, q, r, a.PageID)
	if err != nil {
		return err
	}
	if existing != nil {
		return deleteArticle(ctx, q, a.ID)
	}
	if err := q.RestoreArticleURL(ctx, a.ID); err != nil {
		return err
	}
	return q.InsertArticleChange(ctx, db.InsertArticleChangeParams{ArticleID: a.ID, Kind: db.ChangeKindUpsert})
}

func deleteArticle(ctx context.Context, q *queries, id uuid.UUID) error {
	if err := q.DeleteArticle(ctx, id); err != nil {
		return err
	}
	return q.InsertArticleChange(ctx, db.InsertArticleChangeParams{ArticleID: id, Kind: db.ChangeKindDelete})
}

func insertArticle(
	ctx context.Context, q *queries, r pipeline.Extraction, urlID uuid.UUID, k *pipeline.SaveResult,
) error {
	id := column.NewID()
	group, err := groupOf(ctx, q, id, id, r.SimHash)
	if err != nil {
		return err
	}
	p, err := articleParams(r, urlID)
	if err != nil {
		return err
	}
	p.ID, p.GroupID, p.FirstSeenAt = id, group, r.Page.FoundAt
	if err := q.InsertArticle(ctx, p); err != nil {
		return err
	}
	if err := q.InsertRevision(ctx, db.InsertRevisionParams{ID: id, Changed: []string{}}); err != nil {
		return err
	}
	k.Article, k.New = id, true
	return q.InsertArticleChange(ctx, db.InsertArticleChangeParams{
		ArticleID: id, Kind: db.ChangeKindUpsert, First: r.Page.IsFirstVersion,
	})
}

func updateArticle(
	ctx context.Context, q *queries, r pipeline.Extraction, old db.Article, urlID uuid.UUID, k *pipeline.SaveResult,
) error {
	p, err := articleParams(r, urlID)
	if err != nil {
		return err
	}
	if p.PublishedAt == nil { // keep a date that the page no longer states
		p.PublishedAt, p.DateOnly = old.PublishedAt, old.DateOnly
	}
	var isSameLive bool
	if p.LiveEntries, isSameLive, err = mergeLiveEntries(old.LiveEntries, r.Article.Live); err != nil {
		return err
	}
	k.Changed = differingFields(old, p)
	if len(k.Changed) == 0 && isSameLive && old.RemovedAt == nil && equalTimes(old.ModifiedAt, p.ModifiedAt) &&
		old.BodyHtml == p.BodyHtml && old.UrlID == urlID && old.PageID == p.PageID && old.Language == p.Language &&
		old.SiteName == p.SiteName && samePermissions(old, p) {
		return q.TouchArticle(ctx, db.TouchArticleParams{ID: old.ID, ObjectKey: p.ObjectKey, FetchedAt: p.FetchedAt})
	}
	group, err := groupOf(ctx, q, old.ID, old.GroupID, r.SimHash)
	if err != nil {
		return err
	}
	version := old.Version
	if len(k.Changed) > 0 {
		version++
	}
	if err := q.UpdateArticle(ctx, db.UpdateArticleParams{
		ID: old.ID, UrlID: urlID, PageID: p.PageID, Url: p.Url,
		CanonicalUrl: p.CanonicalUrl, Title: p.Title, Authors: p.Authors,
		PublishedAt: p.PublishedAt, ModifiedAt: p.ModifiedAt, DateOnly: p.DateOnly, FirstSeenAt: r.Page.FoundAt,
		Lead: p.Lead, BodyText: p.BodyText, BodyHtml: p.BodyHtml,
		ImageUrl: p.ImageUrl, Section: p.Section, Tags: p.Tags, Language: p.Language, SiteName: p.SiteName,
		Origins: p.Origins, ContentHash: p.ContentHash, Simhash: p.Simhash,
		GroupID: group, ObjectKey: p.ObjectKey, FetchedAt: p.FetchedAt, SelectorVersion: p.SelectorVersion,
		Version: version,
		Access:  p.Access, Noindex: p.Noindex, Noarchive: p.Noarchive, Nosnippet: p.Nosnippet, Noai: p.Noai,
		TdmReserved: p.TdmReserved, TdmPolicy: p.TdmPolicy, LiveEntries: p.LiveEntries,
	}); err != nil {
		return err
	}
	if len(k.Changed) > 0 {
		if err := q.InsertRevision(ctx, db.InsertRevisionParams{ID: old.ID, Changed: k.Changed}); err != nil {
			return err
		}
	}
	return q.InsertArticleChange(ctx, db.InsertArticleChangeParams{ArticleID: old.ID, Kind: db.ChangeKindUpsert})
}

// mergeLiveEntries returns the stored entries of a live blog and those of its page, and
// whether they are the stored ones.
func mergeLiveEntries(stored []byte, page []article.LiveEntry) (merged []byte, isSame bool, err error) {
	old, err := liveEntriesFromRow(stored)
	if err != nil {
		return nil, false, err
	}
	all := article.MergeLiveEntries(old, page)
	isSame = slices.EqualFunc(old, all, func(a, b article.LiveEntry) bool {
		return a.Key == b.Key && a.Time.Equal(b.Time) && a.Title == b.Title && a.Text == b.Text && a.HTML == b.HTML
	})
	merged, err = json.Marshal(column.List(all))
	return merged, isSame, err
}

// liveEntriesFromRow decodes the entries of a live blog.
func liveEntriesFromRow(stored []byte) (out []article.LiveEntry, err error) {
	err = json.Unmarshal(stored, &out)
	return out, err
}

// groupOf returns the group of near-duplicates of an article. Articles never leave a
// group with other members: stories are edited, but stay the same story.
func groupOf(ctx context.Context, q *queries, id, group uuid.UUID, simhash int64) (uuid.UUID, error) {
	if simhash == 0 {
		return group, nil
	}
	others, err := q.GroupHasOthers(ctx, db.GroupHasOthersParams{GroupID: group, ID: id})
	if err != nil || others {
		return group, err
	}
	near, err := q.NearestArticle(ctx, db.NearestArticleParams{ID: id, Simhash: simhash, Near: change.MaxNearDistance})
	if tx.NoRows(err) {
		return id, nil
	}
	return near.GroupID, err
}

// differingFields returns the fields whose visible content differs.
func differingFields(old db.Article, p db.InsertArticleParams) (changed []string) {
	for _, f := range []struct {
		field article.Field
		same  bool
	}{
		{article.FieldTitle, old.Title == p.Title},
		{article.FieldAuthors, slices.Equal(old.Authors, p.Authors)},
		{article.FieldPublished, equalTimes(old.PublishedAt, p.PublishedAt)},
		{article.FieldLead, old.Lead == p.Lead},
		{article.FieldBody, old.BodyText == p.BodyText},
		{article.FieldImage, old.ImageUrl == p.ImageUrl},
		{article.FieldSection, old.Section == p.Section},
		{article.FieldTags, slices.Equal(old.Tags, p.Tags)},
		{article.FieldCanonical, old.CanonicalUrl == p.CanonicalUrl},
	} {
		if !f.same {
			changed = append(changed, string(f.field))
		}
	}
	return changed
}

// samePermissions reports whether access and reservations of an article are unchanged.
func samePermissions(old db.Article, p db.InsertArticleParams) bool {
	return old.Access == p.Access && old.Noindex == p.Noindex && old.Noarchive == p.Noarchive &&
		old.Nosnippet == p.Nosnippet && old.Noai == p.Noai &&
		old.TdmReserved == p.TdmReserved && old.TdmPolicy == p.TdmPolicy
}

func equalTimes(a, b *time.Time) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Equal(*b)
}

func articleParams(r pipeline.Extraction, urlID uuid.UUID) (p db.InsertArticleParams, err error) {
	a := r.Article
	canonical := r.Canonical
	if urlID == r.Page.URLID {
		canonical = r.Page.URL
	}
	p = db.InsertArticleParams{
		DomainID: r.Page.DomainID, UrlID: urlID, PageID: r.Page.URLID, Url: r.Page.URL,
		CanonicalUrl: canonical, Title: a.Title, Authors: column.List(a.Authors),
		PublishedAt: timeOrNull(a.Published), ModifiedAt: timeOrNull(a.Updated), DateOnly: a.DateOnly, Lead: a.Lead,
		BodyText: a.Text, BodyHtml: a.HTML, ImageUrl: a.Image, Section: a.Section,
		Tags: column.List(a.Tags), Language: a.Language, SiteName: a.Site, ContentHash: r.ContentHash,
		Simhash:   r.SimHash,
		ObjectKey: r.Page.ObjectKey, FetchedAt: r.Page.FetchedAt,
		SelectorVersion: r.SelectorVersion,
		Access:          db.ArticleAccess(cmp.Or(a.Access, article.AccessUnknown)), Noindex: a.Reservations.NoIndex,
		Noarchive: a.Reservations.NoArchive,
		Nosnippet: a.Reservations.NoSnippet, Noai: a.Reservations.NoAI, TdmReserved: a.Reservations.TDM,
		TdmPolicy: a.Reservations.TDMPolicy,
	}
	if p.LiveEntries, err = json.Marshal(column.List(a.Live)); err != nil {
		return p, err
	}
	p.Origins, err = json.Marshal(a.Origins)
	if a.Origins == nil {
		p.Origins = []byte("{}")
	}
	return p, err
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
