package audience

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/site"
	"dateline/internal/storage/postgres/audience/db"
	"dateline/internal/storage/postgres/tx"
)

const (
	// maxSiteValues is the maximum number of values of a dimension that a site stores
	// per day; further ones are added to "other".
	maxSiteValues = 200
	// maxSiteLinks is the same of short links: posts may have many.
	maxSiteLinks = 2000
	// The number of pages that a site's day and month list; the others are summed up.
	maxSiteDayPages, maxSiteMonthPages = 1_000, 5_000
	// maxEventValues is the maximum number of values of an event's property per day.
	maxEventValues = 100
)

// siteRows is what a batch adds to the totals of sites.
type siteRows struct {
	hours      map[siteHour]*siteCounts
	days       map[siteDay]*siteCounts
	dimensions map[siteValue]*valueCounts
	events     map[siteEvent]int64
}

type siteHour struct {
	site uuid.UUID
	hour int64 // Unix time
}

type siteDay struct {
	site uuid.UUID
	day  counter.Day
}

type siteValue struct {
	siteDay
	dimension, value string
}

type siteEvent struct {
	siteDay
	event, property, value string
}

type siteCounts struct {
	day    counter.Day
	counts map[counter.Kind]int64
}

type valueCounts struct{ views, visits int64 }

func newSiteRows() siteRows {
	return siteRows{
		hours: map[siteHour]*siteCounts{}, days: map[siteDay]*siteCounts{},
		dimensions: map[siteValue]*valueCounts{}, events: map[siteEvent]int64{},
	}
}

func (r siteRows) addHour(site uuid.UUID, h counter.HourDelta) {
	hour, day := siteHour{site, h.Hour.Unix()}, siteDay{site, h.Day}
	r.addDay(site, h.Day)
	if r.hours[hour] == nil {
		r.hours[hour] = &siteCounts{h.Day, map[counter.Kind]int64{}}
	}
	r.hours[hour].counts[h.Kind] += h.Count
	r.days[day].counts[h.Kind] += h.Count
}

// addDimensions adds the views of a page by country and device, and the visits
// that started there by all dimensions.
func (r siteRows) addDimensions(d counter.Delta) {
	for _, v := range d.Dimensions {
		if v.Dimension == counter.Country || v.Dimension == counter.Device {
			r.value(d.Site, v).views += v.Count
		}
	}
	for _, v := range d.Visits {
		r.value(d.Site, v).visits += v.Count
	}
}

func (r siteRows) addEvents(d counter.Delta) {
	for _, e := range d.Events {
		r.addDay(d.Site, e.Day)
		r.events[siteEvent{
			siteDay{d.Site, e.Day},
			sanitizeText(e.Name), sanitizeText(e.Property),
			sanitizeText(e.Value),
		}] += e.Count
	}
}

func (r siteRows) writeEvents(ctx context.Context, q *queries) error {
	in := db.AddSiteEventsParams{MaxValues: maxEventValues}
	for at, n := range r.events {
		in.SiteIds, in.Days, in.Events = append(in.SiteIds, at.site), append(in.Days, dateOf(at.day)), append(in.Events,
			at.event)
		in.Properties, in.Values, in.Counts = append(in.Properties, at.property), append(in.Values,
			at.value), append(in.Counts, n)
	}
	return chunks(len(in.Values), func(from, to int) error {
		return q.AddSiteEvents(ctx, db.AddSiteEventsParams{
			MaxValues: maxEventValues, SiteIds: in.SiteIds[from:to],
			Days: in.Days[from:to], Events: in.Events[from:to],
			Properties: in.Properties[from:to], Values: in.Values[from:to], Counts: in.Counts[from:to],
		})
	})
}

// addDay makes sure that the row of a day is written, which marks its lists as due.
func (r siteRows) addDay(site uuid.UUID, day counter.Day) {
	if at := (siteDay{site, day}); r.days[at] == nil {
		r.days[at] = &siteCounts{day, map[counter.Kind]int64{}}
	}
}

func (r siteRows) value(site uuid.UUID, v counter.DimensionDelta) *valueCounts {
	key := siteValue{siteDay{site, v.Day}, v.Dimension, sanitizeText(v.Value)}
	if r.dimensions[key] == nil {
		r.dimensions[key] = &valueCounts{}
	}
	return r.dimensions[key]
}

func (r siteRows) write(ctx context.Context, q *queries) error {
	var days db.AddSiteDaysParams
	for at, c := range r.days {
		days.SiteIds, days.Days = append(days.SiteIds, at.site), append(days.Days, dateOf(at.day))
		days.Views, days.Clicks, days.Conversions = append(days.Views, c.counts[counter.View]), append(days.Clicks,
			c.counts[counter.Click]), append(days.Conversions, c.counts[counter.Conversion])
		days.Visits, days.SecondViews, days.Recirculation = append(days.Visits,
			c.counts[counter.Entry]), append(days.SecondViews, c.counts[counter.SecondView]),
			append(days.Recirculation, c.counts[counter.Recirculation])
		days.EngagedVisits = append(days.EngagedVisits, c.counts[counter.EngagedVisit])
	}
	if len(days.Days) == 0 {
		return nil // filtered hits only
	}
	if err := q.AddSiteDays(ctx, days); err != nil {
		return err
	}
	var hours db.AddSiteHoursParams
	for at, c := range r.hours {
		hours.SiteIds, hours.Hours, hours.Days = append(hours.SiteIds, at.site), append(hours.Hours,
			time.Unix(at.hour, 0).UTC()), append(hours.Days, dateOf(c.day))
		hours.Views, hours.Clicks, hours.Conversions = append(hours.Views, c.counts[counter.View]), append(hours.Clicks,
			c.counts[counter.Click]), append(hours.Conversions, c.counts[counter.Conversion])
		hours.Visits, hours.SecondViews, hours.Recirculation = append(hours.Visits,
			c.counts[counter.Entry]), append(hours.SecondViews, c.counts[counter.SecondView]),
			append(hours.Recirculation, c.counts[counter.Recirculation])
		hours.EngagedVisits = append(hours.EngagedVisits, c.counts[counter.EngagedVisit])
	}
	if len(hours.Hours) > 0 {
		if err := q.AddSiteHours(ctx, hours); err != nil {
			return err
		}
	}
	if err := r.writeEvents(ctx, q); err != nil {
		return err
	}
	values := db.AddSiteDimensionsParams{MaxValues: maxSiteValues}
	for at, c := range r.dimensions {
		values.SiteIds, values.Dimensions, values.Days = append(values.SiteIds, at.site), append(values.Dimensions,
			at.dimension), append(values.Days, dateOf(at.day))
		values.Values, values.Views, values.Visits = append(values.Values, at.value), append(values.Views,
			c.views), append(values.Visits, c.visits)
	}
	return chunks(len(values.Values), func(from, to int) error {
		return q.AddSiteDimensions(ctx, db.AddSiteDimensionsParams{
			MaxValues: maxSiteValues, MaxLinks: maxSiteLinks,
			SiteIds: values.SiteIds[from:to], Dimensions: values.Dimensions[from:to],
			Days: values.Days[from:to], Values: values.Values[from:to], Views: values.Views[from:to],
			Visits: values.Visits[from:to],
		})
	})
}

// SiteSketchesDue lists days of sites with new visitors since their sketch was
// saved.
func (s *ViewStore) SiteSketchesDue(ctx context.Context, limit int) ([]flush.SiteSketch, error) {
	rows, err := s.q.SiteSketchesDue(ctx, limit)
	due := make([]flush.SiteSketch, len(rows))
	for i, r := range rows {
		due[i] = flush.SiteSketch{Site: r.SiteID, Day: dayOf(r.Day), Sketch: r.Sketch}
	}
	return due, err
}

// SaveSiteSketch saves the visitors of a site's day.
func (s *ViewStore) SaveSiteSketch(ctx context.Context, d flush.SiteSketch) error {
	return s.q.SaveSiteSketch(ctx, db.SaveSiteSketchParams{
		SiteID: d.Site, Day: dateOf(d.Day), Sketch: d.Sketch, Visitors: d.Visitors,
	})
}

// listSitePages computes the lists of the most viewed pages whose days were
// rolled up, and those of completed months. more reports whether there may be
// more to compute.
func (s *ViewStore) listSitePages(ctx context.Context) (more bool, err error) {
	days, err := s.q.SitePagesDue(ctx, rollupBatchSize)
	if err != nil {
		return false, err
	}
	for _, d := range days {
		if err := s.inTx(ctx, func(q *queries) error {
			// First, which locks the row: a later roll-up marks it again.
			if err := q.MarkSitePages(ctx, db.MarkSitePagesParams(d)); err != nil {
				return err
			}
			if err := q.DeleteSitePageDay(ctx, db.DeleteSitePageDayParams(d)); err != nil {
				return err
			}
			return q.InsertSitePageDay(ctx, db.InsertSitePageDayParams{
				SiteID: d.SiteID, Day: d.Day, MaxPages: maxSiteDayPages,
			})
		}); err != nil {
			return false, err
		}
	}
	now, err := tx.Time(ctx, s.pool)
	if err != nil {
		return false, err
	}
	// A month is complete once it has ended in all time zones.
	y, m, _ := now.Add(-12 * time.Hour).UTC().Date()
	before := pgtype.Date{Time: time.Date(y, m, 1, 0, 0, 0, 0, time.UTC), Valid: true}
	months, err := s.q.SitePageMonthsDue(ctx, db.SitePageMonthsDueParams{Before: before, Batch: rollupBatchSize})
	if err != nil {
		return false, err
	}
	for _, m := range months {
		if err := s.inTx(ctx, func(q *queries) error {
			if err := q.DeleteDueSitePageMonth(ctx, db.DeleteDueSitePageMonthParams(m)); err != nil {
				return err
			}
			if err := q.DeleteSitePageMonth(ctx, db.DeleteSitePageMonthParams(m)); err != nil {
				return err
			}
			return q.InsertSitePageMonth(ctx, db.InsertSitePageMonthParams{
				SiteID: m.SiteID, Month: m.Month,
				NextMonth: pgtype.Date{Time: m.Month.Time.AddDate(0, 1, 0), Valid: true}, MaxPages: maxSiteMonthPages,
			})
		}); err != nil {
			return false, err
		}
	}
	return len(days) == rollupBatchSize || len(months) == rollupBatchSize, nil
}

// CountedSites returns the sites of a workspace. The first is the site of its posts and
// short links, which has the ID of the workspace.
func (s *ViewStore) CountedSites(ctx context.Context, workspace uuid.UUID) ([]uuid.UUID, error) {
	ids := []uuid.UUID{site.PostsSite(workspace).ID}
	own, err := s.sites().Sites(ctx, workspace)
	for _, w := range own {
		ids = append(ids, w.ID)
	}
	return ids, err
}
