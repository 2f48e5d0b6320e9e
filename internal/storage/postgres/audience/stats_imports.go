package audience

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/site"
	"dateline/internal/audience/statsimport"
	"dateline/internal/identity/audit"
	"dateline/internal/infra/apperr"
	"dateline/internal/storage/postgres/audience/db"
	"dateline/internal/storage/postgres/tx"
)

// FirstSiteDay returns the first day of a site that Dateline itself counted.
func (s *SiteStore) FirstSiteDay(ctx context.Context, siteID uuid.UUID) (day counter.Day, found bool, err error) {
	at, err := s.q.FirstSiteDay(ctx, siteID)
	day = dayOf(at)
	return day, err == nil && day != noDay(), err
}

// noDay stands for no day in answers of FirstSiteDay.
func noDay() counter.Day { return counter.DayOf(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)) }

// AddStatsImport stores an import unless another one has days in its range.
func (s *SiteStore) AddStatsImport(
	ctx context.Context, i statsimport.Import, d *statsimport.Data,
) (made statsimport.Import, err error) {
	err = s.lockedSite(ctx, i.WorkspaceID, i.SiteID, func(q *queries, w site.Site) error {
		row, err := q.InsertStatsImport(ctx, db.InsertStatsImportParams{
			ID: i.ID, WorkspaceID: i.WorkspaceID,
			SiteID: i.SiteID, Source: string(i.Source),
			FromDay: dateOf(i.From), ToDay: dateOf(i.To), Views: i.Views,
		})
		if tx.NoRows(err) {
			return &apperr.Error{
				Kind: apperr.KindConflict, Code: "already_imported",
				Message: "Another import has days in this range. Delete it first.",
			}
		}
		if err != nil {
			return err
		}
		made = importFromRow(row)
		if err := addImportedRows(ctx, q, i, d); err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, i.WorkspaceID, audit.StatsImported, "site", i.SiteID, map[string]any{
			"name": w.Name, "source": i.Source,
		})
	})
	return made, err
}

func addImportedRows(ctx context.Context, q *queries, i statsimport.Import, d *statsimport.Data) error {
	days := db.InsertImportedDaysParams{SiteID: i.SiteID, ImportID: i.ID}
	for day, t := range d.Days {
		days.Days, days.Views, days.Visitors = append(days.Days, dateOf(day)), append(days.Views,
			t.Views), append(days.Visitors, t.Visitors)
		days.Visits, days.SecondViews = append(days.Visits, t.Visits), append(days.SecondViews, t.Visits-t.Bounces)
		days.WithoutVisits = append(days.WithoutVisits, t.WithoutVisits)
	}
	if err := q.InsertImportedDays(ctx, days); err != nil {
		return err
	}
	values := db.InsertImportedValuesParams{SiteID: i.SiteID, ImportID: i.ID}
	for key, t := range d.Values {
		values.Days, values.Dimensions, values.Names = append(values.Days, dateOf(key.Day)), append(values.Dimensions,
			key.Dimension), append(values.Names, key.Value)
		values.Views, values.Visits = append(values.Views, t.Views), append(values.Visits, t.Visits)
	}
	if err := q.InsertImportedValues(ctx, values); err != nil {
		return err
	}
	pages := db.InsertImportedPageDaysParams{SiteID: i.SiteID, ImportID: i.ID}
	for key, t := range d.Pages {
		pages.Days, pages.Pages, pages.Views = append(pages.Days, dateOf(key.Day)), append(pages.Pages,
			key.Page), append(pages.Views, t.Views)
		pages.Visitors, pages.Entries = append(pages.Visitors, t.Visitors), append(pages.Entries, t.Entries)
	}
	if err := q.AddImportedPages(ctx, db.AddImportedPagesParams{SiteID: i.SiteID, Pages: pages.Pages}); err != nil {
		return err
	}
	if err := q.InsertImportedPageDays(ctx, pages); err != nil {
		return err
	}
	return q.InsertImportedPageMonths(ctx, db.InsertImportedPageMonthsParams{SiteID: i.SiteID, ImportID: i.ID})
}

// StatsImports lists the imports of a site, the oldest first.
func (s *SiteStore) StatsImports(ctx context.Context, workspace, siteID uuid.UUID) ([]statsimport.Import, error) {
	if _, err := s.Site(ctx, workspace, siteID); err != nil {
		return nil, err
	}
	rows, err := s.q.ListStatsImports(ctx, db.ListStatsImportsParams{SiteID: siteID, WorkspaceID: workspace})
	list := make([]statsimport.Import, len(rows))
	for i, r := range rows {
		list[i] = importFromRow(r)
	}
	return list, err
}

// DeleteStatsImport deletes an import with all its rows.
func (s *SiteStore) DeleteStatsImport(ctx context.Context, workspace, siteID, id uuid.UUID) error {
	return s.inTx(ctx, func(q *queries) error {
		source, err := q.DeleteStatsImport(ctx, db.DeleteStatsImportParams{
			ID: id, SiteID: siteID, WorkspaceID: workspace,
		})
		if err != nil {
			return tx.OrNotFound(err, "import")
		}
		if err := q.DeleteImportedDays(ctx, db.DeleteImportedDaysParams{SiteID: siteID, ImportID: id}); err != nil {
			return err
		}
		if err := q.DeleteImportedValues(ctx, db.DeleteImportedValuesParams{SiteID: siteID, ImportID: id}); err != nil {
			return err
		}
		if err := q.DeleteImportedPageDays(ctx,
			db.DeleteImportedPageDaysParams{SiteID: siteID, ImportID: id}); err != nil {
			return err
		}
		if err := q.DeleteImportedPageMonths(ctx,
			db.DeleteImportedPageMonthsParams{SiteID: siteID, ImportID: id}); err != nil {
			return err
		}
		return tx.Record(ctx, q.tx, workspace, audit.StatsImportDeleted, "site", siteID,
			map[string]any{"source": source})
	})
}

func importFromRow(r db.StatsImport) statsimport.Import {
	return statsimport.Import{
		ID: r.ID, WorkspaceID: r.WorkspaceID, SiteID: r.SiteID,
		Source: statsimport.Source(r.Source), From: dayOf(r.FromDay), To: dayOf(r.ToDay),
		Views: r.Views, CreatedAt: r.CreatedAt,
	}
}
