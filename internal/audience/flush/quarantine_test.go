package flush_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/testing/enginetest"
)

// spoiled is a record that no version of the program has written.
const spoiled = "\xffnot a record"

// meterOf counts the quarantined records.
type meterOf struct{ quarantined, discarded int64 }

func (m *meterOf) Batch(context.Context, int, time.Duration, map[string]int, map[string]int, map[string]int) {
}
func (m *meterOf) BatchFailed(context.Context, time.Duration)     {}
func (m *meterOf) Quarantined(_ context.Context, n int64)         { m.quarantined += n }
func (m *meterOf) QuarantineDiscarded(_ context.Context, n int64) { m.discarded += n }

// metered sets the meter of the fixture's counter.
func (r *fixture) metered() *meterOf {
	m := &meterOf{}
	r.counter = counter.New(r.redis, counter.Options{Shards: shards, Meter: m})
	r.Counter = r.counter
	return m
}

func (r *fixture) quarantine() []counter.QuarantinedRecord {
	r.t.Helper()
	all, err := r.Quarantine(r.t.Context())
	r.must(err)
	return all
}

func (r *fixture) replay(ids ...uuid.UUID) flush.ReplayResult {
	r.t.Helper()
	done, err := r.Replay(r.t.Context(), ids)
	r.must(err)
	return done
}

// withoutFormat removes the format letter of every entry of a list, as in the previous
// build.
func (r *fixture) withoutFormat(list string, everySecond bool) (changed int) {
	r.t.Helper()
	ctx := r.t.Context()
	lines, err := r.redis.LRange(ctx, list, 0, -1).Result()
	r.must(err)
	for i, line := range lines {
		if everySecond && i%2 == 0 { // what Redis recorded about the hits
			continue
		}
		if !strings.HasPrefix(line, "1") {
			r.t.Fatalf("%s has %q, which has no format", list, line)
		}
		r.must(r.redis.LSet(ctx, list, int64(i), line[1:]).Err())
		changed++
	}
	return changed
}

// Records of the previous build are in every list. They are quarantined, everything
// else is flushed, and a replay counts them once.
func TestQuarantine_PreviousBuildsRecordsAreReplayed(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	m := r.metered()
	r.flush()
	old := 0
	// A batch that was taken, deltas, and a log.
	r.viewPages(6, 5)
	for shard := range shards {
		batch := uuid.Must(uuid.NewV7())
		_, err := r.counter.TakeBatch(t.Context(), shard, batch)
		r.must(err)
		old += r.withoutFormat(fmt.Sprintf("{v%02d}flush:%s", shard, batch), false)
	}
	r.viewPages(6, 3)
	r.must(r.counter.Aggregate(t.Context()))
	for shard := range shards {
		old += r.withoutFormat(fmt.Sprintf("{v%02d}deltas", shard), false)
	}
	r.viewPages(6, 2)
	old += r.withoutFormat("{v00}log", true)
	lost := map[string]int64{}
	for page, n := range r.want {
		lost[page] = n
	}
	// Hits counted by the new build are flushed regardless, in every shard.
	r.viewPages(6, 1)
	r.flush()
	for page := range r.want {
		if got, want := r.stored(page), r.want[page]-lost[page]; got != want {
			t.Errorf("%s: %d views are stored, want the %d of the new build", page, got, want)
		}
	}
	records := r.quarantine()
	if len(records) != old || m.quarantined != int64(old) {
		t.Fatalf("the quarantine has %d records, %d were counted, want %d", len(records), m.quarantined, old)
	}
	for _, q := range records {
		if !q.CanReplay() || q.Error == "" || q.At.IsZero() {
			t.Errorf("record %+v", q)
		}
	}
	if done := r.replay(); done.Replayed != old {
		t.Errorf("got %+v, want %d replayed", done, old)
	}
	if done := r.replay(); done != (flush.ReplayResult{}) || len(r.quarantine()) != 0 {
		t.Errorf("the second replay did %+v", done)
	}
	r.expectConsistent("after the replay")
}

// Each list of a shard contains one unreadable record: the shard is
// flushed around it.
func TestQuarantine_AnUnreadableRecordBlocksNothing(t *testing.T) {
	for list, put := range map[string]func(r *fixture){
		"Log":       func(r *fixture) { r.must(r.redis.LPush(t.Context(), "{v00}log", spoiled, "1").Err()) },
		"Summaries": func(r *fixture) { r.must(r.redis.LPush(t.Context(), "{v00}summaries", spoiled).Err()) },
		"Transfers": func(r *fixture) { r.must(r.redis.LPush(t.Context(), "{v00}transfers", spoiled).Err()) },
		"Deltas":    func(r *fixture) { r.must(r.redis.LPush(t.Context(), "{v00}deltas", spoiled).Err()) },
		"Batch": func(r *fixture) {
			batch := uuid.NewString()
			r.must(r.redis.RPush(t.Context(), "{v00}flush:"+batch, spoiled).Err())
			r.must(r.redis.RPush(t.Context(), "{v00}batches", batch).Err())
		},
		"BatchName": func(r *fixture) { r.must(r.redis.RPush(t.Context(), "{v00}batches", spoiled).Err()) },
	} {
		t.Run(list, func(t *testing.T) {
			r := open(t, enginetest.Redis(t))
			m := r.metered()
			r.flush()
			r.viewPages(8, 3)
			put(r)
			r.expectConsistent("around it")
			if q := r.quarantine(); len(q) != 1 || m.quarantined != 1 ||
				!strings.Contains(string(q[0].Text), "not a record") && list != "Log" {
				t.Fatalf("the quarantine has %+v; %d were counted", q, m.quarantined)
			}
			if done := r.replay(); done.Unknown != 1 || len(r.quarantine()) != 1 {
				t.Errorf("got %+v, want one retained record of unknown format", done)
			}
			if _, err := r.DiscardQuarantined(t.Context(), []uuid.UUID{uuid.New()}); !errors.Is(err,
				flush.ErrNotQuarantined) {
				t.Errorf("discard of an unknown record: got %v, want ErrNotQuarantined", err)
			}
			done, err := r.DiscardQuarantined(t.Context(), nil)
			if r.must(err); done.Discarded != 1 || len(r.quarantine()) != 0 || m.discarded != 1 {
				t.Errorf("got %+v, %d counted, want one discarded", done, m.discarded)
			}
			r.viewPages(8, 2)
			r.expectConsistent("afterwards")
		})
	}
}

// Many deltas are waiting, so they are compacted; an unreadable one is skipped.
func TestQuarantine_ACompactionGoesOnWithoutTheUnreadable(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.metered()
	r.flush()
	for i := range 130 {
		r.view("post", 1)
		r.must(r.counter.Aggregate(t.Context()))
		if i == 50 {
			for shard := range shards {
				r.must(r.redis.RPush(t.Context(), fmt.Sprintf("{v%02d}deltas", shard), spoiled).Err())
			}
		}
	}
	r.expectConsistent("after compactions")
	if n := len(r.quarantine()); n != shards {
		t.Errorf("%d records in the quarantine, want %d", n, shards)
	}
}

// Two processes flush; the older one cannot read a record of the batch and the newer
// one can. Whichever applies the batch, a replay counts the record once.
func TestQuarantine_ReplayAsksTheLedgerOfTheBatch(t *testing.T) {
	for _, newer := range []bool{false, true} {
		t.Run(fmt.Sprintf("NewerApplies=%v", newer), func(t *testing.T) {
			r := open(t, enginetest.Redis(t))
			r.metered()
			r.flush()
			r.view("post 1", 7)
			shard, batch := r.counter.Shard(r.site.ID, "post 1"), uuid.Must(uuid.NewV7())
			_, err := r.counter.TakeBatch(t.Context(), shard, batch)
			r.must(err)
			read, err := r.counter.ReadBatch(t.Context(), shard, batch) // by the newer
			r.must(err)
			list := fmt.Sprintf("{v%02d}flush:%s", shard, batch)
			r.withoutFormat(list, false)
			older, err := r.counter.ReadBatch(t.Context(), shard, batch)
			r.must(err)
			if len(older.Deltas) != 0 || len(older.Skipped) != 1 {
				t.Fatalf("the older read %+v", older)
			}
			if done := r.replay(); done.Pending != 1 {
				t.Errorf("before the batch is applied: %+v, want it to wait", done)
			}
			if newer {
				_, err := r.store.Audience.Views.ApplyViewBatch(t.Context(), shard, batch, read)
				r.must(err)
			}
			done := r.flush()
			if newer != (done.AlreadyApplied == 1) {
				t.Errorf("the flush did %+v", done)
			}
			got := r.replay()
			if want := (flush.ReplayResult{AlreadyCounted: 1}); newer && got != want {
				t.Errorf("got %+v, want %+v: it was counted with its batch", got, want)
			}
			if want := (flush.ReplayResult{Replayed: 1}); !newer && got != want {
				t.Errorf("got %+v, want %+v: it was left out of its batch", got, want)
			}
			r.expectConsistent("in the end")
		})
	}
}

// The quarantine is bounded in number and age, and discarded records are counted.
func TestQuarantine_IsBounded(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	m := r.metered()
	r.flush()
	const maxRecords = 10_000
	lines := make([]any, 0, 2*(maxRecords+5))
	for range maxRecords + 5 {
		lines = append(lines, "1", spoiled)
	}
	r.must(r.redis.RPush(t.Context(), "{v00}log", lines...).Err())
	r.flush()
	if n := len(r.quarantine()); n != maxRecords || m.quarantined != maxRecords+5 || m.discarded != 5 {
		t.Errorf("the quarantine has %d records; %d were put there, %d discarded; want %d, %d, 5", n, m.quarantined,
			m.discarded, maxRecords, maxRecords+5)
	}
	_, err := r.DiscardQuarantined(t.Context(), []uuid.UUID{r.quarantine()[0].ID})
	r.must(err)
	later := counter.New(r.redis, counter.Options{
		Shards: shards, Meter: m, Now: func() time.Time {
			return time.Now().Add(counter.QuarantineRetention + time.Hour)
		},
	})
	r.Counter = later
	done, err := r.Maintain(t.Context(), func() {})
	if r.must(err); done.Expired != maxRecords-1 || len(r.quarantine()) != 0 {
		t.Errorf("%d expired, %d are left; want %d, 0", done.Expired, len(r.quarantine()), maxRecords-1)
	}
}

// The ledger keeps the row of a batch as long as a record that it skipped may be
// replayed.
func TestQuarantine_KeepsTheLedgerOfItsBatches(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.metered()
	r.flush()
	r.view("post 1", 2)
	shard, batch := r.counter.Shard(r.site.ID, "post 1"), uuid.Must(uuid.NewV7())
	_, err := r.counter.TakeBatch(t.Context(), shard, batch)
	r.must(err)
	r.withoutFormat(fmt.Sprintf("{v%02d}flush:%s", shard, batch), false)
	r.flush()
	r.number("with old as (update view_batches set applied_at = now() - interval '1 year' returning 1) select " +
		"count(*) from old")
	_, err = r.Maintain(t.Context(), func() {})
	r.must(err)
	if n := r.number("select count(*) from view_batches where id = $1", batch); n != 1 {
		t.Errorf("the ledger has %d lines of the batch, want 1", n)
	}
	if done := r.replay(); done.Replayed != 1 {
		t.Errorf("got %+v, want one replayed", done)
	}
	r.number("with ours as (update view_batches set applied_at = now() returning 1) select count(*) from ours")
	r.expectConsistent("in the end")
}
