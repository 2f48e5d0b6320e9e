package flush

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
)

// Check is the result of comparing Redis with Postgres.
type Check struct {
	StartedAt, EndedAt time.Time
	Compared           int64 // totals, by page and kind
	Differing          int64 // totals that differ
	Missing            int64 // hits that Redis lacks
	Surplus            int64 // hits that Redis has in excess
	Next               counter.PageID
	Examples           []Difference
}

// Difference is a total that differs.
type Difference struct {
	Site    uuid.UUID    `json:"site"`
	Page    string       `json:"page"`
	Kind    counter.Kind `json:"kind"`
	Shown   int64        `json:"shown"`   // in Redis
	Stored  int64        `json:"stored"`  // in Postgres
	Pending int64        `json:"pending"` // counted during the comparison
}

const (
	checkInterval    = time.Hour
	maxCheckedPages  = 20_000 // per check; the next one continues after them
	checkChunkSize   = 500
	maxCheckExamples = 20
)

// CheckIfDue compares Redis and Postgres if the last comparison is an hour old.
func (f *Flusher) CheckIfDue(ctx context.Context, heartbeat func()) (c Check, done bool, err error) {
	last, found, err := f.Store.LastViewCheck(ctx)
	if err != nil || found && f.now().Sub(last.StartedAt) < checkInterval {
		return Check{}, false, err
	}
	return f.check(ctx, last.Next, heartbeat)
}

// Check compares the first maxCheckedPages pages.
func (f *Flusher) Check(ctx context.Context, heartbeat func()) (c Check, done bool, err error) {
	return f.check(ctx, counter.PageID{}, heartbeat)
}

// check reads the totals in Redis, flushes, and reads them again. The totals in
// Postgres after the flush must lie between both: everything counted before the
// flush is in Postgres, and everything in Postgres was counted. So hits may
// arrive during the comparison, and only real differences are found.
func (f *Flusher) check(ctx context.Context, from counter.PageID, heartbeat func()) (c Check, done bool, err error) {
	done, err = f.Store.WithFlushLock(ctx, func(ctx context.Context) error {
		c = Check{StartedAt: f.now().UTC(), Examples: []Difference{}}
		pages, err := f.pagesFrom(ctx, from, &c)
		if err != nil {
			return err
		}
		before, err := f.redisTotals(ctx, pages, heartbeat)
		if err != nil {
			return err
		}
		var flushed Result
		if err := f.flush(ctx, heartbeat, &flushed); err != nil {
			return err
		}
		stored, err := f.storedTotals(ctx, pages, heartbeat)
		if err != nil {
			return err
		}
		after, err := f.redisTotals(ctx, pages, heartbeat)
		if err != nil {
			return err
		}
		for i, p := range pages {
			c.compare(p, before[i], stored[i], after[i])
		}
		c.EndedAt = f.now().UTC()
		return f.Store.RecordViewCheck(ctx, c)
	})
	if err == nil && done {
		f.logCheck(c)
	}
	return c, done, err
}

func (f *Flusher) logCheck(c Check) {
	if c.Differing == 0 {
		f.Log.Info("view counts in Redis and the database match", "compared", c.Compared)
		return
	}
	f.Log.Error("view counts in Redis and the database differ", "compared", c.Compared, "differing", c.Differing,
		"missing", c.Missing, "surplus", c.Surplus)
}

// pagesFrom lists pages to compare and records where the next check continues.
func (f *Flusher) pagesFrom(ctx context.Context, from counter.PageID, c *Check) ([]counter.PageID, error) {
	var pages []counter.PageID
	for after := from; len(pages) < maxCheckedPages; {
		more, err := f.Store.ViewPageIDs(ctx, after, checkChunkSize)
		if err != nil {
			return nil, err
		}
		pages = append(pages, more...)
		if len(more) < checkChunkSize {
			c.Next = counter.PageID{} // the next check starts over
			return pages, nil
		}
		after = more[len(more)-1]
		c.Next = after
	}
	return pages, nil
}

// redisTotals reads the totals that readers see.
func (f *Flusher) redisTotals(ctx context.Context, pages []counter.PageID, heartbeat func()) ([]Totals, error) {
	out := make([]Totals, 0, len(pages))
	for len(pages) > 0 {
		heartbeat()
		n := 1
		for n < min(len(pages), checkChunkSize) && pages[n].Site == pages[0].Site {
			n++
		}
		names := make([]string, n)
		for i, p := range pages[:n] {
			names[i] = p.Page
		}
		stats, err := f.Counter.PageStats(ctx,
			counter.Site{ID: pages[0].Site, Zone: time.UTC, UniqueMethod: counter.HyperLogLog}, names)
		if err != nil {
			return nil, err
		}
		for _, s := range stats {
			out = append(out, Totals{s.Views, s.Clicks, s.Conversions})
		}
		pages = pages[n:]
	}
	return out, nil
}

func (f *Flusher) storedTotals(ctx context.Context, pages []counter.PageID, heartbeat func()) ([]Totals, error) {
	out := make([]Totals, 0, len(pages))
	for len(pages) > 0 {
		heartbeat()
		n := min(len(pages), checkChunkSize)
		found, err := f.Store.ViewTotals(ctx, pages[:n])
		if err != nil {
			return nil, err
		}
		for _, p := range pages[:n] {
			out = append(out, found[p])
		}
		pages = pages[n:]
	}
	return out, nil
}

func (c *Check) compare(p counter.PageID, before, stored, after Totals) {
	for _, kind := range []counter.Kind{counter.View, counter.Click, counter.Conversion} {
		lower, inPostgres, upper := before.byKind(kind), stored.byKind(kind), after.byKind(kind)
		c.Compared++
		switch {
		case lower > inPostgres:
			c.Surplus += lower - inPostgres
		case inPostgres > upper:
			c.Missing += inPostgres - upper
		default:
			continue
		}
		c.Differing++
		if len(c.Examples) < maxCheckExamples {
			c.Examples = append(c.Examples, Difference{
				Site: p.Site, Page: p.Page, Kind: kind, Shown: upper, Stored: inPostgres, Pending: max(upper-lower, 0),
			})
		}
	}
}
