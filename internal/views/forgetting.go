package views

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// forgottenDays are the days, around today, whose keys a page may still have:
// they expire after nine, and zones are a day apart.
const forgottenDays = 10

// ways are all ways of telling different visitors apart; a site may have been
// counted in another one.
func ways() []Way { return []Way{Set, SetPerDay, HyperLogLog, Bitmap} }

// around lists the days that a page may have keys of.
func (c *Counter) around() []Day {
	today := Day(c.options.Now().Unix() / 86400) //nolint:gosec // days of this era
	var days []Day
	for d := today - forgottenDays; d <= today+1; d++ {
		days = append(days, d)
	}
	return days
}

// Forget deletes everything that is known of a page, but what is in batches or
// on its way there. Whoever forgets a page for good flushes before.
func (c *Counter) Forget(ctx context.Context, page PageID) error {
	shard := c.Shard(page.Site, page.Page)
	key, site := pageKey(shard, page.Site, page.Page), siteKey(shard, page.Site)
	minute := c.options.Now().Unix() / 60
	_, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Unlink(ctx, key+totalsKey)
		p.Unlink(ctx, key+filteredKey)
		for _, w := range ways() {
			p.Unlink(ctx, key+allTimeKey(w.letter()))
			for _, d := range c.around() {
				p.Unlink(ctx, key+dayKey(d, w.letter()))
				p.Unlink(ctx, key+weekKey(d, w.letter()))
			}
		}
		for _, ranking := range []string{";now", ";slow", ";rise", ";hour", ";day"} {
			p.ZRem(ctx, site+ranking, page.Page)
		}
		for m := minute - 70; m <= minute; m++ {
			p.HDel(ctx, site+";m"+strconv.FormatInt(m, 10), page.Page)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forget a page: %w", err)
	}
	return nil
}

// ForgetVisitor takes a visitor out of the sets and bitmaps of a page, and says
// how many entries there were. Whether they did the same lately is forgotten by
// itself, with the dedup window; a HyperLogLog holds nobody who could be taken
// out. Totals stay: they name nobody.
func (c *Counter) ForgetVisitor(ctx context.Context, page PageID, v Visitor) (removed int64, err error) {
	key := c.pageKey(page.Site, page.Page)
	var entries []*redis.IntCmd
	_, err = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, w := range []Way{Set, SetPerDay, Bitmap} {
			keys := []string{key + allTimeKey(w.letter())}
			weeks := map[int]bool{}
			for _, d := range c.around() {
				keys = append(keys, key+dayKey(d, w.letter()))
				if !weeks[d.week()] {
					weeks[d.week()] = true
					keys = append(keys, key+weekKey(d, w.letter()))
				}
			}
			for _, k := range keys {
				switch {
				case w != Bitmap && v.Hash != 0:
					entries = append(entries, p.SRem(ctx, k, int64(v.Hash))) //nolint:gosec // as it was counted
				case w == Bitmap && v.ID != 0:
					entries = append(entries, c.clearBit(ctx, p, k, v.ID))
				}
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, fmt.Errorf("forget a visitor: %w", err)
	}
	for _, e := range entries {
		removed += e.Val()
	}
	return removed, nil
}

// clearBit takes a reader out of a bitmap that has them: SETBIT alone would make
// bitmaps of days that have none.
func (c *Counter) clearBit(ctx context.Context, p redis.Pipeliner, key string, id uint32) *redis.IntCmd {
	out := redis.NewIntCmd(ctx, "eval", "if redis.call('GETBIT', KEYS[1], ARGV[1]) == 0 then return 0 end return redis.call('SETBIT', KEYS[1], ARGV[1], 0)", 1, key, id)
	_ = p.Process(ctx, out) // queued; its error comes with the pipeline's
	return out
}
