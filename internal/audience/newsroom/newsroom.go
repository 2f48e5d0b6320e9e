// Package newsroom finds the articles that pages of sites show, so that reports
// can group views by author, section, tag and age.
//
// An article belongs to the page that a hit with its canonical URL is counted for.
// The host must be one of the site's domains.
package newsroom

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/ingest"
	"dateline/internal/audience/site"
	"dateline/internal/infra/timezone"
)

// Article is a crawled article.
type Article struct {
	ID          uuid.UUID
	URL         string // canonical
	Title       string
	Authors     []string
	Section     string
	Tags        []string
	PublishedAt time.Time // if unknown, when it was found
	UpdatedAt   time.Time
}

// PageArticle is an article with its page.
type PageArticle struct {
	Article
	Page        string
	PublishedOn counter.Day // in the site's time zone
}

// Site is a site with the crawled domains whose articles it may show: those of
// its hosts on which its workspace has seeds.
type Site struct {
	site.Site
	Domains []int
}

// Cursor is how far the changes of a site's articles have been read.
type Cursor struct {
	Hosts     []string // of the site, and
	Domains   []int    // its crawled domains; if they change, all articles are read again
	UpdatedAt time.Time
	ID        uuid.UUID
}

// Store reads articles and saves those of sites.
type Store interface {
	Time(ctx context.Context) (time.Time, error)
	ArticleSites(ctx context.Context) ([]Site, error)
	// ArticleCursor returns a zero Cursor for a site without one.
	ArticleCursor(ctx context.Context, site uuid.UUID) (Cursor, error)
	// ChangedArticles lists articles of domains in the order of their changes.
	ChangedArticles(ctx context.Context, after Cursor, limit int) ([]Article, error)
	// SaveArticles saves a site's articles and the cursor. The days on which changed
	// ones were read are counted again.
	SaveArticles(ctx context.Context, site uuid.UUID, articles []PageArticle, next Cursor) error
	// CountArticles counts the views of articles on days that are due. more reports
	// whether there may be more of them.
	CountArticles(ctx context.Context, socialSources []string) (more bool, err error)
}

// Indexer keeps the articles of sites up to date.
type Indexer struct {
	Store         Store
	SocialSources []string // names of social networks as referrers
}

const (
	batchSize = 500
	// overlap is how far back changes are read again: the transactions that wrote
	// them may have been committed in another order.
	overlap = 10 * time.Minute
)

// Run reads the changes of articles and counts their views.
func (x *Indexer) Run(ctx context.Context, heartbeat func()) error {
	now, err := x.Store.Time(ctx)
	if err != nil {
		return err
	}
	sites, err := x.Store.ArticleSites(ctx)
	if err != nil {
		return err
	}
	for i := range sites {
		if err := x.read(ctx, &sites[i], now, heartbeat); err != nil {
			return err
		}
	}
	for more := true; more; {
		heartbeat()
		if more, err = x.Store.CountArticles(ctx, x.SocialSources); err != nil {
			return err
		}
	}
	return nil
}

// read saves the changed articles of a site.
func (x *Indexer) read(ctx context.Context, s *Site, now time.Time, heartbeat func()) error {
	zone, err := timezone.Load(s.TimeZone)
	if err != nil {
		return err
	}
	at, err := x.Store.ArticleCursor(ctx, s.ID)
	if err != nil {
		return err
	}
	if !slices.Equal(at.Hosts, s.Site.Domains) || !slices.Equal(at.Domains, s.Domains) {
		at = Cursor{Hosts: s.Site.Domains, Domains: s.Domains}
	}
	for len(s.Domains) > 0 {
		heartbeat()
		articles, err := x.Store.ChangedArticles(ctx, at, batchSize)
		if err != nil || len(articles) == 0 {
			return err
		}
		last := articles[len(articles)-1]
		at.UpdatedAt, at.ID = last.UpdatedAt, last.ID
		saved := at
		if since := now.Add(-overlap); saved.UpdatedAt.After(since) {
			saved.UpdatedAt, saved.ID = since, uuid.Nil
		}
		if err := x.Store.SaveArticles(ctx, s.ID, pagesOf(&s.Site, zone, articles), saved); err != nil {
			return err
		}
		if len(articles) < batchSize {
			return nil
		}
	}
	return nil
}

// pagesOf returns the articles that a site shows, one by page: the last one.
func pagesOf(s *site.Site, zone *time.Location, articles []Article) []PageArticle {
	var all []PageArticle
	index := map[string]int{}
	for _, a := range articles {
		u, err := url.Parse(a.URL)
		if err != nil || !s.Owns(strings.ToLower(u.Hostname())) {
			continue
		}
		page, problem := ingest.PageName(a.URL)
		if problem != nil {
			continue
		}
		one := PageArticle{Article: a, Page: page, PublishedOn: counter.DayAt(a.PublishedAt, zone)}
		if i, ok := index[page]; ok {
			all[i] = one
			continue
		}
		index[page] = len(all)
		all = append(all, one)
	}
	return all
}
