package counter

import (
	"context"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// EraseVisitor takes a visitor out of the sets and bitmaps of a page, and says
// how many entries there were. Whether they did the same lately is forgotten by
// itself, with the dedup window; a HyperLogLog holds nobody who could be taken
// out. Totals stay: they name nobody.
func (c *Counter) EraseVisitor(ctx context.Context, page PageID, v Visitor) (removed int64, err error) {
	key := c.pageKey(page.Site, page.Page)
	latest, err := c.redis.HGet(ctx, key+totalsKey, latestDayField).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, fmt.Errorf("forget a visitor: %w", err)
	}
	days := map[Day]bool{Day(latest): true}      //nolint:gosec // a day
	today := Day(c.options.Now().Unix() / 86400) //nolint:gosec // a day
	for d := today - 10; d <= today+1; d++ {     // keys of days and weeks expire after nine
		days[d] = true
	}
	months := recentHalfMonths(today)
	var entries []*redis.IntCmd
	_, err = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, w := range []UniqueMethod{Set, SetPerDay, Bitmap} {
			keys := map[string]bool{}
			for _, d := range months {
				keys[key+halfMonthKey(d, w.letter())] = true
			}
			for d := range days {
				keys[key+dayKey(d, w.letter())], keys[key+weekKey(d, w.letter())] = true, true
			}
			for k := range keys {
				switch {
				case w != Bitmap && v.Hash != 0:
					entries = append(entries, p.SRem(ctx, k, int64(v.Hash))) //nolint:gosec // as it was counted
				case w == Bitmap && v.ID != 0:
					entries = append(entries, clearBit(ctx, p, k, v.ID))
				}
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("forget a visitor: %w", err)
	}
	for _, e := range entries {
		removed += e.Val()
	}
	return removed, nil
}

// recentHalfMonths has a day of each half month whose visitors may be remembered.
func recentHalfMonths(today Day) []Day {
	return []Day{today + 1, today, today - halfMonth, today - 2*halfMonth}
}

// clearBit takes a reader out of a bitmap that has them: SETBIT alone would make
// bitmaps of days that have none.
func clearBit(ctx context.Context, p redis.Pipeliner, key string, id uint32) *redis.IntCmd {
	out := redis.NewIntCmd(ctx, "eval", "if redis.call('GETBIT', KEYS[1], ARGV[1]) == 0 then return 0 end return redis.call('SETBIT', KEYS[1], ARGV[1], 0)", 1, key, id)
	_ = p.Process(ctx, out) // queued; its error comes with the pipeline's
	return out
}
