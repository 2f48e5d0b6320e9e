package publishing

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/ingest"
	"dateline/internal/publishing/measure"
	"dateline/internal/publishing/postreport"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/publishing/db"
	"dateline/platforms/network"
)

// maxReportParts bounds the memory of a report of posts.
const maxReportParts = 50_000

// ReportLabels returns the names of a workspace's labels and campaigns.
func (s *MetricsStore) ReportLabels(ctx context.Context, workspaceID uuid.UUID) (map[uuid.UUID]string, error) {
	labels, err := s.labels().Labels(ctx, workspaceID)
	names := map[uuid.UUID]string{}
	for _, l := range labels {
		names[l.ID] = l.Name
	}
	return names, err
}

// PostReportRows reads the posts of a period by account, the newest first, with their
// latest metrics and what tracked links show.
func (s *MetricsStore) PostReportRows(
	ctx context.Context, workspaceID uuid.UUID, from, to time.Time,
) ([]postreport.Row, error) {
	parts, err := s.q.PostReportParts(ctx, db.PostReportPartsParams{
		WorkspaceID: workspaceID, FromTime: from, ToTime: to, Rows: maxReportParts,
	})
	if err != nil {
		return nil, err
	}
	var rows []postreport.Row
	single := map[uuid.UUID]bool{} // posts on one account
	var posts []uuid.UUID
	for i := range parts {
		p := &parts[i]
		if last := len(rows) - 1; last < 0 || rows[last].PostID != p.PostID || rows[last].AccountID != p.AccountID {
			rows = append(rows, postreport.Row{
				PostID: p.PostID, AccountID: p.AccountID, Account: p.AccountName,
				Network: p.Network, Content: p.Content,
				PostedAt: p.PostedAt.UTC(), LabelIDs: p.LabelIds, Metrics: map[network.Metric]int64{},
			})
			single[p.PostID] = p.Targets == 1
			posts = append(posts, p.PostID)
		}
		if err := addPart(&rows[len(rows)-1], p); err != nil {
			return nil, err
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	slices.SortFunc(posts, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	posts = slices.Compact(posts)
	first := counter.Day(from.Unix() / 86400) //nolint:gosec // days of this era
	if err := s.addReportLinks(ctx, workspaceID, posts, first, rows); err != nil {
		return nil, err
	}
	return rows, s.addReportConversions(ctx, workspaceID, posts, single, rows)
}

// addPart adds a part of a thread. What people did is added up; views and reach are
// those of the first part, because the same people see the others.
func addPart(row *postreport.Row, p *db.PostReportPartsRow) error {
	var latest map[network.Metric]int64
	if err := json.Unmarshal(p.Latest, &latest); err != nil {
		return err
	}
	for name, value := range latest {
		if p.Segment == 0 || name != network.MetricViews && name != network.MetricReach {
			row.Metrics[name] += value
		}
	}
	if p.Segment == 0 {
		row.MeasuredAt, row.IsDeleted = column.Time(p.MeasuredAt), measure.State(p.State) == measure.Deleted
	}
	return nil
}

// addReportLinks adds clicks, visits and engagement, and the article that the first link to a site
// of the workspace leads to.
func (s *MetricsStore) addReportLinks(
	ctx context.Context, workspaceID uuid.UUID, posts []uuid.UUID, first counter.Day, rows []postreport.Row,
) error {
	links, err := s.q.PostReportLinks(ctx, db.PostReportLinksParams{
		WorkspaceID: workspaceID, Posts: posts, FromDay: dateOrNull(first.Time()),
	})
	if err != nil {
		return err
	}
	type target struct{ post, account uuid.UUID }
	byTarget := map[target][]*db.PostReportLinksRow{}
	var urls, pages []string
	for i := range links {
		l := &links[i]
		if l.AccountID == nil {
			continue
		}
		key := target{l.PostID, *l.AccountID}
		byTarget[key] = append(byTarget[key], l)
		if page, problem := ingest.PageName(l.Url); problem == nil && l.Visits >= 0 && !slices.Contains(urls, l.Url) {
			urls, pages = append(urls, l.Url), append(pages, page)
		}
	}
	articles, err := s.reportArticles(ctx, workspaceID, urls, pages)
	if err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		var engagement *counter.EngagementDelta
		for _, l := range byTarget[target{r.PostID, r.AccountID}] {
			r.Clicks = plus(r.Clicks, l.Clicks)
			if l.Visits >= 0 {
				r.Visits = plus(r.Visits, l.Visits)
			}
			engagement = engagement.Plus(column.Engagement(l.Engaged, l.Scrolled))
			if a := articles[l.Url]; a != nil && r.ArticleID == nil {
				r.ArticleID, r.Title, r.Authors, r.Section = &a.ArticleID, a.Title, a.Authors, a.Section
			}
		}
		if engagement != nil {
			median, completed := engagement.Median().Seconds(), engagement.CompletionRate()
			r.MedianSeconds, r.CompletionRate = &median, &completed
		}
	}
	return nil
}

func plus(sum *int64, more int64) *int64 {
	if sum != nil {
		more += *sum
	}
	return &more
}

func (s *MetricsStore) reportArticles(
	ctx context.Context, workspaceID uuid.UUID, urls, pages []string,
) (map[string]*db.PostReportArticlesRow, error) {
	found := map[string]*db.PostReportArticlesRow{}
	if len(urls) == 0 {
		return found, nil
	}
	rows, err := s.q.PostReportArticles(ctx, db.PostReportArticlesParams{
		WorkspaceID: workspaceID, Urls: urls, Pages: pages,
	})
	for i := range rows {
		if found[rows[i].Url] == nil {
			found[rows[i].Url] = &rows[i]
		}
	}
	return found, err
}

// addReportConversions adds conversions to posts that are on one account.
func (s *MetricsStore) addReportConversions(
	ctx context.Context, workspaceID uuid.UUID, posts []uuid.UUID, single map[uuid.UUID]bool, rows []postreport.Row,
) error {
	pages := make([]string, len(posts))
	for i, id := range posts {
		pages[i] = id.String()
	}
	found, err := s.q.PostReportConversions(ctx, db.PostReportConversionsParams{WorkspaceID: workspaceID, Pages: pages})
	if err != nil {
		return err
	}
	conversions := map[string]int64{}
	for _, c := range found {
		conversions[c.Page] = c.Conversions
	}
	for i := range rows {
		if n, ok := conversions[rows[i].PostID.String()]; ok && single[rows[i].PostID] {
			rows[i].Conversions = &n
		}
	}
	return nil
}
