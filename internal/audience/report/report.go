// Package report computes reports about the readers of a site for any range of
// days: totals, a time series, and tables by page or dimension.
//
// Counts are stored without identities: visits by one dimension at a time, views of pages
// by country and device. What they cannot answer is refused with an explanation: no
// number ignores a filter.
package report

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
)

// Table is what the rows of a table are grouped by.
type Table string

// The tables. Referrers are those of one page.
const (
	Pages      Table = "pages"
	EntryPages Table = "entry_pages"
	Sources    Table = "sources"
	Channels   Table = "channels"
	Campaigns  Table = "campaigns"
	Countries  Table = "countries"
	Devices    Table = "devices"
	Browsers   Table = "browsers"
	Systems    Table = "systems"
	Referrers  Table = "referrers"
	// Of articles. Published lists those published in the period.
	Authors   Table = "authors"
	Sections  Table = "sections"
	Tags      Table = "tags"
	Ages      Table = "ages"
	Published Table = "published"

	// Properties are those of one event.
	Events     Table = "events"
	Properties Table = "properties"
	Goals      Table = "goals"

	// Of the posts whose short links lead to the site.
	Posts        Table = "posts"
	PostAccounts Table = "post_accounts"
	PostNetworks Table = "post_networks"

	Hours  Table = "hours"
	Days   Table = "days"
	Months Table = "months"
)

// siteTables lists the tables of an overview.
func siteTables() []Table {
	return []Table{Pages, EntryPages, Sources, Channels, Campaigns, Countries, Devices, Browsers, Systems}
}

// dimension returns the dimension of a table; "" for others.
func (t Table) dimension() string {
	switch t {
	case Sources:
		return counter.Source
	case Channels:
		return counter.Channel
	case Campaigns:
		return counter.Campaign
	case Countries:
		return counter.Country
	case Devices:
		return counter.Device
	case Browsers:
		return counter.Browser
	case Systems:
		return counter.OS
	case Referrers:
		return counter.Referrer
	default:
		return ""
	}
}

// articleDimension returns what a table groups articles by; "" for others.
func (t Table) articleDimension() string {
	switch t {
	case Authors:
		return AuthorFilter
	case Sections:
		return SectionFilter
	case Tags:
		return TagFilter
	case Ages:
		return "age"
	default:
		return ""
	}
}

// postColumn returns what a table groups posts by; "" for others.
func (t Table) postColumn() string {
	switch t {
	case Posts:
		return "post"
	case PostAccounts:
		return "account"
	case PostNetworks:
		return "network"
	default:
		return ""
	}
}

// isTime reports whether the rows are a time series.
func (t Table) isTime() bool { return t == Hours || t == Days || t == Months }

// Layout returns how the start of a period of a time series is written.
func (t Table) Layout() string {
	switch t {
	case Hours:
		return time.RFC3339
	case Months:
		return "2006-01"
	default:
		return time.DateOnly
	}
}

// Comparison is the period that a report is compared with.
type Comparison string

// The comparisons.
const (
	PreviousPeriod Comparison = "previous" // as many days, directly before
	PreviousYear   Comparison = "year"     // 364 days before, so that weekdays match
)

// Query asks for a report. The days are in the site's time zone; To is included.
type Query struct {
	Site     counter.Site
	From, To counter.Day
	Compare  Comparison // "": none
	By       Table      // "": the overview
	Filters  Filters    // none: the whole site
	Goals    []Goal     // of the site
	Limit    int        // of rows per table
}

// Totals are the numbers of a site, a page or a value in a period. Nil numbers
// are unknown, for example because they are not counted by dimension.
type Totals struct {
	Views, Visitors, Visits, SecondViews, Recirculation, Clicks, Conversions *int64
	// With a second page load or a view read for 10 seconds
	EngagedVisits *int64
	SocialViews   *int64 // that came from social networks
	Articles      *int64 // published in the period
	Events        *int64
	Engagement    *counter.EngagementDelta // of views that sent heartbeats
}

// Article is the article that a page shows.
type Article struct {
	ID          uuid.UUID
	Title       string
	PublishedAt time.Time
}

// Bucket is a period of a time series.
type Bucket struct {
	Start time.Time
	Totals
}

// Row is a row of a table.
type Row struct {
	Value string
	Totals
	Previous *int64   // the table's metric in the compared period
	Article  *Article // of a page
	Property string   // whose value it is
	Label    string   // what people call the value
	// ConversionRate is conversions divided by the site's visits.
	ConversionRate *float64
}

// TableResult is a table, with the largest values first or in order of time.
type TableResult struct {
	By     Table
	Metric string // that rows are ordered by: views or visits
	Rows   []Row
	// Rest is what the rows lack to the totals of the site; nil where values overlap
	// or some are unknown.
	Rest *int64
	// WithoutArticle is the number of views of pages without an article, in tables of
	// articles.
	WithoutArticle *int64
}

// Unavailable is a table that a report lacks.
type Unavailable struct {
	By           Table
	Code, Reason string
}

// Period is a range of days with its totals and time series.
type Period struct {
	From, To counter.Day  // included
	Imported *counter.Day // the last day that was imported; what imports lack is unknown
	Until    *time.Time   // the end, if the last day is not over or is cut to compare it with one that is not
	Totals
	Series []Bucket
}

// Report is the answer to a query.
type Report struct {
	Query
	UpdatedAt   time.Time // counts until then are included
	Grain       Table     // of the series: Hours, Days or Months
	Period      Period
	Compared    *Period
	Tables      []TableResult
	Unavailable []Unavailable
}

// Store reads the counts. to is not included.
type Store interface {
	Time(ctx context.Context) (time.Time, error)
	ReportUpdatedAt(ctx context.Context) (time.Time, error)
	ReportDays(ctx context.Context, site uuid.UUID, from, to counter.Day) ([]DayTotals, error)
	ReportHours(ctx context.Context, site uuid.UUID, from, to time.Time) ([]Bucket, error)
	ReportDimensions(ctx context.Context, site uuid.UUID, dimensions []string, from, to counter.Day) (map[string][]Row,
		error)
	// ReportValueDays returns one row per day and value that was counted.
	ReportValueDays(ctx context.Context, site uuid.UUID, dimension string, values []string,
		from, to counter.Day) ([]DayTotals, error)
	// ReportPages reads the pages with the most views and those with the most visits.
	// Completed months have lists of their own, with more pages than days.
	ReportPages(ctx context.Context, site uuid.UUID, r PageRange, limit int) ([]Row, error)
	ReportNamedPages(ctx context.Context, site uuid.UUID, r PageRange, names []string) ([]Row, error)
	// ReportPageEngagement reads the engagement of pages by name.
	ReportPageEngagement(ctx context.Context, site uuid.UUID, r PageRange,
		names []string) (map[string]*counter.EngagementDelta, error)
	SelectionStore
	ArticleStore
	EventStore
	// ReportPosts reads clicks on the short links of posts that lead to the site, and
	// the visits that started with them, by post, account or network.
	ReportPosts(ctx context.Context, site uuid.UUID, by string, from, to counter.Day, limit int) ([]Row, error)
}

// SelectionStore reads the views of some pages.
type SelectionStore interface {
	// ReportSelection returns the ids of the pages of a selection, up to limit.
	ReportSelection(ctx context.Context, site uuid.UUID, s Selection, limit int) ([]int64, error)
	// ReportPagesDays reads the totals of pages by day. Visits are those that started at the pages.
	ReportPagesDays(ctx context.Context, site uuid.UUID, pages []int64, from, to counter.Day) ([]DayTotals, error)
	// ReportPagesTable reads the most viewed pages.
	ReportPagesTable(ctx context.Context, site uuid.UUID, pages []int64, from, to counter.Day,
		limit int) ([]Row, error)
	// ReportPagesValueDays returns one row per day and value of a dimension of pages that was counted.
	ReportPagesValueDays(ctx context.Context, pages []int64, dimension string, values []string,
		from, to counter.Day) ([]ValueDay, error)
	ReportPagesValueTable(ctx context.Context, pages []int64, dimension string, values []string,
		from, to counter.Day, limit int) ([]Row, error)
	// ReportPagesDimensions reads the views of pages by country, device and referrer.
	ReportPagesDimensions(ctx context.Context, pages []int64, from, to counter.Day) (map[string][]Row, error)
}

// ValueDay is how often pages were viewed with a value on a day.
type ValueDay struct {
	Value string
	DayTotals
}

// ArticleStore reads the views of articles.
type ArticleStore interface {
	// ReportArticleValues reads the most viewed values of a dimension of articles.
	ReportArticleValues(ctx context.Context, site uuid.UUID, dimension string, from, to counter.Day, limit int) ([]Row,
		error)
	ReportArticleViews(ctx context.Context, site uuid.UUID, dimension string, from, to counter.Day,
		values []string) ([]Row, error)
	// ReportArticlesPublished counts the articles published in a range by value.
	ReportArticlesPublished(ctx context.Context, site uuid.UUID, dimension string, from, to time.Time,
		values []string) (map[string]int64, error)
	// ReportArticleDays returns one row per day and value.
	ReportArticleDays(ctx context.Context, site uuid.UUID, dimension string, values []string,
		from, to counter.Day) ([]DayTotals, error)
	ReportArticlePages(ctx context.Context, site uuid.UUID, dimension string, values []string, r PageRange,
		limit int) ([]Row, error)
	ReportPublished(ctx context.Context, site uuid.UUID, start, end time.Time, from, to counter.Day, limit int) ([]Row,
		error)
	// ReportArticles reads the articles of pages.
	ReportArticles(ctx context.Context, site uuid.UUID, pages []string) (map[string]Article, error)
	ReportLast24Hours(ctx context.Context, site uuid.UUID, since, until time.Time) ([]RecentArticle, error)
}

// DayTotals are the totals of a day.
type DayTotals struct {
	Day        counter.Day
	IsImported bool // from another product, which lacks some numbers
	Totals
}

// PageRange is a range of days with the completed months in it.
type PageRange struct {
	From, To           counter.Day // To is not included
	FromMonth, ToMonth counter.Day // first days of months; equal if there are none
}

// PageDimensionDays is the number of days that dimensions of pages are retained.
const PageDimensionDays = int(flush.PageDimensions / (24 * time.Hour))

// Reporter computes reports.
type Reporter struct{ Store Store }
