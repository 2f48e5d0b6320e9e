package audience

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/newsroom"
	"dateline/internal/audience/report"
	"dateline/internal/storage/postgres/audience/db"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/tx"
)

// maxArticleValues is the maximum number of authors, and of tags, that a site
// stores per day: the most viewed ones.
const maxArticleValues = 500

// ArticleSites lists the sites whose articles may have been crawled.
func (s *ReportStore) ArticleSites(ctx context.Context) ([]newsroom.Site, error) {
	rows, err := s.q.ArticleSites(ctx)
	sites := make([]newsroom.Site, len(rows))
	for i, r := range rows {
		sites[i] = newsroom.Site{Site: siteFromRow(r.Site), Domains: r.DomainIds}
	}
	return sites, err
}

// ArticleCursor returns how far the changes of a site's articles have been read.
func (s *ReportStore) ArticleCursor(ctx context.Context, site uuid.UUID) (newsroom.Cursor, error) {
	row, err := s.q.SiteArticleCursor(ctx, site)
	if tx.NoRows(err) {
		return newsroom.Cursor{}, nil
	}
	return newsroom.Cursor{Hosts: row.Domains, Domains: row.DomainIds, UpdatedAt: row.UpdatedAt, ID: row.ArticleID}, err
}

// ChangedArticles lists articles in the order of their changes.
func (s *ReportStore) ChangedArticles(
	ctx context.Context, after newsroom.Cursor, limit int,
) ([]newsroom.Article, error) {
	rows, err := s.q.ChangedArticles(ctx, db.ChangedArticlesParams{
		DomainIds: after.Domains, After: after.UpdatedAt, AfterID: after.ID, Batch: limit,
	})
	articles := make([]newsroom.Article, len(rows))
	for i, r := range rows {
		articles[i] = newsroom.Article{
			ID: r.ID, URL: r.CanonicalUrl, Title: r.Title, Authors: r.Authors,
			Section: r.Section, Tags: r.Tags, PublishedAt: r.DatedAt, UpdatedAt: r.UpdatedAt,
		}
	}
	return articles, err
}

// SaveArticles saves articles of a site and marks the days on which changed ones
// were read.
func (s *ReportStore) SaveArticles(
	ctx context.Context, site uuid.UUID, articles []newsroom.PageArticle, next newsroom.Cursor,
) error {
	var in db.SaveSiteArticlesParams
	for _, a := range articles {
		in.SiteIds, in.Pages, in.ArticleIds, in.Titles = append(in.SiteIds, site), append(in.Pages,
			sanitizeText(a.Page)), append(in.ArticleIds, a.ID), append(in.Titles, a.Title)
		in.Authors, in.Sections, in.Tags = append(in.Authors, joinLines(a.Authors)), append(in.Sections,
			a.Section), append(in.Tags, joinLines(a.Tags))
		in.Times, in.Days = append(in.Times, a.PublishedAt), append(in.Days, dateOf(a.PublishedOn))
	}
	return s.inTx(ctx, func(q *queries) error {
		changed, err := q.SaveSiteArticles(ctx, in)
		if err != nil {
			return err
		}
		if len(changed) > 0 {
			if err := q.MarkSiteArticles(ctx, db.MarkSiteArticlesParams{SiteID: site, Pages: changed}); err != nil {
				return err
			}
		}
		return q.SaveSiteArticleCursor(ctx, db.SaveSiteArticleCursorParams{
			SiteID: site, Domains: column.List(next.Hosts), DomainIds: column.List(next.Domains),
			UpdatedAt: next.UpdatedAt,
			ArticleID: next.ID,
		})
	})
}

// joinLines joins names, which have no line breaks.
func joinLines(names []string) string {
	lines := make([]string, len(names))
	for i, name := range names {
		lines[i] = strings.ReplaceAll(name, "\n", " ")
	}
	return strings.Join(lines, "\n")
}

// CountArticles counts the views of articles by author, section, tag and age on
// days that are due.
func (s *ReportStore) CountArticles(ctx context.Context, socialSources []string) (more bool, err error) {
	days, err := s.q.SiteArticleDaysDue(ctx, rollupBatchSize)
	if err != nil {
		return false, err
	}
	for _, d := range days {
		if err := s.inTx(ctx, func(q *queries) error {
			// First, which locks the row: a later roll-up marks it again.
			if err := q.MarkSiteArticleDay(ctx, db.MarkSiteArticleDayParams(d)); err != nil {
				return err
			}
			if err := q.DeleteSiteArticleDay(ctx, db.DeleteSiteArticleDayParams(d)); err != nil {
				return err
			}
			return q.InsertSiteArticleDay(ctx, db.InsertSiteArticleDayParams{
				SiteID: d.SiteID, Day: d.Day, SocialSources: column.List(socialSources), MaxValues: maxArticleValues,
			})
		}); err != nil {
			return false, err
		}
	}
	return len(days) == rollupBatchSize, nil
}

// ReportArticleValues reads the most viewed authors, sections, tags or ages of a
// site's articles.
func (s *ReportStore) ReportArticleValues(
	ctx context.Context, site uuid.UUID, dimension string, from, to counter.Day, limit int,
) ([]report.Row, error) {
	found, err := s.q.ReportArticleValues(ctx, db.ReportArticleValuesParams{
		SiteID: site, Dimension: dimension, FromDay: dateOf(from), ToDay: dateOf(to), Rows: limit,
	})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	rows, at, values := make([]report.Row, len(found)), map[string]int{}, make([]string, len(found))
	for i := range found {
		r := &found[i]
		rows[i] = report.Row{Value: r.Value, Totals: report.Totals{
			Views: &r.Views, Visitors: &r.Visitors, Visits: &r.Entries, Recirculation: &r.Recirculation,
			SocialViews: &r.SocialViews,
		}}
		at[r.Value], values[i] = i, r.Value
	}
	engaged, err := s.q.ReportArticleEngagement(ctx, db.ReportArticleEngagementParams{
		SiteID: site, Dimension: dimension, FromDay: dateOf(from), ToDay: dateOf(to), Values: values,
	})
	for _, e := range engaged {
		t := &rows[at[e.Value]].Totals
		t.Engagement = t.Engagement.Plus(column.Engagement(e.Engaged, e.Scrolled))
	}
	return rows, err
}

// ReportArticleViews reads the views of values.
func (s *ReportStore) ReportArticleViews(
	ctx context.Context, site uuid.UUID, dimension string, from, to counter.Day, values []string,
) ([]report.Row, error) {
	found, err := s.q.ReportArticleValuesNamed(ctx, db.ReportArticleValuesNamedParams{
		SiteID: site, Dimension: dimension, FromDay: dateOf(from), ToDay: dateOf(to), Values: column.List(values),
	})
	rows := make([]report.Row, len(found))
	for i := range found {
		rows[i] = report.Row{Value: found[i].Value, Totals: report.Totals{Views: &found[i].Views}}
	}
	return rows, err
}

// ReportArticlesPublished counts the articles published in a range by value.
func (s *ReportStore) ReportArticlesPublished(
	ctx context.Context, site uuid.UUID, dimension string, from, to time.Time, values []string,
) (map[string]int64, error) {
	found, err := s.q.ReportArticlesPublished(ctx, db.ReportArticlesPublishedParams{
		SiteID: site, Dimension: dimension, FromTime: from, ToTime: to, Values: column.List(values),
	})
	counts := make(map[string]int64, len(found))
	for _, r := range found {
		counts[r.Value] = r.Articles
	}
	return counts, err
}

// ReportArticleDays reads the totals of a value by day.
func (s *ReportStore) ReportArticleDays(
	ctx context.Context, site uuid.UUID, dimension string, values []string, from, to counter.Day,
) ([]report.DayTotals, error) {
	rows, err := s.q.ReportArticleDays(ctx, db.ReportArticleDaysParams{
		SiteID: site, Dimension: dimension, Values: values, FromDay: dateOf(from), ToDay: dateOf(to),
	})
	days := make([]report.DayTotals, len(rows))
	for i := range rows {
		r := &rows[i]
		days[i] = report.DayTotals{Day: dayOf(r.Day), Totals: report.Totals{
			Views: &r.Views, Visitors: &r.Visitors,
			Visits: &r.Entries, Recirculation: &r.Recirculation,
			SocialViews: &r.SocialViews, Engagement: column.Engagement(r.Engaged, r.Scrolled),
		}}
	}
	return days, err
}

// ReportArticlePages reads the most viewed pages of an author, section or tag.
func (s *ReportStore) ReportArticlePages(
	ctx context.Context, site uuid.UUID, dimension string, values []string, r report.PageRange, limit int,
) ([]report.Row, error) {
	rows, err := s.q.ReportArticlePages(ctx, db.ReportArticlePagesParams{
		SiteID: site, Dimension: dimension,
		Values: values, FromDay: dateOf(r.From), ToDay: dateOf(r.To),
		FromMonth: dateOf(r.FromMonth), ToMonth: dateOf(r.ToMonth), Rows: limit,
	})
	pages := make([]report.Row, len(rows))
	for i, row := range rows {
		pages[i] = pageRow(db.ReportPagesRow(row))
	}
	return pages, err
}

// ReportPublished reads the articles that were published in a range.
func (s *ReportStore) ReportPublished(
	ctx context.Context, site uuid.UUID, start, end time.Time, from, to counter.Day, limit int,
) ([]report.Row, error) {
	rows, err := s.q.ReportPublished(ctx, db.ReportPublishedParams{
		SiteID: site, FromTime: start, ToTime: end, FromDay: dateOf(from), ToDay: dateOf(to), Rows: limit,
	})
	pages := make([]report.Row, len(rows))
	for i := range rows {
		r := &rows[i]
		pages[i] = report.Row{Value: r.Page, Totals: report.Totals{
			Views: &r.Views, Visitors: &r.Visitors, Visits: &r.Entries, Recirculation: &r.Recirculation,
		}}
	}
	return pages, err
}

// ReportArticles reads the articles of pages.
func (s *ReportStore) ReportArticles(
	ctx context.Context, site uuid.UUID, pages []string,
) (map[string]report.Article, error) {
	rows, err := s.q.ReportArticles(ctx, db.ReportArticlesParams{SiteID: site, Pages: column.List(pages)})
	found := make(map[string]report.Article, len(rows))
	for _, r := range rows {
		found[r.Page] = report.Article{ID: r.ArticleID, Title: r.Title, PublishedAt: r.PublishedAt.UTC()}
	}
	return found, err
}

// ReportLast24Hours reads the views of articles from an hour on: the articles
// published since then, and the most viewed ones.
func (s *ReportStore) ReportLast24Hours(
	ctx context.Context, site uuid.UUID, since, until time.Time,
) ([]report.RecentArticle, error) {
	rows, err := s.q.ReportLast24Hours(ctx, db.ReportLast24HoursParams{
		SiteID: site, Since: since, Until: until, FromDay: pgtype.Date{Time: since.AddDate(0, 0, -1), Valid: true},
	})
	recent := make([]report.RecentArticle, len(rows))
	for i, r := range rows {
		recent[i] = report.RecentArticle{
			Page: r.Page, Views: r.Views, Authors: r.Authors, Article: report.Article{
				ID: r.ArticleID, Title: r.Title, PublishedAt: r.PublishedAt.UTC(),
			},
		}
	}
	return recent, err
}
