package audience

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/storage/postgres/audience/db"
	"dateline/internal/storage/postgres/tx"
)

// maxViewRows is the maximum number of rows per statement.
const maxViewRows = 5000

// flushLock is the key of the advisory lock of a flush.
const flushLock = 0x646c_7669_6577 // "dlview"

// WithFlushLock runs f unless another process holds the lock. The lock is bound
// to its connection, so it is released when a process dies.
func (s *ViewStore) WithFlushLock(ctx context.Context, f func(ctx context.Context) error) (ok bool, err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	// Without keepalives, the lock of a crashed host would be held for hours. They
	// have no effect on a Unix socket and aren't needed there.
	if _, err := conn.Exec(ctx,
		"set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3"); err != nil {
		return false, err
	}
	if err := conn.QueryRow(ctx, "select pg_try_advisory_lock($1)", int64(flushLock)).Scan(&ok); err != nil || !ok {
		return false, err
	}
	defer func() {
		// Close a connection whose lock could not be released.
		if _, err := conn.Exec(context.WithoutCancel(ctx), "select pg_advisory_unlock($1)",
			int64(flushLock)); err != nil {
			_ = conn.Conn().Close(context.WithoutCancel(ctx))
		}
	}()
	return true, f(ctx)
}

// ApplyViewBatch adds a batch's counts and its ledger row in one transaction.
// applied is false if the batch was added before.
func (s *ViewStore) ApplyViewBatch(
	ctx context.Context, shard int, id uuid.UUID, batch counter.Batch,
) (applied bool, err error) {
	rows := rowsOf(batch.Deltas)
	skipped := batch.Skipped
	if skipped == nil {
		skipped = []uuid.UUID{}
	}
	err = s.withPartitions(ctx, rows.partitions(), func() error {
		return s.inTx(ctx, func(q *queries) error {
			n, err := q.InsertViewBatch(ctx, db.InsertViewBatchParams{
				ID: id, Shard: shard, Counts: rows.hitCount, SkippedRecords: skipped,
			})
			applied = n == 1
			if err != nil || !applied {
				return err
			}
			return rows.write(ctx, q)
		})
	})
	return applied && err == nil, err
}

// SkippedViewRecords returns the quarantined records that a batch skipped when
// it was applied.
func (s *ViewStore) SkippedViewRecords(
	ctx context.Context, id uuid.UUID,
) (skipped []uuid.UUID, applied bool, err error) {
	skipped, err = s.q.SkippedViewRecords(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, false, nil
	}
	return skipped, err == nil, err
}

// ViewFilteredCounts returns a page's filtered hits by reason, and which of the
// batches they include.
func (s *ViewStore) ViewFilteredCounts(
	ctx context.Context, page counter.PageID, batches []uuid.UUID,
) (counts map[string]int64, applied []uuid.UUID, err error) {
	rows, err := s.q.ViewFilteredCounts(ctx, db.ViewFilteredCountsParams{
		SiteID: page.Site, Page: sanitizeText(page.Page), Batches: batches,
	})
	counts = map[string]int64{}
	for _, r := range rows {
		if r.Batch != uuid.Nil {
			applied = append(applied, r.Batch)
			continue
		}
		counts[r.Reason] = r.Count
	}
	return counts, applied, err
}

// viewBatchRows is a batch in rows of the tables. In rows of pages, PageIds are
// indexes into pages until the pages' ids are known.
type viewBatchRows struct {
	pages      db.AddViewPagesParams
	hours      db.AddViewHoursParams
	dimensions db.AddViewDimensionsParams
	filtered   db.AddViewFilteredParams
	uniques    db.SaveViewUniquesParams
	sites      siteRows
	engagement engagementRows
	hitCount   int64
}

func rowsOf(deltas []counter.Delta) *viewBatchRows {
	b := &viewBatchRows{sites: newSiteRows(), engagement: engagementOf(deltas)}
	for key := range b.engagement.sites {
		b.sites.addDay(key.Site, key.day)
	}
	for i, d := range deltas {
		d.Page = sanitizeText(d.Page)
		page := int64(i)
		counts, funnel := map[counter.Kind]int64{}, map[counter.Kind]int64{}
		for _, h := range d.Hours {
			b.sites.addHour(d.Site, h)
			if h.Kind == counter.SecondView || h.Kind == counter.EngagedVisit {
				continue // of sites only: these pages say nothing about the visit
			}
			b.hour(page, h, h.Count, 0)
			counts[h.Kind] += h.Count
			if isHitKind(h.Kind) {
				b.hitCount += h.Count
			}
		}
		for _, h := range d.Funnel {
			b.hour(page, h, 0, h.Count)
			funnel[h.Kind] += h.Count
		}
		p := &b.pages
		p.SiteIds, p.Pages, p.UniqueMethods = append(p.SiteIds, d.Site), append(p.Pages,
			d.Page), append(p.UniqueMethods, string(d.UniqueMethod))
		p.Views, p.Clicks, p.Conversions = append(p.Views, counts[counter.View]), append(p.Clicks,
			counts[counter.Click]), append(p.Conversions, counts[counter.Conversion])
		p.FunnelViews, p.FunnelClicks, p.FunnelConversions = append(p.FunnelViews,
			funnel[counter.View]), append(p.FunnelClicks, funnel[counter.Click]),
			append(p.FunnelConversions, funnel[counter.Conversion])
		p.Uniques = append(p.Uniques, d.AllTime)
		for _, m := range d.Dimensions {
			p := &b.dimensions
			p.PageIds, p.Days = append(p.PageIds, page), append(p.Days, dateOf(m.Day))
			p.Dimensions, p.Values, p.Counts = append(p.Dimensions, m.Dimension), append(p.Values,
				sanitizeText(m.Value)), append(p.Counts, m.Count)
		}
		b.sites.addDimensions(d)
		b.sites.addEvents(d)
		for _, f := range d.Filtered {
			p := &b.filtered
			p.PageIds, p.Days = append(p.PageIds, page), append(p.Days, dateOf(f.Day))
			p.Reasons, p.Counts = append(p.Reasons, sanitizeText(f.Reason)), append(p.Counts, f.Count)
		}
		for _, u := range d.Uniques {
			p := &b.uniques
			p.PageIds, p.Days = append(p.PageIds, page), append(p.Days, dateOf(u.Day))
			p.Uniques, p.Weeks = append(p.Uniques, u.Uniques), append(p.Weeks, u.WeekToDate)
		}
	}
	return b
}

func (b *viewBatchRows) hour(page int64, h counter.HourDelta, count, funnel int64) {
	p := &b.hours
	p.PageIds, p.Kinds = append(p.PageIds, page), append(p.Kinds, string(h.Kind))
	p.Hours, p.Days = append(p.Hours, h.Hour.UTC()), append(p.Days, dateOf(h.Day))
	p.Counts, p.Funnels = append(p.Counts, count), append(p.Funnels, funnel)
}

// partitions returns the partitions that the batch is written to.
func (b *viewBatchRows) partitions() partitions {
	at := partitions{}
	b.engagement.addPartitions(at)
	for _, hour := range b.hours.Hours {
		at.add(viewHours, hour)
	}
	for table, days := range map[viewTable][]pgtype.Date{
		viewDimensions: b.dimensions.Days,
		viewFiltered:   b.filtered.Days, viewUniques: b.uniques.Days,
	} {
		for _, day := range days {
			at.add(table, day.Time)
		}
	}
	return at
}

// write adds the batch in chunks of maxViewRows.
func (b *viewBatchRows) write(ctx context.Context, q *queries) error {
	ids, err := b.writePages(ctx, q)
	if err != nil {
		return err
	}
	// A retry maps the indexes again, so they are not replaced in place.
	hours, dimensions, filtered, uniques := b.hours, b.dimensions, b.filtered, b.uniques
	for _, rows := range []*[]int64{&hours.PageIds, &dimensions.PageIds, &filtered.PageIds, &uniques.PageIds} {
		mapped := make([]int64, len(*rows))
		for i, index := range *rows {
			mapped[i] = ids[index]
		}
		*rows = mapped
	}
	err = chunks(len(hours.PageIds), func(from, to int) error {
		return q.AddViewHours(ctx, db.AddViewHoursParams{
			PageIds: hours.PageIds[from:to], Kinds: hours.Kinds[from:to],
			Hours: hours.Hours[from:to], Days: hours.Days[from:to], Counts: hours.Counts[from:to],
			Funnels: hours.Funnels[from:to],
		})
	})
	if err == nil {
		err = chunks(len(dimensions.PageIds), func(from, to int) error {
			return q.AddViewDimensions(ctx, db.AddViewDimensionsParams{
				PageIds:    dimensions.PageIds[from:to],
				Days:       dimensions.Days[from:to],
				Dimensions: dimensions.Dimensions[from:to], Values: dimensions.Values[from:to],
				Counts: dimensions.Counts[from:to],
			})
		})
	}
	if err == nil {
		err = chunks(len(filtered.PageIds), func(from, to int) error {
			return q.AddViewFiltered(ctx, db.AddViewFilteredParams{
				PageIds: filtered.PageIds[from:to],
				Days:    filtered.Days[from:to],
				Reasons: filtered.Reasons[from:to], Counts: filtered.Counts[from:to],
			})
		})
	}
	if err == nil {
		err = chunks(len(uniques.PageIds), func(from, to int) error {
			return q.SaveViewUniques(ctx, db.SaveViewUniquesParams{
				PageIds: uniques.PageIds[from:to],
				Days:    uniques.Days[from:to],
				Uniques: uniques.Uniques[from:to], Weeks: uniques.Weeks[from:to],
			})
		})
	}
	if err == nil {
		err = b.engagement.writePages(ctx, q)
	}
	if err == nil {
		err = b.engagement.writeLinks(ctx, q)
	}
	if err == nil && len(hours.Hours) > 0 {
		err = q.MarkViewHours(ctx, hours.Hours)
	}
	if err != nil {
		return err
	}
	if err := b.sites.write(ctx, q); err != nil { // last, to hold the locks on a site's rows only briefly
		return err
	}
	return b.engagement.writeSites(ctx, q)
}

// writePages adds the totals of the pages and returns their ids, in their order.
func (b *viewBatchRows) writePages(ctx context.Context, q *queries) ([]int64, error) {
	p := b.pages
	byPage := make(map[counter.PageID]int64, len(p.Pages))
	err := chunks(len(p.Pages), func(from, to int) error {
		rows, err := q.AddViewPages(ctx, db.AddViewPagesParams{
			SiteIds: p.SiteIds[from:to], Pages: p.Pages[from:to],
			UniqueMethods: p.UniqueMethods[from:to],
			Views:         p.Views[from:to], Clicks: p.Clicks[from:to], Conversions: p.Conversions[from:to],
			FunnelViews:  p.FunnelViews[from:to],
			FunnelClicks: p.FunnelClicks[from:to], FunnelConversions: p.FunnelConversions[from:to],
			Uniques: p.Uniques[from:to],
		})
		for _, r := range rows {
			byPage[counter.PageID{Site: r.SiteID, Page: r.Page}] = r.ID
		}
		return err
	})
	ids := make([]int64, len(p.Pages))
	for i, page := range p.Pages {
		ids[i] = byPage[counter.PageID{Site: p.SiteIds[i], Page: page}]
	}
	return ids, err
}

// sanitizeText returns a text that Postgres accepts. Invalid texts are not
// expected, but one of them must not block the flush of a shard.
func sanitizeText(s string) string {
	if utf8.ValidString(s) && !strings.ContainsRune(s, 0) {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
}

func chunks(n int, write func(from, to int) error) error {
	for from := 0; from < n; from += maxViewRows {
		if err := write(from, min(from+maxViewRows, n)); err != nil {
			return err
		}
	}
	return nil
}

// isHitKind reports whether visitors send a kind; others are derived from views.
func isHitKind(k counter.Kind) bool {
	return k == counter.View || k == counter.Click || k == counter.Conversion
}

func dateOf(d counter.Day) pgtype.Date { return pgtype.Date{Time: d.Time(), Valid: true} }

// dayOf is the inverse of dateOf.
func dayOf(d pgtype.Date) counter.Day { return counter.Day(d.Time.Unix() / 86400) } //nolint:gosec // days of this era

// ViewTotals reads the totals of pages; zeros for unknown pages.
func (s *ViewStore) ViewTotals(ctx context.Context, pages []counter.PageID) (map[counter.PageID]flush.Totals, error) {
	sites, names := splitPages(pages)
	rows, err := s.q.ViewTotals(ctx, db.ViewTotalsParams{SiteIds: sites, Pages: names})
	found := make(map[counter.PageID]flush.Totals, len(rows))
	for _, r := range rows {
		found[counter.PageID{Site: r.SiteID, Page: r.Page}] = flush.Totals{
			Views: r.Views, Clicks: r.Clicks, Conversions: r.Conversions,
		}
	}
	return found, err
}

func splitPages(pages []counter.PageID) (sites []uuid.UUID, names []string) {
	for _, p := range pages {
		sites, names = append(sites, p.Site), append(names, p.Page)
	}
	return sites, names
}

// How far back hours and days are seeded.
const (
	seededHistory = 48 * time.Hour
	seedDays      = 35 * 24 * time.Hour
)

// ViewPageTotals reads the pages after a page, with the counts for seeding
// Redis.
func (s *ViewStore) ViewPageTotals(ctx context.Context, after counter.PageID, limit int) ([]counter.PageTotals, error) {
	rows, err := s.q.ViewPageTotals(ctx, db.ViewPageTotalsParams{
		AfterSite: after.Site, AfterPage: after.Page, Batch: limit,
	})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	totals := make([]counter.PageTotals, len(rows))
	at := make(map[int64]int, len(rows))
	pages := make([]int64, len(rows))
	for i, r := range rows {
		id := counter.PageID{Site: r.SiteID, Page: r.Page}
		totals[i] = counter.PageTotals{
			PageID: id, UniqueMethod: methodOrDefault(r.UniqueMethod), Views: r.Views,
			Clicks: r.Clicks, Conversions: r.Conversions,
			Funnel:  counter.Funnel{Views: r.FunnelViews, Clicks: r.FunnelClicks, Conversions: r.FunnelConversions},
			Uniques: r.Uniques, Sketch: r.Sketch,
		}
		at[r.ID], pages[i] = i, r.ID
	}
	now, err := tx.Time(ctx, s.pool)
	if err != nil {
		return nil, err
	}
	hours, err := s.q.RecentViewHours(ctx, db.RecentViewHoursParams{PageIds: pages, FromHour: now.Add(-seededHistory)})
	if err != nil {
		return nil, err
	}
	for _, h := range hours {
		t := &totals[at[h.PageID]]
		t.Hours = append(t.Hours, counter.HourDelta{
			Kind: counter.Kind(h.Kind), Hour: h.Hour.UTC(), Day: dayOf(h.Day), Count: h.Count,
		})
	}
	days, err := s.q.RecentViewDays(ctx, db.RecentViewDaysParams{
		PageIds: pages, FromDay: pgtype.Date{Time: now.Add(-seedDays), Valid: true},
	})
	for _, d := range days {
		t := &totals[at[d.PageID]]
		t.Days = append(t.Days, counter.DayCount{Kind: counter.Kind(d.Kind), Day: dayOf(d.Day), Count: d.Count})
	}
	return totals, err
}

// methodOrDefault returns a page's unique counting method. A page with filtered
// hits only has none.
func methodOrDefault(method string) counter.UniqueMethod {
	if method == "" {
		return counter.HyperLogLog
	}
	return counter.UniqueMethod(method)
}

// RecordViewLoss records that a shard was seeded after a loss.
func (s *ViewStore) RecordViewLoss(ctx context.Context, shard int, pages int64) error {
	return s.q.InsertViewLoss(ctx, db.InsertViewLossParams{Shard: shard, Pages: pages})
}
