package counter

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
	// aggregateInterval is the minimum pause between two aggregations, and
	// maxAggregateInterval the maximum under load: hours, dimensions and rankings
	// may lag behind the totals by this much. Views of a page are aggregated
	// together, so larger aggregations are cheaper per view.
	aggregateInterval, maxAggregateInterval = 2 * time.Second, 6 * time.Second
	// aggregateTimeShare limits aggregating to about a tenth of the time: the pause
	// is this multiple of the last aggregation's duration.
	aggregateTimeShare = 10
	// logReadSize is the number of log entries, of up to a hundred hits each, that
	// are read at a time; maxLogEntries is the maximum number that are summarized
	// together.
	logReadSize, maxLogEntries = 1_000, 30_000
	// maxPagesPerCall is the maximum number of pages per script call. A call blocks
	// Redis for one to three milliseconds.
	maxPagesPerCall = 50
	// aggregateWorkers is the number of shards that are aggregated concurrently:
	// while Redis works on one, the arguments of the next are prepared.
	aggregateWorkers = 2
	// maxDeltas is the number of deltas of a shard above which they are compacted.
	maxDeltas = 100
	// maxRankedPages is the number of pages that a site's ranking stores per shard.
	maxRankedPages = 8000
)

// nowHalfLife is the half-life of the ranking of current views.
const nowHalfLife = 10 * time.Minute

// Run aggregates every two to six seconds until ctx ends, and passes errors to
// failed. Any number of processes may run it.
func (c *Counter) Run(ctx context.Context, failed func(error)) {
	timer := time.NewTimer(aggregateInterval)
	defer timer.Stop()
	var checked time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			start := time.Now()
			if start.Sub(checked) >= appendLogInterval {
				checked = start
				if err := c.rewriteLogs(ctx); err != nil && ctx.Err() == nil {
					failed(err)
				}
			}
			if err := c.Aggregate(ctx); err != nil && ctx.Err() == nil {
				failed(err)
			}
			timer.Reset(min(max(aggregateInterval, aggregateTimeShare*time.Since(start)), maxAggregateInterval))
		}
	}
}

// Aggregate updates hours, days, dimensions and rankings with the hits counted
// since the last aggregation, and removes what has left the rankings' windows.
func (c *Counter) Aggregate(ctx context.Context) error {
	_, err := c.aggregateShards(ctx, c.allShards())
	return errors.Join(err, c.sweepRankings(ctx))
}

// aggregateShards aggregates the hits of shards. The scripts do nothing if
// another process changed the shard concurrently; then all is false because
// something may be left.
func (c *Counter) aggregateShards(ctx context.Context, shards []int) (all bool, err error) {
	logs := shards
	if !c.isCluster { // any log may contain hits of any shard
		logs = c.allShards()
	}
	waiting, transfers := make([]*redis.IntCmd, len(logs)), make([]*redis.IntCmd, len(logs))
	_, err = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, shard := range logs {
			waiting[i], transfers[i] = p.LLen(ctx, tag(shard)+"log"), p.LLen(ctx, tag(shard)+"transfers")
		}
		return nil
	})
	all = true
	for i := 0; err == nil && i < len(logs); i++ {
		for n, ok := waiting[i].Val()/2, true; n > 0 && ok && err == nil; n -= maxLogEntries {
			ok, err = c.summarizeLog(ctx, logs[i])
			all = all && ok
		}
		if err == nil && (transfers[i].Val() > 0 || c.isCluster && waiting[i].Val() > 0) {
			err = c.transferSummaries(ctx, logs[i])
		}
	}
	if err != nil {
		return false, fmt.Errorf("summarize the log: %w", err)
	}
	ok, err := c.applySummaries(ctx, shards)
	if err != nil {
		return false, fmt.Errorf("apply summaries: %w", err)
	}
	return all && ok, nil
}

func (c *Counter) allShards() []int {
	shards := make([]int, c.Shards())
	for i := range shards {
		shards[i] = i
	}
	return shards
}

// applySummaries applies the summaries of shards with aggregateWorkers.
func (c *Counter) applySummaries(ctx context.Context, shards []int) (ok bool, err error) {
	lists := make([]*redis.IntCmd, len(shards))
	if _, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, shard := range shards {
			lists[i] = p.LLen(ctx, tag(shard)+"summaries")
		}
		return nil
	}); err != nil {
		return false, err
	}
	next := make(chan int, len(shards))
	for i, shard := range shards {
		if lists[i].Val() > 0 {
			next <- shard
		}
	}
	close(next)
	results := make([]struct {
		failed     error
		conflicted bool
	}, min(aggregateWorkers, len(next)))
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() {
			for shard := range next {
				ok, err := c.applyShardSummaries(ctx, shard)
				results[i].failed = errors.Join(results[i].failed, err)
				results[i].conflicted = results[i].conflicted || !ok
			}
		})
	}
	all.Wait()
	ok = true
	for _, f := range results {
		ok, err = ok && !f.conflicted, errors.Join(err, f.failed)
	}
	return ok, err
}

// applyShardSummaries applies the summaries of one shard. ok is false if
// another process did so concurrently.
func (c *Counter) applyShardSummaries(ctx context.Context, shard int) (ok bool, err error) {
	var number *redis.StringCmd
	var lists *redis.StringSliceCmd
	_, err = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		// In this order, the list can't be newer than the number.
		number = p.HGet(ctx, tag(shard)+"state", "change")
		lists = p.LRange(ctx, tag(shard)+"summaries", 0, -1)
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, err
	}
	change, deltas := atoi(number.Val()), 0
	for _, summary := range lists.Val() {
		args, err := aggregateArgs(change, summary, c.options.Now())
		if err != nil {
			// The rest is applied once the entry is out of the list.
			return false, c.quarantine(ctx, shard, listSummaries, c.newQuarantineRecord(listSummaries, summary, err))
		}
		cmds, err := c.runScripts(ctx, c.aggregateScript, []scriptCall{{tag(shard) + "summaries", args}})
		if err != nil {
			return false, err
		}
		if deltas, err = cmds[0].Int(); err != nil || deltas < 0 {
			return false, err
		}
		change++
	}
	if deltas > maxDeltas {
		return true, c.compact(ctx, shard)
	}
	return true, nil
}

// compact merges the deltas of a shard into one, so that while Postgres is
// unavailable memory only grows with the number of pages.
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
	var all summaries
	for _, delta := range deltas.Val() {
		if err := all.decode(delta); err != nil {
			return c.quarantine(ctx, shard, listDeltas, c.newQuarantineRecord(listDeltas, delta, err))
		}
	}
	_, err = c.runScripts(ctx, c.shardScript, []scriptCall{
		{key, []any{"compact", number.Val(), len(deltas.Val()), encodeSummaries(all.list, false)}},
	})
	return err
}

// aggregateArgs builds the arguments of aggregate.lua from encoded summaries.
func aggregateArgs(number int64, summary string, at time.Time) ([]any, error) {
	var all summaries
	if err := all.decode(summary); err != nil {
		return nil, err
	}
	now := at.Unix()
	args := []any{number, now, int64(nowHalfLife / time.Second), maxRankedPages, maxReferrers, maxReasons}
	for len(all.list) > 0 {
		site, hour := siteKeyOf(all.list[0].page), int64(0)
		n := 0
		for ; n < len(all.list) && siteKeyOf(all.list[n].page) == site; n++ {
			for _, h := range all.list[n].hours {
				hour = max(hour, h.quarters)
			}
		}
		args = append(args, site, currentHour(now, hour))
		args = append(appendSiteVisitors(args, all.list[:n]), n)
		for _, change := range all.list[:n] {
			args = change.appendArgs(args)
		}
		all.list = all.list[n:]
	}
	return args, nil
}

// currentHour returns the start of the current hour on the clock of a site,
// given the start of any of its hours. Both are in quarters.
func currentHour(unix, hour int64) int64 {
	hours := unix/quarterSeconds - hour
	return hour + hours - (hours%4+4)%4
}

func siteKeyOf(page string) string { return page[:siteLength] }

func (c *pageSummary) appendArgs(args []any) []any {
	var days []int64
	var fields increments
	var reasons []any
	var filteredHits []int64
	for _, h := range c.hours {
		k := kindFor(h.kind)
		if k.code() < 0 {
			continue
		}
		fields.add(hourField(h.quarters, k), h.count)
		fields.add(dayField(h.day, k), h.count)
		fields.add("f"+string(h.kind), h.funnel)
		if k == View && !slices.Contains(days, int64(h.day)) {
			days = append(days, int64(h.day))
		}
	}
	for _, v := range c.boundedValues() {
		switch {
		case isVisitLetter(v.letter), v.letter == eventLetter: // of the site only
		case v.letter == filtered:
			reasons, filteredHits = append(reasons, v.value), append(filteredHits, v.count)
		case v.letter == deviceLetter: // stored as one letter
			fields.add(string(deviceLetter)+v.value[:1], v.count)
		default:
			fields.add(string(v.letter)+v.value, v.count)
		}
	}
	if c.method == SetPerDay.letter() {
		fields.add(dailyUniquesField, c.newVisitors)
	}
	slices.Sort(days)
	pageVisitors := c.dayVisitors
	if c.method != HyperLogLog.letter() { // count.lua stores them
		pageVisitors = nil
	}
	numbers := make([]byte, 0, 8*(5+len(days)+len(pageVisitors)+len(fields)+3*len(c.minutes)+len(reasons)))
	numbers = appendLong(numbers, int64(len(days)), int64(len(pageVisitors)), int64(len(fields)),
		int64(len(c.minutes)), int64(len(reasons)))
	numbers = appendLong(numbers, days...)
	for _, s := range pageVisitors {
		numbers = appendLong(numbers, int64(s.day))
	}
	for _, f := range fields {
		numbers = appendLong(numbers, f.count)
	}
	for _, m := range c.minutes {
		numbers = appendLong(numbers, m.minute, m.last, m.views)
	}
	args = append(args, c.page, string(c.method), appendLong(numbers, filteredHits...))
	for _, s := range pageVisitors {
		args = append(args, appendVisitors(nil, s.visitors), appendRegisters(s.day, s.visitors))
	}
	for _, f := range fields {
		args = append(args, f.name)
	}
	return append(args, reasons...)
}

// appendLong appends numbers of eight bytes each.
func appendLong(b []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		b = binary.BigEndian.AppendUint64(b, uint64(n)) //nolint:gosec // never negative
	}
	return b
}

func appendVisitors(b []byte, visitors []uint64) []byte {
	b = slices.Grow(b, 8*len(visitors))
	for _, v := range visitors {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

// appendSiteVisitors appends the number of days, and each day's visitors on any
// of the pages, once each.
func appendSiteVisitors(args []any, pages []*pageSummary) []any {
	byDay := map[Day][]uint64{}
	for _, page := range pages {
		for _, s := range page.dayVisitors {
			byDay[s.day] = append(byDay[s.day], s.visitors...)
		}
	}
	args = append(args, len(byDay))
	for day, visitors := range byDay {
		slices.Sort(visitors)
		args = append(args, int64(day), appendVisitors(nil, slices.Compact(visitors)))
	}
	return args
}

// boundedValues returns the dimension values, with the rarest referrers merged
// into Other if there are too many. The flush checks which ones the page
// stores.
func (c *pageSummary) boundedValues() []valueCount {
	var referrers []valueCount
	var rest []valueCount
	for _, v := range c.values {
		if v.letter == referrerLetter {
			referrers = append(referrers, v)
		} else {
			rest = append(rest, v)
		}
	}
	if len(referrers) > 2*maxReferrers {
		slices.SortStableFunc(referrers, func(a, b valueCount) int { return cmp.Compare(b.count, a.count) })
		for _, v := range referrers[2*maxReferrers:] {
			rest = append(rest, valueCount{valueKey{referrerLetter, v.day, Other}, v.count})
		}
		referrers = referrers[:2*maxReferrers]
	}
	return append(rest, referrers...)
}
