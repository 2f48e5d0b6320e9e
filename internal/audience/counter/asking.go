package counter

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// asking gathers questions about pages for one round trip. Their answers are
// there after run.
type asking struct{ pipe redis.Pipeliner }

type number func() int64

func (c *Counter) ask() asking { return asking{c.redis.Pipeline()} }

func (q asking) run(ctx context.Context) error {
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

// day asks how many different visitors a page had on a day.
func (q asking) day(ctx context.Context, page string, w Way, d Day) number {
	return q.size(ctx, w, page+dayKey(d, w.letter()))
}

// week asks how many a page has had since Monday.
func (q asking) week(ctx context.Context, page string, w Way, d Day) number {
	if w != HyperLogLog {
		return q.size(ctx, w, page+weekKey(d, w.letter()))
	}
	var days []string
	for _, day := range d.weekdays() {
		days = append(days, page+dayKey(day, w.letter()))
	}
	return q.size(ctx, w, days...)
}

// allTime asks how many a page has had. Days of HyperLogLogs that may not have
// been merged are counted with the others: the page's newest, and today.
func (q asking) allTime(ctx context.Context, page string, w Way, days ...Day) number {
	switch w {
	case SetPerDay:
		return q.field(ctx, page, visitsField)
	case Set, Bitmap: // who they were is forgotten
		return q.field(ctx, page, uniquesField)
	}
	keys := []string{page + allTimeKey(w.letter())}
	for _, day := range days {
		keys = append(keys, page+dayKey(day, w.letter()))
	}
	before, since := q.field(ctx, page, uniquesField), q.size(ctx, w, keys...)
	return func() int64 { return before() + since() }
}

func (q asking) size(ctx context.Context, w Way, keys ...string) number {
	switch w {
	case HyperLogLog:
		return q.pipe.PFCount(ctx, keys...).Val
	case Bitmap:
		return q.pipe.BitCount(ctx, keys[0], nil).Val
	default:
		return q.pipe.SCard(ctx, keys[0]).Val
	}
}

func (q asking) field(ctx context.Context, page, name string) number {
	cmd := q.pipe.HGet(ctx, page+totalsKey, name)
	return func() int64 {
		n, _ := cmd.Int64() // nothing is none
		return n
	}
}
