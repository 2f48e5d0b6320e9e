package flush

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/retry"
)

// Result is the outcome of a flush.
type Result struct {
	Batches        int   // written to Postgres
	AlreadyApplied int   // batches that a process had applied but not dropped
	Pages          int64 // pages with increments, counted per batch
	Seeded         int64 // pages that were seeded after a loss
	Erased         int   // completed erasures
	Busy           bool  // another process held the lock; nothing was done
}

func (f *Result) add(other Result) {
	f.Batches += other.Batches
	f.AlreadyApplied += other.AlreadyApplied
	f.Pages += other.Pages
}

// Flush writes new counts to Postgres, seeds shards that lost their totals, and
// carries out pending erasures. It calls heartbeat regularly.
func (f *Flusher) Flush(ctx context.Context, heartbeat func()) (done Result, err error) {
	ok, err := f.Store.WithFlushLock(ctx, func(ctx context.Context) error {
		if err := f.flush(ctx, heartbeat, &done); err != nil {
			return err
		}
		if err := f.mergeSketches(ctx, heartbeat); err != nil {
			return fmt.Errorf("merge the visitors of sites: %w", err)
		}
		return f.erase(ctx, heartbeat, &done)
	})
	done.Busy = err == nil && !ok
	return done, err
}

// flush flushes all shards. An error in one doesn't stop the others.
func (f *Flusher) flush(ctx context.Context, heartbeat func(), done *Result) error {
	var pending error
	for shard := range f.Counter.Shards() {
		heartbeat()
		if err := f.applyLeftovers(ctx, shard, done); err != nil {
			pending = errors.Join(pending, fmt.Errorf("apply leftover batches of shard %d: %w", shard, err))
		}
	}
	if pending != nil {
		return pending // seeding needs totals that include these batches
	}
	if err := f.reseed(ctx, heartbeat, done); err != nil {
		return fmt.Errorf("seed Redis: %w", err)
	}
	taken, failed := f.takeBatches(ctx, heartbeat)
	if len(taken) > 0 {
		if err := f.waitForSync(ctx, heartbeat); err != nil {
			return err // the next flush applies them
		}
	}
	return errors.Join(failed, f.applyBatches(ctx, taken, heartbeat, done))
}

// applyWorkers is the number of batches applied concurrently: while Postgres
// writes one, the next is read from Redis.
const applyWorkers = 2

// applyBatches applies the batches of shards.
func (f *Flusher) applyBatches(ctx context.Context, taken map[int]uuid.UUID, heartbeat func(), done *Result) error {
	type job struct {
		shard int
		batch uuid.UUID
	}
	jobs := make(chan job, len(taken))
	for shard, batch := range taken {
		jobs <- job{shard, batch}
	}
	close(jobs)
	var mu sync.Mutex // guards failed, done and heartbeat
	var failed error
	var all sync.WaitGroup
	for range applyWorkers {
		all.Go(func() {
			for j := range jobs {
				var one Result
				err := f.applyBatch(ctx, j.shard, j.batch, &one)
				mu.Lock()
				heartbeat()
				done.add(one)
				if err != nil {
					failed = errors.Join(failed, fmt.Errorf("shard %d: %w", j.shard, err))
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return failed
}

// takeBatches takes a batch of every shard.
func (f *Flusher) takeBatches(ctx context.Context, heartbeat func()) (taken map[int]uuid.UUID, failed error) {
	taken = map[int]uuid.UUID{}
	for shard := range f.Counter.Shards() {
		heartbeat()
		batch, err := uuid.NewV7()
		if err != nil {
			return taken, err
		}
		took, err := f.Counter.TakeBatch(ctx, shard, batch)
		switch {
		case errors.Is(err, counter.ErrLost): // lost just now; the next flush seeds it
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("shard %d: %w", shard, err))
		case took:
			taken[shard] = batch
		}
	}
	return taken, failed
}

// AOFSyncDelay is the time until writes are in Redis' append-only file. With
// appendfsync everysec, Redis delays a write for at most two seconds while the
// disk is busy (redis.conf, "appendfsync").
const AOFSyncDelay = 3 * time.Second

// waitForSync waits until the taken batches would survive a crash of Redis.
// Otherwise Redis could come back with their counts still in place, and these
// would be taken and added again.
func (f *Flusher) waitForSync(ctx context.Context, heartbeat func()) error {
	heartbeat()
	return retry.Sleep(ctx, f.SyncDelay)
}

// applyLeftovers applies the batches of unfinished flushes.
func (f *Flusher) applyLeftovers(ctx context.Context, shard int, done *Result) error {
	batches, err := f.Counter.Batches(ctx, shard)
	if err != nil {
		return err
	}
	for _, batch := range batches {
		if err := f.applyBatch(ctx, shard, batch, done); err != nil {
			return err
		}
	}
	return nil
}

// applyBatch applies a batch and drops it once it is in Postgres.
func (f *Flusher) applyBatch(ctx context.Context, shard int, batch uuid.UUID, done *Result) error {
	read, err := f.Counter.ReadBatch(ctx, shard, batch)
	if err != nil {
		return err
	}
	applied, err := f.Store.ApplyViewBatch(ctx, shard, batch, read)
	if err != nil {
		return err
	}
	if applied {
		done.Batches++
		done.Pages += int64(len(read.Deltas))
	} else {
		done.AlreadyApplied++
	}
	return f.Counter.DropBatch(ctx, shard, batch)
}

// seedBatchSize is the number of pages seeded at a time.
const seedBatchSize = 500

// reseed seeds shards that are new or lost their totals.
func (f *Flusher) reseed(ctx context.Context, heartbeat func(), done *Result) error {
	shards, err := f.Counter.LostShards(ctx)
	if err != nil || len(shards) == 0 {
		return err
	}
	pages := map[int]int64{}
	lost := map[int]int64{} // pages that had counts: imported ones have none of their own
	for _, shard := range shards {
		pages[shard] = 0
	}
	for after := (counter.PageID{}); ; {
		all, err := f.Store.ViewPageTotals(ctx, after, seedBatchSize)
		if err != nil {
			return err
		}
		heartbeat()
		var totals []counter.PageTotals
		for _, t := range all {
			shard := f.Counter.Shard(t.Site, t.Page)
			if n, seeds := pages[shard]; seeds {
				totals, pages[shard] = append(totals, t), n+1
				if t.Views+t.Clicks+t.Conversions > 0 {
					lost[shard]++
				}
			}
		}
		if len(totals) > 0 {
			if err := f.Counter.Seed(ctx, totals); err != nil {
				return err
			}
		}
		if len(all) < seedBatchSize {
			break
		}
		after = all[len(all)-1].PageID
	}
	for _, shard := range shards {
		if err := f.Counter.MarkSeeded(ctx, shard); err != nil {
			return err
		}
		done.Seeded += pages[shard]
		if lost[shard] == 0 {
			continue // a new installation
		}
		f.Log.WarnContext(ctx, "Redis lost its view counts; restored them from the database", "shard", shard, "pages",
			lost[shard])
		if err := f.Store.RecordViewLoss(ctx, shard, lost[shard]); err != nil {
			return err
		}
	}
	return nil
}
