package counter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// PageTotals is what Postgres knows of a page, to count on from.
type PageTotals struct {
	PageID
	UniqueMethod               UniqueMethod
	Views, Clicks, Conversions int64
	Funnel                     Funnel
	Uniques                    int64 // all time
	Sketch                     []byte
	Hours                      []HourDelta // of the last 48 hours, from which today's numbers and the rankings go on
	Days                       []DayCount  // of the last 35 days
}

// DayCount is how often something was done on a day.
type DayCount struct {
	Kind  Kind
	Day   Day
	Count int64
}

// LostShards lists the shards whose counters were lost, or are new, and have not been
// seeded since.
func (c *Counter) LostShards(ctx context.Context) ([]int, error) {
	whole := make([]*redis.BoolCmd, c.Shards())
	if _, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for shard := range whole {
			whole[shard] = p.HExists(ctx, tag(shard)+"state", "seeded")
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("ask whether counters were lost: %w", err)
	}
	var lost []int
	for shard, is := range whole {
		if !is.Val() {
			lost = append(lost, shard)
		}
	}
	return lost, nil
}

// Seed adds Postgres' totals to what was counted since the loss. Each page is
// seeded once, however often it is tried; pages of shards that are not lost are
// left alone. From the first call for a shard to Seeded, Postgres' totals of it
// must not change.
func (c *Counter) Seed(ctx context.Context, totals []PageTotals) error {
	type target struct {
		shard int
		way   UniqueMethod
	}
	args := map[target][]any{}
	var calls []scriptCall
	finish := func(t target) {
		calls = append(calls, scriptCall{tag(t.shard) + "log", append([]any{allTimeKey(t.way.letter())}, args[t]...)})
		delete(args, t)
	}
	for _, total := range totals {
		if total.UniqueMethod.letter() == 0 {
			return fmt.Errorf("seed page %q: %w", total.Page, ErrUniqueMethod)
		}
		t := target{c.Shard(total.Site, total.Page), total.UniqueMethod}
		args[t] = append(args[t], pageKey(t.shard, total.Site, total.Page), string(total.Sketch))
		fields := total.hashFields()
		args[t] = append(append(args[t], len(fields)/2), fields...)
		if len(args[t]) > maxSeedArgs {
			finish(t)
		}
	}
	for t := range args {
		finish(t)
	}
	for len(calls) > 0 {
		n := min(len(calls), 64)
		if _, err := c.runScripts(ctx, c.seedScript, calls[:n]); err != nil {
			return fmt.Errorf("seed the counters: %w", err)
		}
		calls = calls[n:]
	}
	return nil
}

// maxSeedArgs bounds how long one call of the script takes.
const maxSeedArgs = 2000

// hashFields are what the page's hash gets.
func (t PageTotals) hashFields() []any {
	var fields []any
	add := func(name string, n int64) {
		if n > 0 {
			fields = append(fields, name, n)
		}
	}
	add("v", t.Views)
	add("c", t.Clicks)
	add("x", t.Conversions)
	add("fv", t.Funnel.Views)
	add("fc", t.Funnel.Clicks)
	add("fx", t.Funnel.Conversions)
	if t.Sketch == nil || t.UniqueMethod != HyperLogLog {
		if t.UniqueMethod == SetPerDay {
			add(dailyUniquesField, t.Uniques)
		} else {
			add(uniquesField, t.Uniques)
		}
	}
	for _, h := range t.Hours {
		add(hourField(h.Hour.Unix()/quarterSeconds, h.Kind), h.Count)
	}
	for _, d := range t.Days {
		add(dayField(d.Day, d.Kind), d.Count)
	}
	return fields
}

// MarkSeeded ends the seeding of a shard, after all totals were given to Seed.
func (c *Counter) MarkSeeded(ctx context.Context, shard int) error {
	if err := c.redis.HSet(ctx, tag(shard)+"state", "seeded", strconv.FormatInt(c.options.Now().Unix(), 10)).Err(); err != nil {
		return fmt.Errorf("end the seeding: %w", err)
	}
	return nil
}

// Sketches reads the all-time HyperLogLogs of pages (at most 14 kB each), from
// which Seed can restore them; nil for a page that has none, and always with
// miniredis.
func (c *Counter) Sketches(ctx context.Context, pages []PageID) ([][]byte, error) {
	sketches := make([][]byte, len(pages))
	byShard := map[int][]int{}
	q := c.newPageQueries()
	latest := make([]lazyCount, len(pages))
	for i, id := range pages {
		shard := c.Shard(id.Site, id.Page)
		byShard[shard] = append(byShard[shard], i)
		latest[i] = q.field(ctx, pageKey(shard, id.Site, id.Page), latestDayField)
	}
	if err := q.run(ctx); err != nil {
		return nil, fmt.Errorf("read sketches: %w", err)
	}
	for shard, all := range byShard {
		for part := range slices.Chunk(all, maxSketchesPerCall) {
			args := []any{"sketch"}
			for _, i := range part {
				args = append(args, pageKey(shard, pages[i].Site, pages[i].Page), latest[i]())
			}
			cmds, err := c.runScripts(ctx, c.shardScript, []scriptCall{{tag(shard) + "deltas", args}})
			if err != nil {
				return nil, fmt.Errorf("read sketches: %w", err)
			}
			found, err := cmds[0].StringSlice()
			if err != nil || len(found) != len(part) {
				return nil, fmt.Errorf("read sketches: %w", errors.Join(errBadReply, err))
			}
			for j, i := range part {
				if found[j] != "" {
					sketches[i] = []byte(found[j])
				}
			}
		}
	}
	return sketches, nil
}

// maxSketchesPerCall bounds how long one call of the script takes.
const maxSketchesPerCall = 50

// ErasePage deletes what is known of a page, but not what a flush has taken and
// what the rankings and dedup forget by themselves.
func (c *Counter) ErasePage(ctx context.Context, id PageID) error {
	shard := c.Shard(id.Site, id.Page)
	key := pageKey(shard, id.Site, id.Page)
	latest, err := c.redis.HGet(ctx, key+totalsKey, latestDayField).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return fmt.Errorf("forget a page: %w", err)
	}
	keys := []string{key + totalsKey}
	today := Day(c.options.Now().Unix()/86400) + 1 //nolint:gosec // a day; somewhere it is tomorrow
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
		p.HDel(ctx, tag(shard)+"refused", key)
		for _, ranking := range []string{";now", ";slow", ";rise", ";hour", ";day"} {
			p.ZRem(ctx, site+ranking, id.Page)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forget a page: %w", err)
	}
	return nil
}
