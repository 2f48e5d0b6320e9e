package audience

import (
	"cmp"
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"dateline/internal/audience/counter"
	"dateline/internal/storage/postgres/audience/db"
)

// engagementRows is the engagement of a batch, by page and day, by site and day, and
// by short link and day.
type engagementRows struct {
	pages, sites, links map[engagementKey]*counter.EngagementDelta
}

// engagementKey identifies a row; page is "" for a site's, the code for a link's.
type engagementKey struct {
	counter.PageID
	day counter.Day
}

// engagementOf adds up the engagement of deltas.
func engagementOf(deltas []counter.Delta) engagementRows {
	rows := engagementRows{
		pages: map[engagementKey]*counter.EngagementDelta{},
		sites: map[engagementKey]*counter.EngagementDelta{},
		links: map[engagementKey]*counter.EngagementDelta{},
	}
	for i := range deltas {
		for j := range deltas[i].Engagement {
			e := &deltas[i].Engagement[j]
			addEngagement(rows.pages,
				engagementKey{counter.PageID{Site: deltas[i].Site, Page: sanitizeText(deltas[i].Page)}, e.Day}, e)
			addEngagement(rows.sites, engagementKey{counter.PageID{Site: deltas[i].Site}, e.Day}, e)
		}
		for j := range deltas[i].Links {
			l := &deltas[i].Links[j]
			addEngagement(rows.links, engagementKey{
				counter.PageID{Site: deltas[i].Site, Page: sanitizeText(l.Link)},
				l.Day,
			}, &l.EngagementDelta)
		}
	}
	return rows
}

func addEngagement(rows map[engagementKey]*counter.EngagementDelta, key engagementKey, e *counter.EngagementDelta) {
	if sum := rows[key]; sum != nil {
		sum.Add(e)
		return
	}
	first := *e
	rows[key] = &first
}

// addPartitions adds the partitions that the rows are written to.
func (r engagementRows) addPartitions(at partitions) {
	for key := range r.pages {
		at.add(viewEngagement, key.day.Time())
	}
}

// engagementColumns are rows as arrays.
type engagementColumns struct {
	sites             []uuid.UUID
	pages             []string
	days              []pgtype.Date
	engaged, scrolled []int64
}

func columnsOf(rows map[engagementKey]*counter.EngagementDelta) (c engagementColumns) {
	keys := make([]engagementKey, 0, len(rows))
	for key := range rows {
		keys = append(keys, key)
	}
	// In a fixed order to avoid deadlocks between batches.
	slices.SortFunc(keys, func(a, b engagementKey) int {
		return cmp.Or(slices.Compare(a.Site[:], b.Site[:]), cmp.Compare(a.Page, b.Page), cmp.Compare(a.day, b.day))
	})
	for _, key := range keys {
		c.sites, c.pages, c.days = append(c.sites, key.Site), append(c.pages, key.Page), append(c.days, dateOf(key.day))
		c.engaged, c.scrolled = append(c.engaged, rows[key].Engaged[:]...), append(c.scrolled, rows[key].Scrolled[:]...)
	}
	return c
}

// writePages adds the rows of pages in chunks of maxViewRows.
func (r engagementRows) writePages(ctx context.Context, q *queries) error {
	c := columnsOf(r.pages)
	return chunks(len(c.days), func(from, to int) error {
		return q.AddViewEngagement(ctx, db.AddViewEngagementParams{
			SiteIds: c.sites[from:to], Pages: c.pages[from:to],
			Days:     c.days[from:to],
			Engaged:  c.engaged[from*counter.EngagedBuckets : to*counter.EngagedBuckets],
			Scrolled: c.scrolled[from*counter.ScrollSteps : to*counter.ScrollSteps],
		})
	})
}

// writeLinks adds the rows of short links.
func (r engagementRows) writeLinks(ctx context.Context, q *queries) error {
	c := columnsOf(r.links)
	return chunks(len(c.days), func(from, to int) error {
		return q.AddLinkEngagement(ctx, db.AddLinkEngagementParams{
			SiteIds: c.sites[from:to], Codes: c.pages[from:to],
			Days:     c.days[from:to],
			Engaged:  c.engaged[from*counter.EngagedBuckets : to*counter.EngagedBuckets],
			Scrolled: c.scrolled[from*counter.ScrollSteps : to*counter.ScrollSteps],
		})
	})
}

// writeSites adds the rows of sites. Concurrent batches update the same rows, so
// this should be the last statement of a transaction.
func (r engagementRows) writeSites(ctx context.Context, q *queries) error {
	c := columnsOf(r.sites)
	if len(c.days) == 0 {
		return nil
	}
	return q.AddSiteEngagement(ctx, db.AddSiteEngagementParams{
		SiteIds: c.sites, Days: c.days, Engaged: c.engaged, Scrolled: c.scrolled,
	})
}

// Engagement returns the engagement of a page's views by day, up to the last
// flush; of the site's if the page is "".
func (s *ViewStore) Engagement(
	ctx context.Context, page counter.PageID, from, to counter.Day,
) ([]counter.EngagementDelta, error) {
	var all []counter.EngagementDelta
	add := func(day pgtype.Date, engaged, scrolled []int64) {
		e := counter.EngagementDelta{Day: dayOf(day)}
		copy(e.Engaged[:], engaged)
		copy(e.Scrolled[:], scrolled)
		all = append(all, e)
	}
	if page.Page == "" {
		rows, err := s.q.SiteEngagement(ctx, db.SiteEngagementParams{
			SiteID: page.Site, FromDay: dateOf(from), ToDay: dateOf(to),
		})
		for _, r := range rows {
			add(r.Day, r.Engaged, r.Scrolled)
		}
		return all, err
	}
	rows, err := s.q.PageEngagement(ctx, db.PageEngagementParams{
		SiteID: page.Site, Page: page.Page, FromDay: dateOf(from), ToDay: dateOf(to),
	})
	for _, r := range rows {
		add(r.Day, r.Engaged, r.Scrolled)
	}
	return all, err
}
