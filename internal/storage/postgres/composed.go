package postgres

import (
	"dateline/internal/storage/postgres/audience"
	"dateline/internal/storage/postgres/identity"
	"dateline/internal/storage/postgres/installation"
	"dateline/internal/storage/postgres/news"
	"dateline/internal/storage/postgres/publishing"
)

// A few consumers need several stores as one value.

// Scheduling is the store of scheduling.Scheduler.
type Scheduling struct {
	*publishing.PostStore
	*publishing.SeriesStore
	*publishing.LedgerStore
	*publishing.AccountStore
	*publishing.MediaStore
	*identity.WorkspaceStore
}

// Scheduling returns the store of scheduling.Scheduler.
func (s *Store) Scheduling() Scheduling {
	p := s.Publishing
	return Scheduling{p.Posts, p.Series, p.Ledger, p.Accounts, p.Media, s.Identity.Workspaces}
}

// Delivery is the store of delivery.Publisher and its commands.
type Delivery struct {
	*publishing.LedgerStore
	*publishing.PostStore
	*publishing.MediaStore
}

// Delivery returns the store of delivery.Publisher and its commands.
func (s *Store) Delivery() Delivery {
	return Delivery{s.Publishing.Ledger, s.Publishing.Posts, s.Publishing.Media}
}

// Sites is the store of site.Service.
type Sites struct {
	*audience.SiteStore
	*identity.WorkspaceStore
}

// Sites returns the store of site.Service.
func (s *Store) Sites() Sites { return Sites{s.Audience.Sites, s.Identity.Workspaces} }

// Extraction is the store of the extraction pipeline.
type Extraction struct {
	*news.ArticleStore
	*news.DomainStore
}

// Extraction returns the store of the extraction pipeline.
func (s *Store) Extraction() Extraction { return Extraction{s.News.Articles, s.News.Domains} }

// Crawl is the store of the crawler.
type Crawl struct {
	*news.FrontierStore
	*news.DomainStore
}

// Crawl returns the store of the crawler.
func (s *Store) Crawl() Crawl { return Crawl{s.News.Frontier, s.News.Domains} }

// Status is the store of status.Reporter.
type Status struct {
	*installation.StatusStore
	*publishing.LedgerStore
	*publishing.AccountStore
}

// Status returns the store of status.Reporter.
func (s *Store) Status() Status {
	return Status{s.Installation.Status, s.Publishing.Ledger, s.Publishing.Accounts}
}

// AccountList is the store of accounts with the state of reading their metrics.
type AccountList struct {
	*publishing.AccountStore
	*publishing.MetricsStore
}

// AccountList returns the store of accounts with the state of reading their metrics.
func (s *Store) AccountList() AccountList {
	return AccountList{s.Publishing.Accounts, s.Publishing.Metrics}
}

// PostReports is the store of reports about posts.
type PostReports struct {
	*publishing.PostStore
	*publishing.MetricsStore
}

// PostReports returns the store of reports about posts.
func (s *Store) PostReports() PostReports {
	return PostReports{s.Publishing.Posts, s.Publishing.Metrics}
}
