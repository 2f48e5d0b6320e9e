package counter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// PageTotals are the counts of a page in Postgres that its counting in Redis
// continues from.
type PageTotals struct {
	PageID
	UniqueMethod               UniqueMethod
	Views, Clicks, Conversions int64
	Funnel                     Funnel
	Uniques                    int64 // all time
	Sketch                     []byte
	Hours                      []HourDelta // of the last 48 hours, for today's counts and the rankings
	Days                       []DayCount  // of the last 35 days
}

// DayCount is the count of a kind of hit on a day.
type DayCount struct {
	Kind  Kind
	Day   Day
	Count int64
}

// LostShards lists the shards that are new or lost their counters, and have not
// been seeded since.
func (c *Counter) LostShards(ctx context.Context) ([]int, error) {
	seeded := make([]*redis.BoolCmd, c.Shards())
	if _, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for shard := range seeded {
			seeded[shard] = p.HExists(ctx, tag(shard)+"state", "seeded")
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("list lost shards: %w", err)
	}
	var lost []int
	for shard, exists := range seeded {
		if !exists.Val() {
			lost = append(lost, shard)
		}
	}
	return lost, nil
}

// Seed adds the totals of Postgres to what was counted since the loss. It is
// idempotent: each page is seeded once, and pages of shards that are not lost
// are skipped. The totals in Postgres must not change between the first call
// for a shard and MarkSeeded.
func (c *Counter) Seed(ctx context.Context, totals []PageTotals) error {
	now := c.options.Now().Unix()
	args := map[int][]any{} // by shard
	var calls []scriptCall
	finish := func(shard int) {
		calls = append(calls, scriptCall{tag(shard) + "log", append([]any{now}, args[shard]...)})
		delete(args, shard)
	}
	for _, total := range totals {
		if total.UniqueMethod.letter() == 0 {
			return fmt.Errorf("seed page %q: %w", total.Page, ErrUniqueMethod)
		}
		sketch, list := "", registerList("")
		if total.UniqueMethod == HyperLogLog {
			var all Sketch
			if err := all.Merge(total.Sketch); err != nil {
				return fmt.Errorf("seed page %q: %w", total.Page, err)
			}
			// As visitors of a day that is not counted by day and week anymore.
			sketch, list = string(total.Sketch), all.list(Day(now/86400)-MaxDays) //nolint:gosec // a day
		}
		t, fields := c.Shard(total.Site, total.Page), total.hashFields()
		args[t] = append(args[t], pageKey(t, total.Site, total.Page), sketch, string(list), len(fields)/2)
		args[t] = append(args[t], fields...)
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

// maxSeedArgs limits the duration of a script call.
const maxSeedArgs = 2000

// hashFields returns names and increments of fields of the page's hash.
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

// MarkSeeded ends the seeding of a shard, after Seed was called with all
// totals.
func (c *Counter) MarkSeeded(ctx context.Context, shard int) error {
	if err := c.redis.HSet(ctx, tag(shard)+"state", "seeded", strconv.FormatInt(c.options.Now().Unix(), 10)).
		Err(); err != nil {
		return fmt.Errorf("end the seeding: %w", err)
	}
	return nil
}

// Sketches reads the all-time HyperLogLogs of pages (at most 14 kB each), from
// which Seed can restore them. The result is nil for a page without one.
func (c *Counter) Sketches(ctx context.Context, pages []PageID) ([][]byte, error) {
	sketches := make([][]byte, len(pages))
	byShard := map[int][]int{}
	q := c.newPageQueries()
	fields := make([]*redis.SliceCmd, len(pages))
	for i, id := range pages {
		fields[i] = q.pipe.HMGet(ctx, c.pageKey(id.Site, id.Page)+totalsKey, latestDayField, registersField)
	}
	if err := q.run(ctx); err != nil {
		return nil, fmt.Errorf("read sketches: %w", err)
	}
	latest := make([]int64, len(pages))
	for i, id := range pages {
		day, _ := fields[i].Val()[0].(string)
		latest[i] = atoi(day)
		if list, _ := fields[i].Val()[1].(string); list != "" {
			sketches[i] = registerList(list).sketch().Bytes()
			continue
		}
		shard := c.Shard(id.Site, id.Page)
		byShard[shard] = append(byShard[shard], i)
	}
	for shard, all := range byShard {
		for part := range slices.Chunk(all, maxSketchesPerCall) {
			args := []any{"sketch"}
			for _, i := range part {
				args = append(args, pageKey(shard, pages[i].Site, pages[i].Page), latest[i])
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

// maxSketchesPerCall limits the duration of a script call.
const maxSketchesPerCall = 50
