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

// Result says what a flush did.
type Result struct {
	Batches        int   // that were brought to Postgres
	AlreadyApplied int   // that had been brought before, by somebody who did not live to drop them
	Pages          int64 // with something new, counted per batch
	Seeded         int64 // pages that were filled in after a loss
	Erased         int   // requests to forget that were carried out
	Busy           bool  // somebody else was at it; nothing was done
}

func (f *Result) add(other Result) {
	f.Batches += other.Batches
	f.AlreadyApplied += other.AlreadyApplied
	f.Pages += other.Pages
}

// Flush brings to Postgres what was counted, fills Redis in where it has lost
// its totals, and forgets what is to be forgotten. beat is called now and then.
func (k *Flusher) Flush(ctx context.Context, beat func()) (done Result, err error) {
	ok, err := k.Store.WithFlushLock(ctx, func(ctx context.Context) error {
		if err := k.flush(ctx, beat, &done); err != nil {
			return err
		}
		return k.erase(ctx, beat, &done)
	})
	done.Busy = err == nil && !ok
	return done, err
}

// flush does all shards; one in trouble does not keep the others.
func (k *Flusher) flush(ctx context.Context, beat func(), done *Result) error {
	var unsafe error
	for shard := range k.Counter.Shards() {
		beat()
		if err := k.applyLeftovers(ctx, shard, done); err != nil {
			unsafe = errors.Join(unsafe, fmt.Errorf("what an earlier flush of shard %d left: %w", shard, err))
		}
	}
	if unsafe != nil {
		return unsafe // until these are in Postgres, nothing may be seeded from there
	}
	if err := k.reseed(ctx, beat, done); err != nil {
		return fmt.Errorf("filling Redis in again: %w", err)
	}
	taken, failed := k.takeBatches(ctx, beat)
	if len(taken) > 0 {
		if err := k.waitForSync(ctx, beat); err != nil {
			return err // the next flush finds them
		}
	}
	return errors.Join(failed, k.applyBatches(ctx, taken, beat, done))
}

// applyWorkers is how many batches are brought at a time: while Postgres writes one,
// the next is read from Redis.
const applyWorkers = 2

// applyBatches brings the batches of shards.
func (k *Flusher) applyBatches(ctx context.Context, taken map[int]uuid.UUID, beat func(), done *Result) error {
	type job struct {
		shard int
		batch uuid.UUID
	}
	jobs := make(chan job, len(taken))
	for shard, batch := range taken {
		jobs <- job{shard, batch}
	}
	close(jobs)
	var mu sync.Mutex // of failed, done and beat
	var failed error
	var all sync.WaitGroup
	for range applyWorkers {
		all.Go(func() {
			for j := range jobs {
				var one Result
				err := k.applyBatch(ctx, j.shard, j.batch, &one)
				mu.Lock()
				beat()
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

// takeBatches moves aside what every shard has counted.
func (k *Flusher) takeBatches(ctx context.Context, beat func()) (taken map[int]uuid.UUID, failed error) {
	taken = map[int]uuid.UUID{}
	for shard := range k.Counter.Shards() {
		beat()
		batch, err := uuid.NewV7()
		if err != nil {
			return taken, err
		}
		took, err := k.Counter.TakeBatch(ctx, shard, batch)
		switch {
		case errors.Is(err, counter.ErrLost): // just now; the next flush fills it in
		case err != nil:
			failed = errors.Join(failed, fmt.Errorf("shard %d: %w", shard, err))
		case took:
			taken[shard] = batch
		}
	}
	return taken, failed
}

// AOFSyncDelay is how long it takes until what Redis was told is in its append-only
// file: with appendfsync everysec, Redis holds a write back for two seconds at
// most while the disk is busy (redis.conf, "appendfsync").
const AOFSyncDelay = 3 * time.Second

// waitForSync waits until Redis would remember the batches after a crash. If it came
// back as it was before they were taken, with their counts still in place, what
// is in Postgres by then would be taken, and added, again.
func (k *Flusher) waitForSync(ctx context.Context, beat func()) error {
	beat()
	return retry.Sleep(ctx, k.SyncDelay)
}

// applyLeftovers brings the batches of flushes that did not end.
func (k *Flusher) applyLeftovers(ctx context.Context, shard int, done *Result) error {
	batches, err := k.Counter.Batches(ctx, shard)
	if err != nil {
		return err
	}
	for _, batch := range batches {
		if err := k.applyBatch(ctx, shard, batch, done); err != nil {
			return err
		}
	}
	return nil
}

// applyBatch applies a batch, and drops it once it is in Postgres.
func (k *Flusher) applyBatch(ctx context.Context, shard int, batch uuid.UUID, done *Result) error {
	read, err := k.Counter.ReadBatch(ctx, shard, batch)
	if err != nil {
		return err
	}
	applied, err := k.Store.ApplyViewBatch(ctx, shard, batch, read)
	if err != nil {
		return err
	}
	if applied {
		done.Batches++
		done.Pages += int64(len(read.Deltas))
	} else {
		done.AlreadyApplied++
	}
	return k.Counter.DropBatch(ctx, shard, batch)
}

// seedBatchSize is how many pages are filled in at once.
const seedBatchSize = 500

// reseed fills shards in that have lost their totals, or never had any.
func (k *Flusher) reseed(ctx context.Context, beat func(), done *Result) error {
	shards, err := k.Counter.LostShards(ctx)
	if err != nil || len(shards) == 0 {
		return err
	}
	pages := map[int]int64{}
	for _, shard := range shards {
		pages[shard] = 0
	}
	for after := (counter.PageID{}); ; {
		all, err := k.Store.ViewPageTotals(ctx, after, seedBatchSize)
		if err != nil {
			return err
		}
		beat()
		var totals []counter.PageTotals
		for _, t := range all {
			shard := k.Counter.Shard(t.Site, t.Page)
			if n, lost := pages[shard]; lost {
				totals, pages[shard] = append(totals, t), n+1
			}
		}
		if len(totals) > 0 {
			if err := k.Counter.Seed(ctx, totals); err != nil {
				return err
			}
		}
		if len(all) < seedBatchSize {
			break
		}
		after = all[len(all)-1].PageID
	}
	for _, shard := range shards {
		if err := k.Counter.MarkSeeded(ctx, shard); err != nil {
			return err
		}
		if pages[shard] == 0 {
			continue // a new installation has nothing to lose
		}
		done.Seeded += pages[shard]
		k.Log.WarnContext(ctx, "Redis had lost its counts; they were filled in again from the database", "shard", shard, "pages", pages[shard])
		if err := k.Store.RecordViewLoss(ctx, shard, pages[shard]); err != nil {
			return err
		}
	}
	return nil
}
