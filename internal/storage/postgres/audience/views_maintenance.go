package audience

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/infra/apperr"
	"dateline/internal/infra/optional"
	"dateline/internal/storage/postgres/audience/db"
	"dateline/internal/storage/postgres/column"
	"dateline/internal/storage/postgres/tx"
)

// rollupBatchSize is the number of hours, and of days, that are rolled up at a
// time.
const rollupBatchSize = 48

// RollUpViews adds due hours to days, due days to months, and then lists the most
// viewed pages. more reports whether there may be more to roll up.
func (s *ViewStore) RollUpViews(ctx context.Context) (more bool, err error) {
	hours, err := s.q.ViewHoursDue(ctx, rollupBatchSize)
	if err != nil {
		return false, err
	}
	for _, hour := range hours {
		if err := s.rollUpHour(ctx, hour); err != nil {
			return false, err
		}
	}
	if len(hours) > 0 {
		return true, nil // days are due only after all of their hours
	}
	days, err := s.q.ViewDaysDue(ctx, rollupBatchSize)
	if err != nil {
		return false, err
	}
	for _, day := range days {
		needed := partitions{}
		needed.add(viewMonths, day.Time)
		if err := s.withPartitions(ctx, needed, func() error {
			return s.inTx(ctx, func(q *queries) error {
				if _, err := q.DeleteDueViewDay(ctx, day); err != nil {
					return err
				}
				return q.RollUpViewDay(ctx, day)
			})
		}); err != nil {
			return false, err
		}
	}
	if len(days) == rollupBatchSize {
		return true, nil
	}
	return s.listSitePages(ctx)
}

func (s *ViewStore) rollUpHour(ctx context.Context, hour time.Time) error {
	days, err := s.q.ViewDaysOfHour(ctx, hour)
	if err != nil {
		return err
	}
	needed := partitions{}
	for _, day := range days {
		needed.add(viewDays, day.Time)
	}
	return s.withPartitions(ctx, needed, func() error {
		return s.inTx(ctx, func(q *queries) error {
			if _, err := q.DeleteDueViewHour(ctx, hour); err != nil {
				return err
			}
			return q.RollUpViewHour(ctx, hour)
		})
	})
}

// ViewPageIDs lists the pages after a page.
func (s *ViewStore) ViewPageIDs(ctx context.Context, after counter.PageID, limit int) ([]counter.PageID, error) {
	rows, err := s.q.ViewPageIDs(ctx, db.ViewPageIDsParams{
		AfterSite: after.Site, AfterPage: after.Page, Batch: limit,
	})
	pages := make([]counter.PageID, len(rows))
	for i, r := range rows {
		pages[i] = counter.PageID{Site: r.SiteID, Page: r.Page}
	}
	return pages, err
}

// ViewSitePages lists the pages of a site after a page.
func (s *ViewStore) ViewSitePages(ctx context.Context, site uuid.UUID, after string, limit int) ([]string, error) {
	return s.q.ViewSitePages(ctx, db.ViewSitePagesParams{SiteID: site, AfterPage: after, Batch: limit})
}

// ViewSketchesDue lists pages with new visitors since their sketch was saved.
func (s *ViewStore) ViewSketchesDue(ctx context.Context, after counter.PageID, limit int) ([]counter.PageID, error) {
	rows, err := s.q.ViewSketchesDue(ctx, db.ViewSketchesDueParams{
		AfterSite: after.Site, AfterPage: after.Page, Batch: limit,
	})
	pages := make([]counter.PageID, len(rows))
	for i, r := range rows {
		pages[i] = counter.PageID{Site: r.SiteID, Page: r.Page}
	}
	return pages, err
}

// SaveViewSketches saves sketches; nil removes a page's sketch.
func (s *ViewStore) SaveViewSketches(ctx context.Context, pages []counter.PageID, sketches [][]byte) error {
	sites, names := splitPages(pages)
	whole := make([][]byte, len(sketches))
	for i, sketch := range sketches {
		whole[i] = column.List(sketch)
	}
	return s.q.SaveViewSketches(ctx, db.SaveViewSketchesParams{SiteIds: sites, Pages: names, Sketches: whole})
}

// RecordViewCheck saves the result of a comparison.
func (s *ViewStore) RecordViewCheck(ctx context.Context, c flush.Check) error {
	examples, err := json.Marshal(column.List(c.Examples))
	if err != nil {
		return err
	}
	return s.q.InsertViewCheck(ctx, db.InsertViewCheckParams{
		StartedAt: c.StartedAt, Pages: c.Compared,
		Differing: c.Differing,
		Missing:   c.Missing, Surplus: c.Surplus, NextSite: optional.Of(c.Next.Site),
		NextPage: optional.Of(c.Next.Page),
		Examples: examples,
	})
}

// LastViewCheck returns the result of the last comparison.
func (s *ViewStore) LastViewCheck(ctx context.Context) (c flush.Check, found bool, err error) {
	row, err := s.q.LastViewCheck(ctx)
	if tx.NoRows(err) {
		return c, false, nil
	}
	if err != nil {
		return c, false, err
	}
	c = flush.Check{
		StartedAt: row.StartedAt.UTC(), EndedAt: row.EndedAt.UTC(), Compared: row.Pages,
		Differing: row.Differing, Missing: row.Missing,
		Surplus: row.Surplus,
		Next:    counter.PageID{Site: optional.Value(row.NextSite), Page: optional.Value(row.NextPage)},
	}
	return c, true, json.Unmarshal(row.Examples, &c.Examples)
}

// ViewsHealth returns the state of flushing.
func (s *ViewStore) ViewsHealth(ctx context.Context) (h flush.Health, err error) {
	lastFlush, err := s.q.LastViewFlush(ctx)
	if err != nil {
		return h, err
	}
	h.Batches, h.Counts = lastFlush.Batches, lastFlush.Counts
	if lastFlush.Batches > 0 {
		h.FlushedAt = lastFlush.At.UTC()
	}
	check, found, err := s.LastViewCheck(ctx)
	if err != nil {
		return h, err
	}
	if found {
		h.Check = &check
	}
	loss, err := s.q.LastViewLoss(ctx)
	if err == nil && loss.Shards > 0 {
		h.Loss = &flush.Loss{FoundAt: loss.FoundAt.UTC(), Shards: loss.Shards, Pages: loss.Pages}
	}
	return h, err
}

// CreateViewErasure stores a request for an erasure, which the next flush
// carries out.
func (s *ViewStore) CreateViewErasure(ctx context.Context, e flush.Erasure) (flush.Erasure, error) {
	in := db.InsertViewErasureParams{
		ID: e.ID, WorkspaceID: e.Workspace, SiteID: e.Site, SingleVisitor: e.SingleVisitor,
		RequestedBy: e.RequestedBy,
	}
	if e.SingleVisitor {
		hash, id := int64(e.Visitor.Hash), int64(e.Visitor.ID) //nolint:gosec // its bits
		in.VisitorHash, in.VisitorID = &hash, &id
	}
	row, err := s.q.InsertViewErasure(ctx, in)
	return erasureFromRow(row), err
}

// ViewErasure returns an erasure.
func (s *ViewStore) ViewErasure(ctx context.Context, workspaceID, id uuid.UUID) (flush.Erasure, error) {
	row, err := s.q.ViewErasure(ctx, db.ViewErasureParams{ID: id, WorkspaceID: workspaceID})
	if tx.NoRows(err) {
		return flush.Erasure{}, apperr.NotFound("erasure")
	}
	return erasureFromRow(row), err
}

// PendingViewErasures lists erasures that have not been carried out.
func (s *ViewStore) PendingViewErasures(ctx context.Context, limit int) ([]flush.Erasure, error) {
	rows, err := s.q.PendingViewErasures(ctx, limit)
	list := make([]flush.Erasure, len(rows))
	for i, r := range rows {
		list[i] = erasureFromRow(r)
	}
	return list, err
}

// CompleteViewErasure marks an erasure as done and clears its visitor.
func (s *ViewStore) CompleteViewErasure(ctx context.Context, id uuid.UUID, removed int64) error {
	return s.q.CompleteViewErasure(ctx, db.CompleteViewErasureParams{ID: id, Removed: removed})
}

// EraseSiteViews deletes all counts of a site.
func (s *ViewStore) EraseSiteViews(ctx context.Context, site uuid.UUID) (removed int64, err error) {
	err = s.inTx(ctx, func(q *queries) error {
		removed = 0
		for _, erase := range []func(context.Context, uuid.UUID) (int64, error){
			q.EraseViewHours, q.EraseViewDays,
			q.EraseViewMonths,
			q.EraseViewDimensions, q.EraseViewFiltered, q.EraseViewUniques, q.EraseViewEngagement,
			q.EraseSiteEngagement, q.EraseLinkEngagement, q.EraseSiteHours, q.EraseSiteDays, q.EraseSiteDimensionDays,
			q.EraseSitePageDays, q.EraseSitePageMonths, q.EraseSitePageMonthsDue, q.EraseSiteEvents,
			q.EraseSiteArticleDays, q.EraseSiteArticles, q.EraseSiteArticleCursor,
			q.EraseSiteImports, q.EraseSiteAlerts, q.EraseViewPages,
		} { // pages last: their ids name the rows
			n, err := erase(ctx, site)
			if err != nil {
				return err
			}
			removed += n
		}
		return nil
	})
	return removed, err
}

func erasureFromRow(r db.ViewErasure) flush.Erasure {
	e := flush.Erasure{
		ID: r.ID, Workspace: r.WorkspaceID, Site: r.SiteID, SingleVisitor: r.SingleVisitor,
		RequestedBy: r.RequestedBy, RequestedAt: r.RequestedAt.UTC(),
		DoneAt: r.DoneAt, Removed: r.Removed,
	}
	if r.VisitorHash != nil && r.VisitorID != nil {
		e.Visitor = counter.Visitor{Hash: uint64(*r.VisitorHash), ID: uint32(*r.VisitorID)} //nolint:gosec // as they were stored
	}
	return e
}

// ViewHistory is a count of a kind of hit in an hour, day or month, also of the
// time before that in Redis.
type ViewHistory struct {
	Kind          counter.Kind
	Start         time.Time // of the hour; for a day or month its midnight in UTC
	Count, Funnel int64
}

// ViewHours reads a page's hours.
func (s *ViewStore) ViewHours(ctx context.Context, page counter.PageID, from, to time.Time) ([]ViewHistory, error) {
	rows, err := s.q.ViewHours(ctx, db.ViewHoursParams{SiteID: page.Site, Page: page.Page, FromHour: from, ToHour: to})
	out := make([]ViewHistory, len(rows))
	for i, r := range rows {
		out[i] = ViewHistory{counter.Kind(r.Kind), r.Hour.UTC(), r.Count, r.Funnel}
	}
	return out, err
}

// ViewDays reads a page's days, up to the last flush.
func (s *ViewStore) ViewDays(ctx context.Context, page counter.PageID, from, to counter.Day) ([]ViewHistory, error) {
	rows, err := s.q.ViewDays(ctx, db.ViewDaysParams{
		SiteID: page.Site, Page: page.Page, FromDay: dateOf(from), ToDay: dateOf(to),
	})
	out := make([]ViewHistory, len(rows))
	for i, r := range rows {
		out[i] = ViewHistory{counter.Kind(r.Kind), r.Day.Time, r.Count, r.Funnel}
	}
	return out, err
}

// ViewMonths reads a page's months, up to the last flush. from and to are the
// first days of months.
func (s *ViewStore) ViewMonths(ctx context.Context, page counter.PageID, from, to time.Time) ([]ViewHistory, error) {
	rows, err := s.q.ViewMonths(ctx, db.ViewMonthsParams{
		SiteID: page.Site, Page: page.Page,
		FromMonth: pgtype.Date{Time: from, Valid: true}, ToMonth: pgtype.Date{Time: to, Valid: true},
	})
	out := make([]ViewHistory, len(rows))
	for i, r := range rows {
		out[i] = ViewHistory{counter.Kind(r.Kind), r.Month.Time, r.Count, r.Funnel}
	}
	return out, err
}
