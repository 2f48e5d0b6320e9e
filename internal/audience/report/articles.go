package report

import (
	"context"
	"time"

	"dateline/internal/audience/counter"
)

// withoutArticle is the dimension that counts the views of pages without an article.
const withoutArticle = "none"

// articles reads the views of articles by a dimension, and those of the same
// values in the compared period.
func (c *computation) articles(dimension string, r *readings) (err error) {
	site, from, to := c.q.Site.ID, c.q.From, c.q.To+1
	if r.articles, err = c.Store.ReportArticleValues(c.ctx, site, dimension, from, to, c.q.Limit); err != nil {
		return err
	}
	none, err := c.Store.ReportArticleDays(c.ctx, site, withoutArticle, []string{""}, from, to)
	if err != nil {
		return err
	}
	for _, d := range none {
		r.withoutArticle += *d.Views
	}
	values := valuesOf(r.articles)
	if dimension != Ages.articleDimension() {
		counts, err := c.Store.ReportArticlesPublished(c.ctx, site, dimension, c.midnight(from), c.midnight(to), values)
		if err != nil {
			return err
		}
		for i := range r.articles {
			n := counts[r.articles[i].Value]
			r.articles[i].Articles = &n
		}
	}
	if c.comparesTables() {
		shift := c.q.shift()
		r.articlesBefore, err = c.Store.ReportArticleViews(c.ctx, site, dimension, from-shift, to-shift, values)
	}
	return err
}

func valuesOf(rows []Row) []string {
	values := make([]string, len(rows))
	for i, row := range rows {
		values[i] = row.Value
	}
	return values
}

func (c *computation) articleTable(t Table, r readings) TableResult {
	table := TableResult{By: t, Metric: "views", Rows: r.articles, WithoutArticle: &r.withoutArticle}
	c.finish(&table, func(t Totals) *int64 { return t.Views }, nil, r.articlesBefore)
	return table
}

// published reads the articles published in the period.
func (c *computation) published(r *readings) (err error) {
	r.pages, err = c.Store.ReportPublished(c.ctx, c.q.Site.ID, c.midnight(c.q.From), c.midnight(c.q.To+1), c.q.From,
		c.q.To+1, c.q.Limit)
	return err
}

// completePages adds the articles and the engagement to pages.
func (c *computation) completePages(r *readings) error {
	if len(r.pages) == 0 {
		return nil
	}
	names := valuesOf(r.pages)
	found, err := c.Store.ReportArticles(c.ctx, c.q.Site.ID, names)
	if err != nil {
		return err
	}
	for i := range r.pages {
		if a, ok := found[r.pages[i].Value]; ok {
			r.pages[i].Article = &a
		}
	}
	if c.q.Filters.pageDimension().Name != "" { // engagement is not counted by country or device
		return nil
	}
	engagement, err := c.Store.ReportPageEngagement(c.ctx, c.q.Site.ID, c.pageRange(c.q.From, c.q.To+1), names)
	for i := range r.pages {
		r.pages[i].Engagement = engagement[r.pages[i].Value]
	}
	return err
}

// RecentArticle is an article with its views in the last 24 hours.
type RecentArticle struct {
	Page    string
	Authors []string
	Article
	Views int64
}

// Last24Hours compares the articles published in 24 hours with those read in
// them.
type Last24Hours struct {
	Since, Until   time.Time
	Published      int   // articles
	PublishedViews int64 // of them
	Views          int64 // of all articles among the most viewed pages
	New, Read      []RecentArticle
}

// Last24Hours reports on the current hour and the 23 before it.
func (r *Reporter) Last24Hours(ctx context.Context, site counter.Site, limit int) (Last24Hours, error) {
	now, err := r.Store.Time(ctx)
	if err != nil {
		return Last24Hours{}, err
	}
	out := Last24Hours{Since: counter.HourAt(now, site.Zone).Add(-23 * time.Hour).UTC(), Until: now.UTC()}
	all, err := r.Store.ReportLast24Hours(ctx, site.ID, out.Since, out.Until)
	if err != nil {
		return out, err
	}
	for _, a := range all { // the most viewed first
		out.Views += a.Views
		if len(out.Read) < limit {
			out.Read = append(out.Read, a)
		}
		if a.PublishedAt.Before(out.Since) {
			continue
		}
		out.Published++
		out.PublishedViews += a.Views
		if len(out.New) < limit {
			out.New = append(out.New, a)
		}
	}
	return out, nil
}
