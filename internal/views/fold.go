package views

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// foldEvery is how far hours, dimensions and rankings may be behind the
	// totals.
	foldEvery = time.Second
	// mostRecords is how many hits one script call folds; nothing else runs in
	// Redis meanwhile.
	mostRecords = 1000
	// mostDeltas is how many deltas wait for the flush before they are made one.
	mostDeltas = 100
	// ranked is how many pages of a site a ranking keeps in each shard.
	ranked = 8000
)

// Half-lives of the rankings.
const (
	fastHalfLife = 10 * time.Minute
	slowHalfLife = 6 * time.Hour
)

// Run folds what was counted into hours, days, dimensions and rankings, once a
// second, until ctx ends, and gives every error to failed. Any number of
// processes may run it; what none has reached waits in Redis.
func (c *Counter) Run(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(foldEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := c.Fold(ctx); err != nil && ctx.Err() == nil {
				failed(err)
			}
		}
	}
}

// Fold does once what Run does every second.
func (c *Counter) Fold(ctx context.Context) error {
	shards := make([]int, c.Shards())
	for i := range shards {
		shards[i] = i
	}
	return errors.Join(c.foldShards(ctx, shards), c.sweepAll(ctx))
}

// foldShards folds until nothing is left.
func (c *Counter) foldShards(ctx context.Context, shards []int) error {
	for len(shards) > 0 {
		more, err := c.foldOnce(ctx, shards)
		if err != nil {
			return fmt.Errorf("fold what was counted: %w", err)
		}
		shards = more
	}
	return nil
}

// foldOnce folds a part of each shard's log and says which have more.
func (c *Counter) foldOnce(ctx context.Context, shards []int) ([]int, error) {
	number := make([]*redis.StringCmd, len(shards))
	logs := make([]*redis.StringSliceCmd, len(shards))
	_, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, shard := range shards {
			// In this order: a log that is newer than the number is not folded.
			number[i] = p.HGet(ctx, tag(shard)+"state", "change")
			logs[i] = p.LRange(ctx, tag(shard)+"log", 0, mostRecords-1)
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}
	var more, folded []int
	var calls []scriptCall
	for i, shard := range shards {
		lines, err := logs[i].Result()
		if err != nil {
			return nil, err
		}
		if len(lines) == 0 {
			continue
		}
		args, err := c.foldArgs(number[i].Val(), lines)
		if err != nil {
			return nil, err
		}
		calls = append(calls, scriptCall{tag(shard) + "log", args})
		folded = append(folded, shard)
		if len(lines) == mostRecords {
			more = append(more, shard)
		}
	}
	if len(calls) == 0 {
		return nil, nil
	}
	cmds, err := c.runAll(ctx, c.fold, calls)
	if err != nil {
		return nil, err
	}
	for i, cmd := range cmds {
		deltas, err := cmd.Int()
		if err != nil {
			return nil, err
		}
		if deltas > mostDeltas {
			if err := c.compact(ctx, folded[i]); err != nil {
				return nil, err
			}
		}
	}
	return more, nil
}

// foldArgs adds the records up. The script reads fold.lua's list of arguments.
func (c *Counter) foldArgs(number string, lines []string) ([]any, error) {
	if number == "" {
		number = "0"
	}
	var all changes
	sites := map[string]int64{} // the newest hour of each
	for _, line := range lines {
		r, err := parseRecord(line)
		if err != nil {
			return nil, err
		}
		all.of(r.page).add(r)
		site := siteOf(r.page)
		sites[site] = max(sites[site], r.quarters)
	}
	now := c.options.Now().Unix()
	args := []any{number, len(lines), all.append(nil), now,
		int64(fastHalfLife / time.Second), int64(slowHalfLife / time.Second), ranked}
	slices.SortStableFunc(all.list, func(a, b *change) int { return strings.Compare(siteOf(a.page), siteOf(b.page)) })
	for i := 0; i < len(all.list); {
		site := siteOf(all.list[i].page)
		end := i
		for end < len(all.list) && siteOf(all.list[end].page) == site {
			end++
		}
		args = append(args, site, thisHour(now, sites[site]), end-i)
		for ; i < end; i++ {
			args = all.list[i].appendArgs(args)
		}
	}
	return args, nil
}

// thisHour is the start of the hour now, for a site whose hours begin as the
// one given does. Both are in quarters.
func thisHour(unix, hour int64) int64 {
	hours := unix/quarter - hour
	return hour + hours - (hours%4+4)%4
}

func siteOf(page string) string { return page[:tagLength+22] }

func (c *change) appendArgs(args []any) []any {
	day := Day(-1)
	fields := make([]any, 0, 4*len(c.hours)+2*len(c.values)+2)
	refused := []any{0}
	for _, h := range c.hours {
		k, _ := kindOf(h.kind)
		fields = append(fields, hourField(h.quarters, k), h.count, dayField(h.day, k), h.count)
		if h.steps > 0 {
			fields = append(fields, "f"+string(h.kind), h.steps)
		}
		if k == View {
			day = max(day, h.day)
		}
	}
	for _, v := range c.values {
		switch v.letter {
		case filtered:
			refused = append(refused, v.value, v.count)
		case deviceLetter: // one letter is enough
			fields = append(fields, string(deviceLetter)+v.value[:1], v.count)
		default:
			fields = append(fields, string(v.letter)+v.value, v.count)
		}
	}
	if c.way == SetPerDay.letter() && c.firsts > 0 {
		fields = append(fields, visitsField, c.firsts)
	}
	refused[0] = len(refused) / 2
	if day >= 0 {
		args = append(args, c.page, strconv.Itoa(int(day)), dayKey(day, c.way), weekKey(day, c.way))
	} else {
		args = append(args, c.page, "", "", "")
	}
	args = append(args, len(fields)/2)
	args = append(args, fields...)
	args = append(args, len(c.minutes))
	for _, m := range c.minutes {
		args = append(args, m.minute, m.last, m.views)
	}
	return append(args, refused...)
}

// compact makes one delta of many, so that a Postgres that is away costs no
// more memory than there are pages.
func (c *Counter) compact(ctx context.Context, shard int) error {
	var number *redis.StringCmd
	var deltas *redis.StringSliceCmd
	key := tag(shard) + "deltas"
	_, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		number = p.HGet(ctx, tag(shard)+"state", "change")
		deltas = p.LRange(ctx, key, 0, -1)
		return nil
	})
	if err != nil {
		return err
	}
	var all changes
	for _, delta := range deltas.Val() {
		if err := all.read(delta); err != nil {
			return err
		}
	}
	_, err = c.runAll(ctx, c.flush, []scriptCall{{key, []any{"compact", number.Val(), len(deltas.Val()), all.append(nil)}}})
	return err
}
