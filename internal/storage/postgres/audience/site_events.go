package audience

import (
	"context"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/report"
	"dateline/internal/storage/postgres/audience/db"
	"dateline/internal/storage/postgres/column"
)

// ReportEvents reads how often the events of a site happened.
func (s *ReportStore) ReportEvents(
	ctx context.Context, site uuid.UUID, from, to counter.Day, limit int,
) ([]report.Row, error) {
	found, err := s.q.ReportEvents(ctx, db.ReportEventsParams{
		SiteID: site, FromDay: dateOf(from), ToDay: dateOf(to), Rows: limit,
	})
	rows := make([]report.Row, len(found))
	for i := range found {
		rows[i] = report.Row{Value: found[i].Event, Totals: report.Totals{Events: &found[i].Count}}
	}
	return rows, err
}

// ReportEventDays reads how often an event happened by day.
func (s *ReportStore) ReportEventDays(
	ctx context.Context, site uuid.UUID, events []string, from, to counter.Day,
) ([]report.DayTotals, error) {
	rows, err := s.q.ReportEventDays(ctx, db.ReportEventDaysParams{
		SiteID: site, Events: events, FromDay: dateOf(from), ToDay: dateOf(to),
	})
	days := make([]report.DayTotals, len(rows))
	for i := range rows {
		days[i] = report.DayTotals{Day: dayOf(rows[i].Day), Totals: report.Totals{Events: &rows[i].Count}}
	}
	return days, err
}

// ReportEventProperties reads the values of an event's properties.
func (s *ReportStore) ReportEventProperties(
	ctx context.Context, site uuid.UUID, events []string, from, to counter.Day, limit int,
) ([]report.Row, error) {
	found, err := s.q.ReportEventProperties(ctx, db.ReportEventPropertiesParams{
		SiteID: site, Events: events, FromDay: dateOf(from), ToDay: dateOf(to), Rows: limit,
	})
	rows := make([]report.Row, len(found))
	for i := range found {
		rows[i] = report.Row{Property: found[i].Property, Value: found[i].Value, Totals: report.Totals{
			Events: &found[i].Count,
		}}
	}
	return rows, err
}

// ReportPosts reads clicks on the short links of posts that lead to a site, and the
// visits that started with them, with the engagement of the views that they opened.
func (s *ReportStore) ReportPosts(
	ctx context.Context, site uuid.UUID, by string, from, to counter.Day, limit int,
) ([]report.Row, error) {
	found, err := s.q.ReportPosts(ctx, db.ReportPostsParams{
		SiteID: site, By: by, FromDay: dateOf(from), ToDay: dateOf(to), Rows: limit,
	})
	rows := make([]report.Row, len(found))
	for i := range found {
		rows[i] = report.Row{
			Value: found[i].Value, Label: found[i].Label,
			Totals: report.Totals{
				Clicks: &found[i].Clicks, Visits: &found[i].Visits,
				Engagement: column.Engagement(found[i].Engaged, found[i].Scrolled),
			},
		}
	}
	return rows, err
}

// ReportGoalPages returns the number of pages whose name is like a pattern, up to
// a limit, and their views.
func (s *ReportStore) ReportGoalPages(
	ctx context.Context, site uuid.UUID, pattern string, from, to counter.Day, limit int,
) (pages, views int64, err error) {
	row, err := s.q.ReportGoalPages(ctx, db.ReportGoalPagesParams{
		SiteID: site, Pattern: pattern, FromDay: dateOf(from), ToDay: dateOf(to), MaxPages: limit,
	})
	return row.Pages, row.Views, err
}
