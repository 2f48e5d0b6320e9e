package counter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// aggregateInterval is how far hours, dimensions and rankings may be behind the
	// totals; foldSeldom is, while so much comes that folding it takes long: the
	// views of a page are folded together, and the more there are of them, the
	// less each costs.
	aggregateInterval, maxAggregateInterval = 2 * time.Second, 6 * time.Second
	// aggregateTimeShare is how much of the time may go into folding before it is done
	// less often.
	aggregateTimeShare = 10
	// logReadSize is how many entries of a log, which are of up to a hundred hits
	// each, are read at a time, and mostEntries how many are added up: the more,
	// the less there is to fold for each.
	logReadSize, maxLogEntries = 1_000, 30_000
	// maxPagesPerCall is how many pages one script call folds; nothing else runs in
	// Redis meanwhile: one to three milliseconds.
	maxPagesPerCall = 50
	// aggregateWorkers is how many shards are folded at a time. While Redis folds one, the
	// next is prepared.
	aggregateWorkers = 2
	// maxDeltas is how many deltas wait for the flush before they are made one.
	maxDeltas = 100
	// maxRankedPages is how many pages of a site a ranking keeps in each shard.
	maxRankedPages = 8000
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
	timer := time.NewTimer(aggregateInterval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			start := time.Now()
			if err := c.Aggregate(ctx); err != nil && ctx.Err() == nil {
				failed(err)
			}
			timer.Reset(min(max(aggregateInterval, aggregateTimeShare*time.Since(start)), maxAggregateInterval))
		}
	}
}

// Aggregate does once what Run does again and again.
func (c *Counter) Aggregate(ctx context.Context) error {
	_, err := c.aggregateShards(ctx, c.allShards())
	return errors.Join(err, c.sweepRankings(ctx))
}

// aggregateShards folds what lies in the shards now. What it does is done by scripts
// that do nothing when another process came between them and what they were
// told; then something may be left, and all is false.
func (c *Counter) aggregateShards(ctx context.Context, shards []int) (all bool, err error) {
	logs := shards
	if !c.isCluster { // any log may have hits of any shard
		logs = c.allShards()
	}
	waiting, away := make([]*redis.IntCmd, len(logs)), make([]*redis.IntCmd, len(logs))
	_, err = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, shard := range logs {
			waiting[i], away[i] = p.LLen(ctx, tag(shard)+"log"), p.LLen(ctx, tag(shard)+"away")
		}
		return nil
	})
	all = true
	for i := 0; err == nil && i < len(logs); i++ {
		for n, mine := waiting[i].Val()/2, true; n > 0 && mine && err == nil; n -= maxLogEntries {
			mine, err = c.summarizeLog(ctx, logs[i])
			all = all && mine
		}
		if err == nil && (away[i].Val() > 0 || c.isCluster && waiting[i].Val() > 0) {
			err = c.transferSummaries(ctx, logs[i])
		}
	}
	if err != nil {
		return false, fmt.Errorf("add up what was counted: %w", err)
	}
	mine, err := c.applySummaries(ctx, shards)
	if err != nil {
		return false, fmt.Errorf("fold what was added up: %w", err)
	}
	return all && mine, nil
}

func (c *Counter) allShards() []int {
	shards := make([]int, c.Shards())
	for i := range shards {
		shards[i] = i
	}
	return shards
}

// applySummaries folds those of the shards that have sums, some at a time.
func (c *Counter) applySummaries(ctx context.Context, shards []int) (mine bool, err error) {
	sums := make([]*redis.IntCmd, len(shards))
	if _, err := c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, shard := range shards {
			sums[i] = p.LLen(ctx, tag(shard)+"sums")
		}
		return nil
	}); err != nil {
		return false, err
	}
	next := make(chan int, len(shards))
	for i, shard := range shards {
		if sums[i].Val() > 0 {
			next <- shard
		}
	}
	close(next)
	folded := make([]struct {
		failed    error
		disturbed bool
	}, min(aggregateWorkers, len(next)))
	var all sync.WaitGroup
	for i := range folded {
		all.Go(func() {
			for shard := range next {
				mine, err := c.applyShardSummaries(ctx, shard)
				folded[i].failed = errors.Join(folded[i].failed, err)
				folded[i].disturbed = folded[i].disturbed || !mine
			}
		})
	}
	all.Wait()
	mine = true
	for _, f := range folded {
		mine, err = mine && !f.disturbed, errors.Join(err, f.failed)
	}
	return mine, err
}

// applyShardSummaries folds the sums of a shard. It is not mine when somebody else does.
func (c *Counter) applyShardSummaries(ctx context.Context, shard int) (mine bool, err error) {
	var number *redis.StringCmd
	var sums *redis.StringSliceCmd
	_, err = c.redis.Pipelined(ctx, func(p redis.Pipeliner) error {
		// In this order: a list that is newer than the number is not folded.
		number = p.HGet(ctx, tag(shard)+"state", "change")
		sums = p.LRange(ctx, tag(shard)+"sums", 0, -1)
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return false, err
	}
	change, deltas := atoi(number.Val()), 0
	for _, sum := range sums.Val() {
		args, err := c.aggregateArgs(change, sum)
		if err != nil {
			// What follows it is folded from a list without it.
			return false, c.quarantine(ctx, shard, listSummaries, c.newQuarantineRecord(listSummaries, sum, err))
		}
		cmds, err := c.runScripts(ctx, c.aggregateScript, []scriptCall{{tag(shard) + "sums", args}})
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
	var all summaries
	for _, delta := range deltas.Val() {
		if err := all.decode(delta); err != nil {
			return c.quarantine(ctx, shard, listDeltas, c.newQuarantineRecord(listDeltas, delta, err))
		}
	}
	_, err = c.runScripts(ctx, c.shardScript, []scriptCall{{key, []any{"compact", number.Val(), len(deltas.Val()), encodeSummaries(all.list, false)}}})
	return err
}
