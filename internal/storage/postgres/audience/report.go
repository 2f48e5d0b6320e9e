package audience

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/report"
	"dateline/internal/storage/postgres/audience/db"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/tx"
)

// ReportUpdatedAt returns the time of the last flush.
func (s *ReportStore) ReportUpdatedAt(ctx context.Context) (time.Time, error) {
	at, err := s.q.ReportUpdatedAt(ctx)
	return at.UTC(), err
}

// ReportDays reads the totals of a site by day.
func (s *ReportStore) ReportDays(
	ctx context.Context, site uuid.UUID, from, to counter.Day,
) ([]report.DayTotals, error) {
	rows, err := s.q.ReportDays(ctx, db.ReportDaysParams{SiteID: site, FromDay: dateOf(from), ToDay: dateOf(to)})
	days := make([]report.DayTotals, len(rows))
	for i := range rows {
		r := &rows[i]
		days[i] = report.DayTotals{Day: dayOf(r.Day), Totals: report.Totals{
			Views: &r.Views, Visitors: &r.Visitors,
			Visits: &r.Visits, SecondViews: &r.SecondViews,
			EngagedVisits: &r.EngagedVisits, Recirculation: &r.Recirculation, Clicks: &r.Clicks,
			Conversions: &r.Conversions,
			Engagement:  column.Engagement(r.Engaged, r.Scrolled),
		}}
		if r.ImportID != nil { // no import has these numbers
			days[i].IsImported, days[i].Recirculation, days[i].Clicks, days[i].Conversions = true, nil, nil, nil
		}
		if r.WithoutVisits {
			days[i].Visitors, days[i].Visits, days[i].SecondViews, days[i].EngagedVisits = nil, nil, nil, nil
		}
	}
	return days, err
}

// ReportHours reads the totals of a site by hour. Visitors are those of the day
// until the end of the hour.
func (s *ReportStore) ReportHours(ctx context.Context, site uuid.UUID, from, to time.Time) ([]report.Bucket, error) {
	rows, err := s.q.ReportHours(ctx, db.ReportHoursParams{SiteID: site, FromHour: from, ToHour: to})
	hours := make([]report.Bucket, len(rows))
	for i := range rows {
		r := &rows[i]
		hours[i] = report.Bucket{Start: r.Hour, Totals: report.Totals{
			Views: &r.Views, Visitors: &r.DayVisitors,
			Visits: &r.Visits, SecondViews: &r.SecondViews,
			EngagedVisits: &r.EngagedVisits, Recirculation: &r.Recirculation, Clicks: &r.Clicks,
			Conversions: &r.Conversions,
		}}
	}
	return hours, err
}

// ReportDimensions reads the visits of a site by the values of dimensions, and
// its views by country and device.
func (s *ReportStore) ReportDimensions(
	ctx context.Context, site uuid.UUID, dimensions []string, from, to counter.Day,
) (map[string][]report.Row, error) {
	rows, err := s.q.ReportDimensions(ctx, db.ReportDimensionsParams{
		SiteID: site, Dimensions: dimensions, FromDay: dateOf(from), ToDay: dateOf(to),
	})
	tables := map[string][]report.Row{}
	for i := range rows {
		r := &rows[i]
		row := report.Row{Value: r.Value, Totals: report.Totals{Visits: &r.Visits}}
		if hasViews(r.Dimension) {
			row.Views = &r.Views
		}
		tables[r.Dimension] = append(tables[r.Dimension], row)
	}
	return tables, err
}

// hasViews reports whether a site's views are counted by a dimension. The others
// are those of visits.
func hasViews(dimension string) bool {
	return dimension == counter.Country || dimension == counter.Device
}

// ReportValueDays reads the visits of values of a dimension by day.
func (s *ReportStore) ReportValueDays(
	ctx context.Context, site uuid.UUID, dimension string, values []string, from, to counter.Day,
) ([]report.DayTotals, error) {
	rows, err := s.q.ReportValueDays(ctx, db.ReportValueDaysParams{
		SiteID: site, Dimension: dimension, Values: values, FromDay: dateOf(from), ToDay: dateOf(to),
	})
	days := make([]report.DayTotals, len(rows))
	for i := range rows {
		r := &rows[i]
		days[i] = report.DayTotals{Day: dayOf(r.Day), Totals: report.Totals{Visits: &r.Visits}}
		if hasViews(dimension) {
			days[i].Views = &r.Views
		}
	}
	return days, err
}

// ReportPages reads the most viewed pages of a site, and those where most visits
// started, in no order.
func (s *ReportStore) ReportPages(
	ctx context.Context, site uuid.UUID, r report.PageRange, limit int,
) ([]report.Row, error) {
	var rows []db.ReportPagesRow
	// A year has some ten thousand pages to sum up. Planned for far fewer, because
	// their number is unknown to Postgres, the query would sort on disk.
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx,
			"set local work_mem = '16MB'; set local max_parallel_workers_per_gather = 0"); err != nil {
			return err
		}
		var err error
		rows, err = s.q.WithTx(tx).ReportPages(ctx, db.ReportPagesParams{
			SiteID: site, FromDay: dateOf(r.From),
			ToDay: dateOf(r.To), FromMonth: dateOf(r.FromMonth), ToMonth: dateOf(r.ToMonth),
			Rows: limit,
		})
		return err
	})
	pages := make([]report.Row, len(rows))
	for i, row := range rows {
		pages[i] = pageRow(row)
	}
	return pages, err
}

// ReportNamedPages reads the totals of pages that the lists have.
func (s *ReportStore) ReportNamedPages(
	ctx context.Context, site uuid.UUID, r report.PageRange, names []string,
) ([]report.Row, error) {
	rows, err := s.q.ReportNamedPages(ctx, db.ReportNamedPagesParams{
		SiteID: site, FromDay: dateOf(r.From),
		ToDay: dateOf(r.To), FromMonth: dateOf(r.FromMonth), ToMonth: dateOf(r.ToMonth),
		Pages: names,
	})
	pages := make([]report.Row, len(rows))
	for i, row := range rows {
		pages[i] = pageRow(db.ReportPagesRow(row))
	}
	return pages, err
}

// ReportPageEngagement reads the engagement of pages that the lists have.
func (s *ReportStore) ReportPageEngagement(
	ctx context.Context, site uuid.UUID, r report.PageRange, names []string,
) (map[string]*counter.EngagementDelta, error) {
	rows, err := s.q.ReportPageEngagement(ctx, db.ReportPageEngagementParams{
		SiteID: site, FromDay: dateOf(r.From),
		ToDay: dateOf(r.To), FromMonth: dateOf(r.FromMonth), ToMonth: dateOf(r.ToMonth),
		Pages: column.List(names),
	})
	pages := map[string]*counter.EngagementDelta{}
	for _, row := range rows {
		pages[row.Page] = pages[row.Page].Plus(column.Engagement(row.Engaged, row.Scrolled))
	}
	return pages, err
}

func pageRow(r db.ReportPagesRow) report.Row {
	return report.Row{Value: r.Page, Totals: report.Totals{
		Views: &r.Views, Visitors: &r.Visitors, Visits: &r.Entries, Recirculation: &r.Recirculation,
	}}
}

// ReportSelection returns the ids of the pages of a selection.
func (s *ReportStore) ReportSelection(
	ctx context.Context, site uuid.UUID, of report.Selection, limit int,
) ([]int64, error) {
	if len(of.Authors)+len(of.Sections)+len(of.Tags) == 0 {
		return s.q.ReportPageIDs(ctx, db.ReportPageIDsParams{SiteID: site, Pages: of.Pages, MaxPages: limit})
	}
	return s.q.ReportArticlePageIDs(ctx, db.ReportArticlePageIDsParams{
		SiteID: site, Pages: column.List(of.Pages), Authors: column.List(of.Authors),
		Sections: column.List(of.Sections), Tags: column.List(of.Tags), MaxPages: limit,
	})
}

// ReportPagesDays reads the totals of pages by day.
func (s *ReportStore) ReportPagesDays(
	ctx context.Context, site uuid.UUID, pages []int64, from, to counter.Day,
) ([]report.DayTotals, error) {
	rows, err := s.q.ReportPagesDays(ctx, db.ReportPagesDaysParams{
		SiteID: site, PageIds: column.List(pages), FromDay: dateOf(from), ToDay: dateOf(to),
	})
	days := make([]report.DayTotals, len(rows))
	for i := range rows {
		r := &rows[i]
		days[i] = report.DayTotals{Day: dayOf(r.Day), Totals: report.Totals{
			Views: &r.Views, Visitors: &r.Visitors, Visits: &r.Entries,
			Recirculation: &r.Recirculation, Clicks: &r.Clicks, Conversions: &r.Conversions,
			Engagement: column.Engagement(r.Engaged, r.Scrolled),
		}}
		if r.Imported {
			days[i].IsImported, days[i].Visits, days[i].Recirculation, days[i].Clicks, days[i].Conversions = true, nil,
				nil, nil, nil
		}
	}
	return days, err
}

// ReportPagesTable reads the most viewed pages.
func (s *ReportStore) ReportPagesTable(
	ctx context.Context, site uuid.UUID, pages []int64, from, to counter.Day, limit int,
) ([]report.Row, error) {
	rows, err := s.q.ReportPagesTable(ctx, db.ReportPagesTableParams{
		SiteID: site, PageIds: column.List(pages), FromDay: dateOf(from), ToDay: dateOf(to), Rows: limit,
	})
	table := make([]report.Row, len(rows))
	for i := range rows {
		r := &rows[i]
		table[i] = report.Row{Value: r.Page, Totals: report.Totals{
			Views: &r.Views, Visitors: &r.Visitors, Visits: &r.Entries, Recirculation: &r.Recirculation,
		}}
	}
	return table, err
}

// ReportPagesValueDays reads the views of pages with values of a dimension by day.
func (s *ReportStore) ReportPagesValueDays(
	ctx context.Context, pages []int64, dimension string, values []string, from, to counter.Day,
) ([]report.ValueDay, error) {
	rows, err := s.q.ReportPagesValueDays(ctx, db.ReportPagesValueDaysParams{
		PageIds: column.List(pages), Dimension: dimension, Values: values, FromDay: dateOf(from), ToDay: dateOf(to),
	})
	days := make([]report.ValueDay, len(rows))
	for i := range rows {
		days[i] = report.ValueDay{Value: rows[i].Value, DayTotals: report.DayTotals{
			Day: dayOf(rows[i].Day), Totals: report.Totals{Views: &rows[i].Views},
		}}
	}
	return days, err
}

// ReportPagesValueTable reads the pages that were viewed most with values of a dimension.
func (s *ReportStore) ReportPagesValueTable(
	ctx context.Context, pages []int64, dimension string, values []string, from, to counter.Day, limit int,
) ([]report.Row, error) {
	rows, err := s.q.ReportPagesValueTable(ctx, db.ReportPagesValueTableParams{
		PageIds: column.List(pages), Dimension: dimension, Values: values, FromDay: dateOf(from), ToDay: dateOf(to),
		Rows: limit,
	})
	table := make([]report.Row, len(rows))
	for i := range rows {
		table[i] = report.Row{Value: rows[i].Page, Totals: report.Totals{Views: &rows[i].Views}}
	}
	return table, err
}

// ReportPagesDimensions reads the views of pages by country, device and referrer.
func (s *ReportStore) ReportPagesDimensions(
	ctx context.Context, pages []int64, from, to counter.Day,
) (map[string][]report.Row, error) {
	rows, err := s.q.ReportPagesDimensions(ctx, db.ReportPagesDimensionsParams{
		PageIds: column.List(pages), FromDay: dateOf(from), ToDay: dateOf(to),
	})
	tables := map[string][]report.Row{}
	for i := range rows {
		r := &rows[i]
		tables[r.Dimension] = append(tables[r.Dimension], report.Row{
			Value: r.Value, Totals: report.Totals{Views: &r.Views},
		})
	}
	return tables, err
}

// Time returns the time of the database's clock.
func (s *ReportStore) Time(ctx context.Context) (time.Time, error) { return tx.Time(ctx, s.pool) }
