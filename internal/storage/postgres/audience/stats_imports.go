package audience

import (
	"context"
	"maps"
	"slices"
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

// StartStatsImport records that an import is in progress.
func (s *SiteStore) StartStatsImport(ctx context.Context, i statsimport.Import) error {
	return s.q.StartStatsImport(ctx, db.StartStatsImportParams{
		ID: i.ID, WorkspaceID: i.WorkspaceID, SiteID: i.SiteID, Source: string(i.Source),
	})
}

// UpdateStatsImport stores the progress of an import and reports whether it is not canceled.
func (s *SiteStore) UpdateStatsImport(ctx context.Context, id uuid.UUID, done, total int64) (bool, error) {
	n, err := s.q.UpdateStatsImport(ctx, db.UpdateStatsImportParams{ID: id, Done: done, Total: total})
	return n == 1, err
}

// EndStatsImport ends an import that failed.
func (s *SiteStore) EndStatsImport(ctx context.Context, id uuid.UUID) error {
	_, err := s.q.EndStatsImport(ctx, id)
	return err
}

// AddStatsImport stores an import unless another one has days in its range, or it is
// canceled in the meantime.
func (s *SiteStore) AddStatsImport(
	ctx context.Context, i statsimport.Import, d *statsimport.Data, progress func(rows int64) error,
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
		if err := (&importedRows{queries: q, Import: i, progress: progress}).add(ctx, d); err != nil {
			return err
		}
		// From here on it cannot be canceled: a cancellation waits for the end of the transaction.
		if n, err := q.EndStatsImport(ctx, i.ID); err != nil {
			return err
		} else if n == 0 {
			return statsimport.ErrCanceled
		}
		return tx.Record(ctx, q.tx, i.WorkspaceID, audit.StatsImported, "site", i.SiteID, map[string]any{
			"name": w.Name, "source": i.Source,
		})
	})
	return made, err
}

// importedRows adds the rows of an import.
type importedRows struct {
	*queries
	statsimport.Import
	rows     int64
	progress func(rows int64) error
}

// importBatch is the number of rows that a statement adds.
const importBatch = 5_000

// added reports that more rows are added.
func (r *importedRows) added(n int) error {
	r.rows += int64(n)
	return r.progress(r.rows)
}

func (r *importedRows) add(ctx context.Context, d *statsimport.Data) error {
	for days := range slices.Chunk(slices.Collect(maps.Keys(d.Days)), importBatch) {
		if err := r.addDays(ctx, d, days); err != nil {
			return err
		}
	}
	for values := range slices.Chunk(slices.Collect(maps.Keys(d.Values)), importBatch) {
		if err := r.addValues(ctx, d, values); err != nil {
			return err
		}
	}
	// In one statement, which inserts them in the order of flushes: in parts, both could wait for each other.
	names := map[string]bool{}
	for key := range d.Pages {
		names[key.Page] = true
	}
	if err := r.AddImportedPages(ctx, db.AddImportedPagesParams{
		SiteID: r.SiteID, Pages: slices.Collect(maps.Keys(names)),
	}); err != nil {
		return err
	}
	for pages := range slices.Chunk(slices.Collect(maps.Keys(d.Pages)), importBatch) {
		if err := r.addPages(ctx, d, pages); err != nil {
			return err
		}
	}
	return r.InsertImportedPageMonths(ctx, db.InsertImportedPageMonthsParams{SiteID: r.SiteID, ImportID: r.ID})
}

func (r *importedRows) addDays(ctx context.Context, d *statsimport.Data, keys []counter.Day) error {
	days := db.InsertImportedDaysParams{SiteID: r.SiteID, ImportID: r.ID}
	for _, day := range keys {
		t := d.Days[day]
		days.Days, days.Views, days.Visitors = append(days.Days, dateOf(day)), append(days.Views,
			t.Views), append(days.Visitors, t.Visitors)
		days.Visits, days.SecondViews = append(days.Visits, t.Visits), append(days.SecondViews, t.Visits-t.Bounces)
		days.WithoutVisits = append(days.WithoutVisits, t.WithoutVisits)
	}
	if err := r.InsertImportedDays(ctx, days); err != nil {
		return err
	}
	return r.added(len(keys))
}

func (r *importedRows) addValues(ctx context.Context, d *statsimport.Data, keys []statsimport.ValueDay) error {
	values := db.InsertImportedValuesParams{SiteID: r.SiteID, ImportID: r.ID}
	for _, key := range keys {
		t := d.Values[key]
		values.Days, values.Dimensions, values.Names = append(values.Days, dateOf(key.Day)), append(values.Dimensions,
			key.Dimension), append(values.Names, key.Value)
		values.Views, values.Visits = append(values.Views, t.Views), append(values.Visits, t.Visits)
	}
	if err := r.InsertImportedValues(ctx, values); err != nil {
		return err
	}
	return r.added(len(keys))
}

func (r *importedRows) addPages(ctx context.Context, d *statsimport.Data, keys []statsimport.PageDay) error {
	pages := db.InsertImportedPageDaysParams{SiteID: r.SiteID, ImportID: r.ID}
	for _, key := range keys {
		t := d.Pages[key]
		pages.Days, pages.Pages, pages.Views = append(pages.Days, dateOf(key.Day)), append(pages.Pages,
			key.Page), append(pages.Views, t.Views)
		pages.Visitors, pages.Entries = append(pages.Visitors, t.Visitors), append(pages.Entries, t.Entries)
	}
	if err := r.InsertImportedPageDays(ctx, pages); err != nil {
		return err
	}
	return r.added(len(keys))
}

// RunningStatsImports lists the imports of a site that are in progress, the oldest first.
func (s *SiteStore) RunningStatsImports(
	ctx context.Context, workspace, siteID uuid.UUID,
) ([]statsimport.Running, error) {
	rows, err := s.q.RunningStatsImports(ctx, db.RunningStatsImportsParams{SiteID: siteID, WorkspaceID: workspace})
	list := make([]statsimport.Running, len(rows))
	for i, r := range rows {
		list[i] = statsimport.Running{
			ID: r.ID, Source: statsimport.Source(r.Source), Done: r.Done, Total: r.Total, StartedAt: r.StartedAt,
		}
	}
	return list, err
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

// DeleteStatsImport deletes an import with all its rows. One that is in progress is canceled.
func (s *SiteStore) DeleteStatsImport(ctx context.Context, workspace, siteID, id uuid.UUID) error {
	canceled, err := s.q.CancelStatsImport(ctx, db.CancelStatsImportParams{
		ID: id, SiteID: siteID, WorkspaceID: workspace,
	})
	if err != nil || canceled == 1 {
		return err
	}
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
