package report

import (
	"context"
	"strings"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
)

// Goal is what a site wants its readers to do: cause an event, or read a page.
type Goal struct{ Name, Event, Page string }

// conversionEvent is the built-in event that a goal may name.
const conversionEvent = string(counter.Conversion)

// maxGoalPages is the maximum number of pages whose views a goal counts. With
// more, they are unknown.
const maxGoalPages = 10_000

// EventStore reads the events that a site declares.
type EventStore interface {
	ReportEvents(ctx context.Context, site uuid.UUID, from, to counter.Day, limit int) ([]Row, error)
	// ReportEventDays returns one row per day, of all events together.
	ReportEventDays(ctx context.Context, site uuid.UUID, events []string, from, to counter.Day) ([]DayTotals, error)
	ReportEventProperties(ctx context.Context, site uuid.UUID, events []string, from, to counter.Day,
		limit int) ([]Row, error)
	// ReportGoalPages returns the number of pages whose name is like a pattern of SQL,
	// up to limit, and their views.
	ReportGoalPages(ctx context.Context, site uuid.UUID, pattern string, from, to counter.Day, limit int) (pages,
		views int64, err error)
}

// eventsOnly returns the number of events, zero if it is unknown.
func eventsOnly(t Totals) Totals {
	if t.Events == nil {
		n := int64(0)
		t.Events = &n
	}
	return Totals{Events: t.Events}
}

// events reads the rows of a table of events.
func (c *computation) events(t Table, r *readings) (err error) {
	site, from, to := c.q.Site.ID, c.q.From, c.q.To+1
	switch t {
	case Events:
		if r.events, err = c.Store.ReportEvents(c.ctx, site, from, to, c.q.Limit); err != nil || !c.comparesTables() {
			return err
		}
		shift := c.q.shift()
		before, err := c.Store.ReportEvents(c.ctx, site, from-shift, to-shift, maxEvents)
		if err != nil {
			return err
		}
		counts := map[string]*int64{}
		for _, row := range before {
			counts[row.Value] = row.Events
		}
		for i := range r.events {
			zero := int64(0)
			if r.events[i].Previous = counts[r.events[i].Value]; r.events[i].Previous == nil {
				r.events[i].Previous = &zero
			}
		}
		return nil
	case Properties:
		r.events, err = c.Store.ReportEventProperties(c.ctx, site, c.q.Filters.values(EventFilter), from, to,
			c.q.Limit)
	default:
		r.events, err = c.goals(from, to)
	}
	return err
}

// maxEvents exceeds the number of events that a site has ever declared.
const maxEvents = 10_000

// goals computes the conversions of the site's goals and their share of its
// visits.
func (c *computation) goals(from, to counter.Day) ([]Row, error) {
	site := c.q.Site.ID
	days, err := c.Store.ReportDays(c.ctx, site, from, to)
	if err != nil {
		return nil, err
	}
	total := Sum(days)
	events, err := c.Store.ReportEvents(c.ctx, site, from, to, maxEvents)
	if err != nil {
		return nil, err
	}
	counts := map[string]*int64{conversionEvent: total.Conversions}
	for _, row := range events {
		counts[row.Value] = row.Events
	}
	rows := make([]Row, 0, len(c.q.Goals))
	for _, g := range c.q.Goals {
		row := Row{Value: g.Name}
		zero := int64(0)
		if row.Conversions = counts[g.Event]; row.Conversions == nil {
			row.Conversions = &zero
		}
		if g.Page != "" {
			pages, views, err := c.Store.ReportGoalPages(c.ctx, site, likePattern(g.Page), from, to, maxGoalPages+1)
			if err != nil {
				return nil, err
			}
			if row.Conversions = &views; pages > maxGoalPages {
				row.Conversions = nil
			}
		}
		if row.Conversions != nil && total.Visits != nil && *total.Visits > 0 {
			rate := float64(*row.Conversions) / float64(*total.Visits)
			row.ConversionRate = &rate
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// likePattern converts a pattern with * to one of SQL's LIKE.
func likePattern(page string) string {
	return strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`, "*", "%").Replace(page)
}
