package flush

import (
	"context"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
)

// Check is what comparing Redis with Postgres found.
type Check struct {
	StartedAt, EndedAt time.Time
	Compared           int64 // pages and kinds
	Differing          int64 // of them
	Missing            int64 // counts that Redis has too few
	Surplus            int64 // and too many
	Next               counter.PageID
	Examples           []Difference
}

// Difference is one page and kind that does not agree.
type Difference struct {
	Site    uuid.UUID    `json:"site"`
	Page    string       `json:"page"`
	Kind    counter.Kind `json:"kind"`
	Shown   int64        `json:"shown"`   // the running total in Redis
	Stored  int64        `json:"stored"`  // the total in Postgres
	Pending int64        `json:"pending"` // that was on its way from one to the other
}

const (
	checkInterval    = time.Hour
	maxCheckedPages  = 20_000 // at most, at once; the next check goes on behind them
	checkChunkSize   = 500
	maxCheckExamples = 20
)

// CheckIfDue compares Redis and Postgres when the last comparison is an hour
// old.
func (k *Flusher) CheckIfDue(ctx context.Context, beat func()) (c Check, done bool, err error) {
	last, found, err := k.Store.LastViewCheck(ctx)
	if err != nil || found && k.now().Sub(last.StartedAt) < checkInterval {
		return Check{}, false, err
	}
	return k.check(ctx, last.Next, beat)
}

// Check compares some pages at once, from the beginning.
func (k *Flusher) Check(ctx context.Context, beat func()) (c Check, done bool, err error) {
	return k.check(ctx, counter.PageID{}, beat)
}

// check reads the running totals, flushes, and reads them again. What Postgres
// has after the flush has to lie between both: whatever was counted before the
// flush is in Postgres, and whatever is in Postgres was counted. So readers may
// come meanwhile, and only real differences are found.
func (k *Flusher) check(ctx context.Context, from counter.PageID, beat func()) (c Check, done bool, err error) {
	done, err = k.Store.WithFlushLock(ctx, func(ctx context.Context) error {
		c = Check{StartedAt: k.now().UTC(), Examples: []Difference{}}
		pages, err := k.pagesFrom(ctx, from, &c)
		if err != nil {
			return err
		}
		before, err := k.redisTotals(ctx, pages, beat)
		if err != nil {
			return err
		}
		var flushed Result
		if err := k.flush(ctx, beat, &flushed); err != nil {
			return err
		}
		stored, err := k.storedTotals(ctx, pages, beat)
		if err != nil {
			return err
		}
		after, err := k.redisTotals(ctx, pages, beat)
		if err != nil {
			return err
		}
		for i, p := range pages {
			c.compare(p, before[i], stored[i], after[i])
		}
		c.EndedAt = k.now().UTC()
		return k.Store.RecordViewCheck(ctx, c)
	})
	if err == nil && done {
		k.logCheck(c)
	}
	return c, done, err
}

func (k *Flusher) logCheck(c Check) {
	if c.Differing == 0 {
		k.Log.Info("the counts of views agree", "compared", c.Compared)
		return
	}
	k.Log.Error("Redis and the database count differently", "compared", c.Compared, "differing", c.Differing, "missing", c.Missing, "surplus", c.Surplus)
}

// pagesFrom lists pages to compare, and notes where the next check goes on.
func (k *Flusher) pagesFrom(ctx context.Context, from counter.PageID, c *Check) ([]counter.PageID, error) {
	var pages []counter.PageID
	for after := from; len(pages) < maxCheckedPages; {
		more, err := k.Store.ViewPageIDs(ctx, after, checkChunkSize)
		if err != nil {
			return nil, err
		}
		pages = append(pages, more...)
		if len(more) < checkChunkSize {
			return pages, nil // c.Next: at the beginning
		}
		after = more[len(more)-1]
		c.Next = after
	}
	return pages, nil
}

// redisTotals reads what readers see.
func (k *Flusher) redisTotals(ctx context.Context, pages []counter.PageID, beat func()) ([]Totals, error) {
	out := make([]Totals, 0, len(pages))
	for len(pages) > 0 {
		beat()
		n := 1
		for n < min(len(pages), checkChunkSize) && pages[n].Site == pages[0].Site {
			n++
		}
		names := make([]string, n)
		for i, p := range pages[:n] {
			names[i] = p.Page
		}
		stats, err := k.Counter.PageStats(ctx, counter.Site{ID: pages[0].Site, Zone: time.UTC, UniqueMethod: counter.HyperLogLog}, names)
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

func (k *Flusher) storedTotals(ctx context.Context, pages []counter.PageID, beat func()) ([]Totals, error) {
	out := make([]Totals, 0, len(pages))
	for len(pages) > 0 {
		beat()
		n := min(len(pages), checkChunkSize)
		found, err := k.Store.ViewTotals(ctx, pages[:n])
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
		had, has, has2 := before.byKind(kind), stored.byKind(kind), after.byKind(kind)
		c.Compared++
		switch {
		case had > has:
			c.Surplus += had - has
		case has > has2:
			c.Missing += has - has2
		default:
			continue
		}
		c.Differing++
		if len(c.Examples) < maxCheckExamples {
			c.Examples = append(c.Examples, Difference{Site: p.Site, Page: p.Page, Kind: kind, Shown: has2, Stored: has, Pending: max(has2-had, 0)})
		}
	}
}
