// Package postreport reports how published posts did, from impression to reading: what
// the network shows (views, engagement), clicks on tracked links, and what the readers
// who came did on the workspace's own sites.
//
// A number that is not known is nil, never zero: totals say for how many posts a number
// is known.
package postreport

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/apperr"
	"dateline/platforms/network"
)

// Dimension is what a report is grouped by.
type Dimension string

// The dimensions. ByPost has one row per post and account.
const (
	ByPost    Dimension = "post"
	ByAccount Dimension = "account"
	ByNetwork Dimension = "network"
	ByHour    Dimension = "hour"    // of the day at which a post was published, in the workspace's time zone
	ByWeekday Dimension = "weekday" // 1 (Monday) to 7
	ByLabel   Dimension = "label"
	ByAuthor  Dimension = "author"  // of the linked article
	BySection Dimension = "section" // likewise
)

// Metric is a number by which groups are compared.
type Metric string

// The metrics.
const (
	Views      Metric = "views"
	Reach      Metric = "reach"
	Engagement Metric = "engagement"
	Clicks     Metric = "clicks"
	Visits     Metric = "visits"
)

// Row is one post on one account.
type Row struct {
	PostID      uuid.UUID
	AccountID   uuid.UUID
	Account     string
	Network     string
	Content     string
	PostedAt    time.Time
	LabelIDs    []uuid.UUID
	ArticleID   *uuid.UUID
	Title       string
	Authors     []string
	Section     string
	IsDeleted   bool                     // at the network
	MeasuredAt  time.Time                // zero: never
	Metrics     map[network.Metric]int64 // as the network reports them
	Clicks      *int64                   // on the post's short links; nil: it has none
	Visits      *int64                   // that started with them; nil: they lead to no site of the workspace
	Conversions *int64                   // nil: none were reported, or they cannot be assigned to one account
	// MedianSeconds and CompletionRate are those of the views that the post's short
	// links opened; nil: none of them sent a heartbeat.
	MedianSeconds  *float64
	CompletionRate *float64
}

// Value returns a number of the row; nil: it is not known.
func (r *Row) Value(m Metric) *int64 {
	switch m {
	case Views:
		return r.metric(network.MetricViews)
	case Reach:
		return r.metric(network.MetricReach)
	case Engagement:
		return r.engagement()
	case Clicks:
		return r.Clicks
	case Visits:
		return r.Visits
	default:
		return nil
	}
}

func (r *Row) metric(name network.Metric) *int64 {
	if v, ok := r.Metrics[name]; ok {
		return &v
	}
	return nil
}

// engagement is the sum of what people did with the post at the network, besides
// clicks; nil: the network reports none of it.
func (r *Row) engagement() *int64 {
	sum, known := int64(0), false
	for _, name := range []network.Metric{
		network.MetricLikes, network.MetricReplies, network.MetricReposts,
		network.MetricQuotes,
		network.MetricSaves, network.MetricSends,
	} {
		if v, ok := r.Metrics[name]; ok {
			sum, known = sum+v, true
		}
	}
	if !known {
		return nil
	}
	return &sum
}

// Query selects posts.
type Query struct {
	WorkspaceID uuid.UUID
	Zone        *time.Location // of hours and weekdays
	From, To    time.Time      // when posts were published; To is excluded
	By          Dimension
	Metric      Metric
	Limit       int // rows; 0: 100
}

// MaxPeriod is the longest period of a report.
const MaxPeriod = 366 * 24 * time.Hour

func (q *Query) check() error {
	if q.Limit == 0 {
		q.Limit = 100
	}
	if q.By == "" {
		q.By = ByPost
	}
	if q.Metric == "" {
		q.Metric = Engagement
	}
	if q.Zone == nil {
		q.Zone = time.UTC
	}
	switch {
	case !q.To.After(q.From):
		return apperr.InvalidFields(apperr.FieldError{
			Field: "to", Code: "invalid", Message: "The end must be after the start.",
		})
	case q.To.Sub(q.From) > MaxPeriod:
		return apperr.InvalidFields(apperr.FieldError{
			Field: "from", Code: "too_long", Message: "A report covers at most 366 days.",
		})
	}
	return nil
}

// Store reads the rows of a period, the newest first.
type Store interface {
	PostReportRows(ctx context.Context, workspaceID uuid.UUID, from, to time.Time) ([]Row, error)
	// ReportLabels returns the names of a workspace's labels and campaigns.
	ReportLabels(ctx context.Context, workspaceID uuid.UUID) (map[uuid.UUID]string, error)
}

// Reporter computes reports.
type Reporter struct {
	Store Store
}

// Report is the result of a Query: rows of posts, or groups.
type Report struct {
	Query

	Posts  int // on accounts, in the period
	Rows   []Row
	Groups []Group
	// Average is the mean of the metric over all posts with it; nil: it is known for
	// none.
	Average *float64
}

// Report computes a report.
func (r *Reporter) Report(ctx context.Context, q Query) (Report, error) {
	if err := q.check(); err != nil {
		return Report{}, err
	}
	rows, labels, err := r.read(ctx, q)
	if err != nil {
		return Report{}, err
	}
	out := Report{Query: q, Posts: len(rows), Average: average(rows, q.Metric)}
	if q.By == ByPost {
		slices.SortStableFunc(rows, func(a, b Row) int { return compareKnown(b.Value(q.Metric), a.Value(q.Metric)) })
		out.Rows = rows[:min(len(rows), q.Limit)]
		return out, nil
	}
	out.Groups = groups(rows, q.By, q.Metric, q.Zone, labels)
	out.Groups = out.Groups[:min(len(out.Groups), q.Limit)]
	return out, nil
}

// read reads the rows, and the names of labels if they are needed.
func (r *Reporter) read(ctx context.Context, q Query) ([]Row, map[uuid.UUID]string, error) {
	rows, err := r.Store.PostReportRows(ctx, q.WorkspaceID, q.From, q.To)
	if err != nil {
		return nil, nil, err
	}
	labels, err := r.Store.ReportLabels(ctx, q.WorkspaceID)
	return rows, labels, err
}

// compareKnown orders numbers; unknown ones come before all others.
func compareKnown(a, b *int64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return -1
	case b == nil:
		return 1
	default:
		return cmp.Compare(*a, *b)
	}
}

// key is a value of a dimension and its name.
type key struct{ value, label string }

// keysOf returns the groups of a row: several labels or authors, or none.
func keysOf(r *Row, by Dimension, zone *time.Location, labels map[uuid.UUID]string) []key {
	at := r.PostedAt.In(zone)
	switch by {
	case ByAccount:
		return []key{{r.AccountID.String(), r.Account}}
	case ByNetwork:
		return []key{{r.Network, ""}}
	case ByHour:
		return []key{{strconv.Itoa(at.Hour()), ""}}
	case ByWeekday:
		return []key{{strconv.Itoa((int(at.Weekday())+6)%7 + 1), ""}}
	case ByLabel:
		var keys []key
		for _, id := range r.LabelIDs {
			if name, ok := labels[id]; ok {
				keys = append(keys, key{id.String(), name})
			}
		}
		return keys
	case ByAuthor:
		var keys []key
		for _, name := range r.Authors {
			keys = append(keys, key{name, ""})
		}
		return keys
	case BySection:
		if r.Section == "" {
			return nil
		}
		return []key{{r.Section, ""}}
	default:
		return nil
	}
}
