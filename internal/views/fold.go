package views

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// foldEvery is how far hours, dimensions and rankings may be behind the
	// totals; foldSeldom is, while so much comes that folding it takes long: the
	// views of a page are folded together, and the more there are of them, the
	// less each costs.
	foldEvery, foldSeldom = 2 * time.Second, 6 * time.Second
	// foldShare is how much of the time may go into folding before it is done
	// less often.
	foldShare = 10
	// readAtOnce is how many entries of a log, which are of up to a hundred hits
	// each, are read at a time, and mostEntries how many are added up: the more,
	// the less there is to fold for each.
	readAtOnce, mostEntries = 1_000, 30_000
	// mostPages is how many pages one script call folds; nothing else runs in
	// Redis meanwhile: one to three milliseconds.
	mostPages = 50
	// folders is how many shards are folded at a time. While Redis folds one, the
	// next is prepared.
	folders = 2
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

// Run folds what was counted into hours, days, dimensions and rankings, every
// two to six seconds, until ctx ends, and gives every error to failed. Any number of
// processes may run it; what none has reached waits in Redis.
func (c *Counter) Run(ctx context.Context, failed func(error)) {
	timer := time.NewTimer(foldEvery)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			start := time.Now()
			if err := c.Fold(ctx); err != nil && ctx.Err() == nil {
				failed(err)
			}
			timer.Reset(min(max(foldEvery, foldShare*time.Since(start)), foldSeldom))
		}
	}
}

// Fold does once what Run does again and again.
func (c *Counter) Fold(ctx context.Context) error {
	return errors.Join(c.foldShards(ctx, c.allShards()), c.sweepAll(ctx))
}

// foldShards folds what lies in the shards now. What it does is done by scripts
// that do nothing when another process came between them and what they were
// told.
func (c *Counter) foldShards(ctx context.Context, shards []int) error {
	logs := shards
	if !c.spread { // any log may have hits of any shard
		logs = c.allShards()
	}
	waiting, away := make([]*redis.IntCmd, len(logs)), make([]*redis.IntCmd, len(logs))
	_, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, shard := range logs {
			waiting[i], away[i] = p.LLen(ctx, tag(shard)+"log"), p.LLen(ctx, tag(shard)+"away")
		}
		return nil
	})
	for i := 0; err == nil && i < len(logs); i++ {
		for n := waiting[i].Val() / 2; n > 0 && err == nil; n -= mostEntries {
			err = c.gather(ctx, logs[i])
		}
		if err == nil && (away[i].Val() > 0 || c.spread && waiting[i].Val() > 0) {
			err = c.carry(ctx, logs[i])
		}
	}
	if err != nil {
		return fmt.Errorf("add up what was counted: %w", err)
	}
	if err := c.foldSums(ctx, shards); err != nil {
		return fmt.Errorf("fold what was counted: %w", err)
	}
	return nil
}

func (c *Counter) allShards() []int {
	shards := make([]int, c.Shards())
	for i := range shards {
		shards[i] = i
	}
	return shards
}

// foldSums folds shards, some at a time.
func (c *Counter) foldSums(ctx context.Context, shards []int) error {
	next := make(chan int, len(shards))
	for _, shard := range shards {
		next <- shard
	}
	close(next)
	failed := make([]error, min(folders, len(shards)))
	var all sync.WaitGroup
	for i := range failed {
		all.Go(func() {
			for shard := range next {
				failed[i] = errors.Join(failed[i], c.foldShard(ctx, shard))
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// foldShard folds the sums of a shard.
func (c *Counter) foldShard(ctx context.Context, shard int) error {
	var number *redis.StringCmd
	var sums *redis.StringSliceCmd
	_, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		// In this order: a list that is newer than the number is not folded.
		number = p.HGet(ctx, tag(shard)+"state", "change")
		sums = p.LRange(ctx, tag(shard)+"sums", 0, -1)
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	change, deltas := atoi(number.Val()), 0
	for _, sum := range sums.Val() {
		args, err := c.foldArgs(change, sum)
		if err != nil {
			return err
		}
		cmds, err := c.runAll(ctx, c.fold, []scriptCall{{tag(shard) + "sums", args}})
		if err != nil {
			return err
		}
		if deltas, err = cmds[0].Int(); err != nil || deltas < 0 {
			return err // -1: somebody else folds
		}
		change++
	}
	if deltas > mostDeltas {
		return c.compact(ctx, shard)
	}
	return nil
}

// foldArgs turns a sum into the arguments that fold.lua describes.
func (c *Counter) foldArgs(number int64, sum string) ([]any, error) {
	var all changes
	if err := all.read(sum); err != nil {
		return nil, err
	}
	now := c.options.Now().Unix()
	args := []any{number, now,
		int64(fastHalfLife / time.Second), int64(slowHalfLife / time.Second), ranked, keptReferrers, keptReasons}
	for len(all.list) > 0 {
		site, hour := siteOf(all.list[0].page), int64(0)
		n := 0
		for ; n < len(all.list) && siteOf(all.list[n].page) == site; n++ {
			for _, h := range all.list[n].hours {
				hour = max(hour, h.quarters)
			}
		}
		args = append(args, site, thisHour(now, hour), n)
		for _, change := range all.list[:n] {
			args = change.appendArgs(args)
		}
		all.list = all.list[n:]
	}
	return args, nil
}

// thisHour is the start of the hour now, for a site whose hours begin as the
// one given does. Both are in quarters.
func thisHour(unix, hour int64) int64 {
	hours := unix/quarter - hour
	return hour + hours - (hours%4+4)%4
}

func siteOf(page string) string { return page[:siteLength] }

func (c *change) appendArgs(args []any) []any {
	var days []int64
	var fields increments
	refused := []any{0}
	for _, h := range c.hours {
		k := kindOf(h.kind)
		fields.add(hourField(h.quarters, k), h.count)
		fields.add(dayField(h.day, k), h.count)
		fields.add("f"+string(h.kind), h.steps)
		if k == View && !slices.Contains(days, int64(h.day)) {
			days = append(days, int64(h.day))
		}
	}
	for _, v := range c.frequent() {
		switch v.letter {
		case filtered:
			refused = append(refused, v.value, v.count)
		case deviceLetter: // one letter is enough
			fields.add(string(deviceLetter)+v.value[:1], v.count)
		default:
			fields.add(string(v.letter)+v.value, v.count)
		}
	}
	if c.way == SetPerDay.letter() {
		fields.add(visitsField, c.firsts)
	}
	refused[0] = len(refused) / 2
	slices.Sort(days)
	args = append(args, c.page, string(c.way), len(days))
	for _, day := range days {
		args = append(args, day)
	}
	args = append(args, len(c.seen))
	for _, s := range c.seen {
		visitors := make([]byte, 0, 8*len(s.visitors))
		for _, v := range s.visitors {
			visitors = binary.BigEndian.AppendUint64(visitors, v)
		}
		args = append(args, int64(s.day), visitors)
	}
	args = append(args, len(fields))
	for _, f := range fields {
		args = append(args, f.name)
	}
	for _, f := range fields {
		args = append(args, f.count)
	}
	args = append(args, len(c.minutes))
	for _, m := range c.minutes {
		args = append(args, m.minute, m.last, m.views)
	}
	return append(args, refused...)
}

// frequent are the values without referrers that a page has no room for: they
// are counted under Other. The flush asks which ones have room.
func (c *change) frequent() []valueChange {
	var referrers []valueChange
	var rest []valueChange
	for _, v := range c.values {
		if v.letter == referrerLetter {
			referrers = append(referrers, v)
		} else {
			rest = append(rest, v)
		}
	}
	if len(referrers) > 2*keptReferrers {
		slices.SortStableFunc(referrers, func(a, b valueChange) int { return cmp.Compare(b.count, a.count) })
		for _, v := range referrers[2*keptReferrers:] {
			rest = append(rest, valueChange{valueKey{referrerLetter, v.day, Other}, v.count})
		}
		referrers = referrers[:2*keptReferrers]
	}
	return append(rest, referrers...)
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
	_, err = c.runAll(ctx, c.flush, []scriptCall{{key, []any{"compact", number.Val(), len(deltas.Val()), encodeChanges(all.list, false)}}})
	return err
}
