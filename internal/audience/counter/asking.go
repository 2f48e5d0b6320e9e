package counter

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// pageQueries gathers questions about pages for one round trip. Their answers are
// there after run.
type pageQueries struct{ pipe redis.Pipeliner }

type lazyCount func() int64

func (c *Counter) newPageQueries() pageQueries { return pageQueries{c.redis.Pipeline()} }

func (q pageQueries) run(ctx context.Context) error {
	if q.pipe.Len() == 0 {
		return nil
	}
	cmds, err := q.pipe.Exec(ctx)
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
	}
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// dayUniques asks how many different visitors a page had on a day.
func (q pageQueries) dayUniques(ctx context.Context, page string, w UniqueMethod, d Day) lazyCount {
	return q.cardinality(ctx, w, page+dayKey(d, w.letter()))
}

// weekUniques asks how many a page has had since Monday.
func (q pageQueries) weekUniques(ctx context.Context, page string, w UniqueMethod, d Day) lazyCount {
	if w != HyperLogLog {
		return q.cardinality(ctx, w, page+weekKey(d, w.letter()))
	}
	var days []string
	for _, day := range d.weekdays() {
		days = append(days, page+dayKey(day, w.letter()))
	}
	return q.cardinality(ctx, w, days...)
}

// allTimeUniques asks how many a page has had. Days of HyperLogLogs that may not have
// been merged are counted with the others: the page's newest, and today.
func (q pageQueries) allTimeUniques(ctx context.Context, page string, w UniqueMethod, days ...Day) lazyCount {
	switch w {
	case SetPerDay:
		return q.field(ctx, page, dailyUniquesField)
	case Set, Bitmap: // who they were is forgotten
		return q.field(ctx, page, uniquesField)
	}
	keys := []string{page + allTimeKey(w.letter())}
	for _, day := range days {
		keys = append(keys, page+dayKey(day, w.letter()))
	}
	before, since := q.field(ctx, page, uniquesField), q.cardinality(ctx, w, keys...)
	return func() int64 { return before() + since() }
}

func (q pageQueries) cardinality(ctx context.Context, w UniqueMethod, keys ...string) lazyCount {
	switch w {
	case HyperLogLog:
		return q.pipe.PFCount(ctx, keys...).Val
	case Bitmap:
		return q.pipe.BitCount(ctx, keys[0], nil).Val
	default:
		return q.pipe.SCard(ctx, keys[0]).Val
	}
}

func (q pageQueries) field(ctx context.Context, page, name string) lazyCount {
	cmd := q.pipe.HGet(ctx, page+totalsKey, name)
	return func() int64 {
		n, _ := cmd.Int64() // nothing is none
		return n
	}
}
