package counter

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// ErasePage deletes the counts of a page. It leaves batches that a flush has
// taken, and dedup and minute keys, which expire.
func (c *Counter) ErasePage(ctx context.Context, id PageID) error {
	shard := c.Shard(id.Site, id.Page)
	key := pageKey(shard, id.Site, id.Page)
	latest, err := c.redis.HGet(ctx, key+totalsKey, latestDayField).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return fmt.Errorf("erase a page: %w", err)
	}
	keys := []string{key + totalsKey}
	today := Day(c.options.Now().Unix()/86400) + 1 //nolint:gosec // a day; tomorrow in some zones
	for _, w := range []UniqueMethod{Set, SetPerDay, HyperLogLog, Bitmap} {
		keys = append(keys, key+allTimeKey(w.letter()), key+dayKey(Day(latest), w.letter())) //nolint:gosec // a day
		for day := today - 10; day <= today; day++ {
			keys = append(keys, key+dayKey(day, w.letter()), key+weekKey(day, w.letter()))
		}
		for _, day := range recentHalfMonths(today) {
			keys = append(keys, key+halfMonthKey(day, w.letter()))
		}
	}
	site := siteKey(shard, id.Site)
	_, err = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Unlink(ctx, keys...)
		p.HDel(ctx, tag(shard)+"filtered", key)
		for _, ranking := range []string{";now", ";rise", ";hour", ";day"} {
			p.ZRem(ctx, site+ranking, id.Page)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("erase a page: %w", err)
	}
	return nil
}

// EraseSiteVisitors deletes the visitors of a site's days.
func (c *Counter) EraseSiteVisitors(ctx context.Context, site uuid.UUID) error {
	today := Day(c.options.Now().Unix() / 86400) //nolint:gosec // a day
	_, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for shard := range c.Shards() {
			for d := today - 12; d <= today+1; d++ { // they expire nine days after their last visitor
				p.Unlink(ctx, siteDayKey(shard, site, d))
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("erase a site's visitors: %w", err)
	}
	return nil
}

// EraseVisitor removes a visitor from the sets and bitmaps of a page and
// returns the number of removed entries. Dedup entries expire by themselves,
// and a HyperLogLog contains no removable entries. Totals are kept because they
// contain no personal data.
func (c *Counter) EraseVisitor(ctx context.Context, page PageID, v Visitor) (removed int64, err error) {
	key := c.pageKey(page.Site, page.Page)
	latest, err := c.redis.HGet(ctx, key+totalsKey, latestDayField).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, fmt.Errorf("erase a visitor: %w", err)
	}
	days := map[Day]bool{Day(latest): true}      //nolint:gosec // a day
	today := Day(c.options.Now().Unix() / 86400) //nolint:gosec // a day
	for d := today - 10; d <= today+1; d++ {     // keys of days and weeks expire after nine days
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
		return 0, fmt.Errorf("erase a visitor: %w", err)
	}
	for _, e := range entries {
		removed += e.Val()
	}
	return removed, nil
}

// recentHalfMonths returns a day of each half month whose visitors may still be
// stored.
func recentHalfMonths(today Day) []Day {
	return []Day{today + 1, today, today - halfMonth, today - 2*halfMonth}
}

// clearBit clears a visitor's bit if it is set. SETBIT alone would create
// bitmaps for days without one.
func clearBit(ctx context.Context, p redis.Pipeliner, key string, id uint32) *redis.IntCmd {
	out := redis.NewIntCmd(ctx, "eval",
		"if redis.call('GETBIT', KEYS[1], ARGV[1]) == 0 then return 0 end return redis.call('SETBIT', KEYS[1], "+
			"ARGV[1], 0)", 1, key, id)
	_ = p.Process(ctx, out) // queued; its error comes with the pipeline's
	return out
}
