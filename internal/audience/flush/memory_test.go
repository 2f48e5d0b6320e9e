package flush_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
)

// memory is a Redis and a Postgres in memory, for tests in virtual time. Its counter
// has one page per shard and counts views.
type memory struct {
	flush.Store
	flush.Counter

	// before runs before each call with the method's name. If it returns an error, the
	// call returns it without an effect. With after, the call has its effect.
	before func(method string) error
	after  func(method string) error

	mu      sync.Mutex
	shards  int
	redis   map[counter.PageID]int64 // totals that readers see
	deltas  []map[counter.PageID]int64
	batches []map[uuid.UUID]map[counter.PageID]int64
	lost    map[int]bool
	locked  bool // by another process

	stored    map[counter.PageID]int64
	sorted    []counter.PageID          // stored data
	ledger    map[uuid.UUID][]uuid.UUID // batches with the entries they skipped
	losses    map[int]int64
	checks    []flush.Check
	erasures  []flush.Erasure
	removed   map[uuid.UUID]int64 // by erasure
	erased    []counter.PageID
	visitors  []counter.PageID
	rollUps   int // open ones
	due       []counter.PageID
	sketched  []counter.PageID
	retained  []uuid.UUID
	parted    []time.Time
	records   [][]counter.QuarantinedRecord
	replayed  []uuid.UUID
	discarded []uuid.UUID
	expired   int // records that each shard expires
	seedings  int
}

func newMemory(shards int) *memory {
	m := &memory{
		shards: shards, redis: map[counter.PageID]int64{}, stored: map[counter.PageID]int64{},
		ledger: map[uuid.UUID][]uuid.UUID{},
		losses: map[int]int64{}, lost: map[int]bool{}, removed: map[uuid.UUID]int64{},
		records: make([][]counter.QuarantinedRecord, shards),
	}
	for range shards {
		m.deltas = append(m.deltas, map[counter.PageID]int64{})
		m.batches = append(m.batches, map[uuid.UUID]map[counter.PageID]int64{})
	}
	return m
}

func (m *memory) flusher() *flush.Flusher {
	return &flush.Flusher{Counter: m, Store: m, Log: slog.New(slog.DiscardHandler)}
}

func page(n int) counter.PageID { return counter.PageID{Page: fmt.Sprintf("post %04d", n)} }

// view counts views of a page.
func (m *memory) view(id counter.PageID, n int64) {
	shard := m.Shard(id.Site, id.Page)
	m.redis[id] += n
	m.deltas[shard][id] += n
}

// lose loses everything in Redis.
func (m *memory) lose() {
	m.redis = map[counter.PageID]int64{}
	for shard := range m.shards {
		m.deltas[shard], m.batches[shard], m.lost[shard] = map[counter.PageID]int64{},
			map[uuid.UUID]map[counter.PageID]int64{}, true
	}
}

func (m *memory) call(method string, effect func()) error {
	if m.before != nil {
		if err := m.before(method); err != nil {
			return err
		}
	}
	m.mu.Lock()
	effect()
	m.mu.Unlock()
	if m.after != nil {
		return m.after(method)
	}
	return nil
}

func (m *memory) Shards() int { return m.shards }

func (m *memory) Shard(_ uuid.UUID, page string) int {
	n := 0
	_, _ = fmt.Sscanf(page, "post %d", &n)
	return n % m.shards
}

func (m *memory) TakeBatch(_ context.Context, shard int, batch uuid.UUID) (took bool, err error) {
	lost := false
	err = m.call("TakeBatch", func() {
		if lost = m.lost[shard]; lost || len(m.deltas[shard]) == 0 {
			return
		}
		m.batches[shard][batch], m.deltas[shard] = m.deltas[shard], map[counter.PageID]int64{}
		took = true
	})
	if err == nil && lost {
		err = counter.ErrLost
	}
	return took, err
}

func (m *memory) Batches(_ context.Context, shard int) (ids []uuid.UUID, err error) {
	err = m.call("Batches", func() { ids = slices.Collect(maps.Keys(m.batches[shard])) })
	return ids, err
}

func (m *memory) ReadBatch(_ context.Context, shard int, batch uuid.UUID) (read counter.Batch, err error) {
	err = m.call("ReadBatch", func() {
		for id, n := range m.batches[shard][batch] {
			read.Deltas = append(read.Deltas, counter.Delta{
				PageID: id, Hours: []counter.HourDelta{{Kind: counter.View, Count: n}},
			})
		}
	})
	return read, err
}

func (m *memory) DropBatch(_ context.Context, shard int, batch uuid.UUID) error {
	return m.call("DropBatch", func() { delete(m.batches[shard], batch) })
}

func (m *memory) LostShards(context.Context) (shards []int, err error) {
	err = m.call("LostShards", func() { shards = slices.Sorted(maps.Keys(m.lost)) })
	return shards, err
}

func (m *memory) Seed(_ context.Context, totals []counter.PageTotals) error {
	return m.call("Seed", func() {
		m.seedings++
		for _, t := range totals {
			if shard := m.Shard(t.Site, t.Page); !m.lost[shard] {
				panic("a shard that lost nothing was seeded")
			}
			m.redis[t.PageID] = t.Views + m.deltas[m.Shard(t.Site, t.Page)][t.PageID]
		}
	})
}

func (m *memory) MarkSeeded(_ context.Context, shard int) error {
	return m.call("MarkSeeded", func() { delete(m.lost, shard) })
}

func (m *memory) ErasePage(_ context.Context, id counter.PageID) error {
	return m.call("ErasePage", func() { m.erased = append(m.erased, id) })
}

func (m *memory) EraseVisitor(_ context.Context, id counter.PageID, v counter.Visitor) (int64, error) {
	return int64(v.ID), m.call("EraseVisitor", func() { m.visitors = append(m.visitors, id) })
}

func (m *memory) Quarantine(_ context.Context, shard int) (records []counter.QuarantinedRecord, err error) {
	err = m.call("Quarantine", func() { records = slices.Clone(m.records[shard]) })
	return records, err
}

func (m *memory) Replay(_ context.Context, q counter.QuarantinedRecord) (bool, error) {
	return q.Error != "gone meanwhile", m.call("Replay", func() { m.replayed = append(m.replayed, q.ID) })
}

func (m *memory) Discard(_ context.Context, q counter.QuarantinedRecord) error {
	return m.call("Discard", func() { m.discarded = append(m.discarded, q.ID) })
}

func (m *memory) ExpireQuarantine(context.Context, int) (int, error) {
	return m.expired, m.call("ExpireQuarantine", func() {})
}

func (m *memory) Sketches(_ context.Context, pages []counter.PageID) (sketches [][]byte, err error) {
	for _, p := range pages {
		sketches = append(sketches, []byte(p.Page))
	}
	return sketches, m.call("Sketches", func() {})
}

// Visitors of sites are not simulated: merging them is tested on Redis and Postgres.
func (m *memory) SiteSketchesDue(context.Context, int) ([]flush.SiteSketch, error) {
	return nil, m.call("SiteSketchesDue", func() {})
}

func (m *memory) PageStats(_ context.Context, site counter.Site, pages []string) (stats []counter.Stats, err error) {
	err = m.call("PageStats", func() {
		for _, p := range pages {
			n := m.redis[counter.PageID{Site: site.ID, Page: p}]
			stats = append(stats, counter.Stats{Page: p, Views: n, Clicks: 2 * n, Conversions: 3 * n})
		}
	})
	return stats, err
}

func (m *memory) WithFlushLock(ctx context.Context, f func(ctx context.Context) error) (bool, error) {
	if err := m.call("WithFlushLock", func() {}); err != nil || m.locked {
		return false, err
	}
	return true, f(ctx)
}

func (m *memory) ApplyViewBatch(_ context.Context, _ int, id uuid.UUID, batch counter.Batch) (applied bool, err error) {
	err = m.call("ApplyViewBatch", func() {
		if _, known := m.ledger[id]; known {
			return
		}
		applied, m.ledger[id] = true, batch.Skipped
		for _, d := range batch.Deltas {
			m.stored[d.PageID] += d.Hours[0].Count
		}
	})
	return applied, err
}

func (m *memory) SkippedViewRecords(_ context.Context, id uuid.UUID) (skipped []uuid.UUID, applied bool, err error) {
	err = m.call("SkippedViewRecords", func() { skipped, applied = m.ledger[id] })
	return skipped, applied, err
}

// pagesAfter returns the stored pages after one, at most limit.
func (m *memory) pagesAfter(after counter.PageID, limit int) []counter.PageID {
	if len(m.sorted) != len(m.stored) {
		m.sorted = slices.SortedFunc(maps.Keys(m.stored), comparePages)
	}
	at, found := slices.BinarySearchFunc(m.sorted, after, comparePages)
	if found {
		at++
	}
	return slices.Clone(m.sorted[at:min(at+limit, len(m.sorted))])
}

func comparePages(a, b counter.PageID) int {
	return cmp.Or(bytes.Compare(a.Site[:], b.Site[:]), strings.Compare(a.Page, b.Page))
}

func (m *memory) ViewPageTotals(
	_ context.Context, after counter.PageID, limit int,
) (totals []counter.PageTotals, err error) {
	err = m.call("ViewPageTotals", func() {
		for _, id := range m.pagesAfter(after, limit) {
			totals = append(totals, counter.PageTotals{PageID: id, Views: m.stored[id]})
		}
	})
	return totals, err
}

func (m *memory) RecordViewLoss(_ context.Context, shard int, pages int64) error {
	return m.call("RecordViewLoss", func() { m.losses[shard] += pages })
}

func (m *memory) ViewPageIDs(_ context.Context, after counter.PageID, limit int) (ids []counter.PageID, err error) {
	err = m.call("ViewPageIDs", func() { ids = m.pagesAfter(after, limit) })
	return ids, err
}

func (m *memory) ViewTotals(
	_ context.Context, pages []counter.PageID,
) (totals map[counter.PageID]flush.Totals, err error) {
	err = m.call("ViewTotals", func() {
		totals = map[counter.PageID]flush.Totals{}
		for _, p := range pages {
			n := m.stored[p]
			totals[p] = flush.Totals{Views: n, Clicks: 2 * n, Conversions: 3 * n}
		}
	})
	return totals, err
}

func (m *memory) RecordViewCheck(_ context.Context, c flush.Check) error {
	return m.call("RecordViewCheck", func() { m.checks = append(m.checks, c) })
}

func (m *memory) LastViewCheck(context.Context) (c flush.Check, found bool, err error) {
	err = m.call("LastViewCheck", func() {
		if found = len(m.checks) > 0; found {
			c = m.checks[len(m.checks)-1]
		}
	})
	return c, found, err
}

func (m *memory) RollUpViews(context.Context) (more bool, err error) {
	err = m.call("RollUpViews", func() { m.rollUps--; more = m.rollUps > 0 })
	return more, err
}

func (m *memory) ViewSketchesDue(_ context.Context, after counter.PageID, limit int) (ids []counter.PageID, err error) {
	err = m.call("ViewSketchesDue", func() {
		ids = slices.DeleteFunc(slices.Clone(m.due), func(id counter.PageID) bool {
			return comparePages(id, after) <= 0
		})
		ids = ids[:min(limit, len(ids))]
	})
	return ids, err
}

func (m *memory) SaveViewSketches(_ context.Context, pages []counter.PageID, sketches [][]byte) error {
	return m.call("SaveViewSketches", func() {
		for i, p := range pages {
			if string(sketches[i]) == p.Page {
				m.sketched = append(m.sketched, p)
			}
		}
	})
}

func (m *memory) CreateViewPartitions(_ context.Context, now time.Time) error {
	return m.call("CreateViewPartitions", func() { m.parted = append(m.parted, now) })
}

func (m *memory) DropExpiredViews(_ context.Context, _ time.Time, _ flush.Retention, pending []uuid.UUID) error {
	return m.call("DropExpiredViews", func() { m.retained = slices.Clone(pending) })
}

func (m *memory) PendingViewErasures(_ context.Context, limit int) (open []flush.Erasure, err error) {
	err = m.call("PendingViewErasures", func() { open = slices.Clone(m.erasures[:min(limit, len(m.erasures))]) })
	return open, err
}

func (m *memory) CompleteViewErasure(_ context.Context, id uuid.UUID, removed int64) error {
	return m.call("CompleteViewErasure", func() {
		m.removed[id] = removed
		m.erasures = slices.DeleteFunc(m.erasures, func(e flush.Erasure) bool { return e.ID == id })
	})
}

func (m *memory) ViewSitePages(_ context.Context, site uuid.UUID, after string, limit int) (pages []string, err error) {
	err = m.call("ViewSitePages", func() {
		for _, id := range m.pagesAfter(counter.PageID{Site: site, Page: after}, limit) {
			if id.Site == site {
				pages = append(pages, id.Page)
			}
		}
	})
	return pages, err
}

func (m *memory) EraseViewsInProgress(context.Context, uuid.UUID) error {
	return m.call("EraseViewsInProgress", func() {})
}

func (m *memory) EraseSiteVisitors(context.Context, uuid.UUID) error {
	return m.call("EraseSiteVisitors", func() {})
}

func (m *memory) EraseSiteViews(context.Context, uuid.UUID) (int64, error) {
	return 77, m.call("EraseSiteViews", func() {})
}

// wantConsistent checks that Postgres has every view once, and that nothing is left in
// Redis.
func (m *memory) wantConsistent(t *testing.T, want map[counter.PageID]int64) {
	t.Helper()
	if !maps.Equal(m.stored, want) || !maps.Equal(m.redis, want) {
		t.Errorf("got %v in Postgres and %v in Redis, want %v", m.stored, m.redis, want)
	}
	for shard, batches := range m.batches {
		if len(batches) > 0 || len(m.deltas[shard]) > 0 {
			t.Errorf("shard %d still has %d batches", shard, len(batches))
		}
	}
}

// Whichever call fails, before or after it took effect, the error is returned and
// the next flush writes every view exactly once.
func TestFlush_EveryFailureLosesNothing(t *testing.T) {
	t.Parallel()
	methods := []string{
		"WithFlushLock", "Batches", "LostShards", "ViewPageTotals", "Seed", "MarkSeeded",
		"RecordViewLoss", "TakeBatch", "ReadBatch",
		"ApplyViewBatch", "DropBatch", "PendingViewErasures",
	}
	for _, method := range methods {
		for nth := 1; nth <= 3; nth++ {
			for _, lost := range []bool{false, true} {
				for _, after := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%d/lost=%t/after=%t", method, nth, lost, after), func(t *testing.T) {
						m := newMemory(3)
						for i := range 6 {
							m.view(page(i), int64(i)+1)
						}
						f := m.flusher()
						if _, err := f.Flush(t.Context(), func() {}); err != nil {
							t.Fatal(err)
						}
						if lost {
							m.lose()
							for id := range m.stored {
								m.redis[id] = 0
							}
						}
						want := maps.Clone(m.stored)
						for i := range 3 {
							m.view(page(i), 10)
							want[page(i)] += 10
						}
						// A batch of a dead process.
						m.batches[2][uuid.New()] = map[counter.PageID]int64{page(2): 5}
						m.redis[page(2)] += 5
						want[page(2)] += 5
						seen := 0
						fail := func(called string) error {
							if called != method {
								return nil
							}
							if seen++; seen == nth {
								return errAway
							}
							return nil
						}
						if after {
							m.after = fail
						} else {
							m.before = fail
						}
						done, err := f.Flush(t.Context(), func() {})
						if happened := seen >= nth; errors.Is(err, errAway) != happened || done.Busy {
							t.Errorf("got %+v, %v, want the error of the call: %t", done, err, happened)
						}
						m.before, m.after = nil, nil
						for range 2 {
							if _, err := f.Flush(t.Context(), func() {}); err != nil {
								t.Errorf("the next flush failed: %v", err)
							}
						}
						m.wantConsistent(t, want)
					})
				}
			}
		}
	}
}

func TestFlush_ReportsWhatItDid(t *testing.T) {
	t.Parallel()
	m := newMemory(3)
	f := m.flusher()
	for i := range 5 {
		m.view(page(i), 1)
	}
	beats := 0
	done, err := f.Flush(t.Context(), func() { beats++ })
	if want := (flush.Result{Batches: 3, Pages: 5}); err != nil || done != want {
		t.Errorf("got %+v, %v, want %+v", done, err, want)
	}
	// Two rounds over all shards, the wait, and each batch.
	if beats != 3+3+1+3 {
		t.Errorf("got %d heartbeats, want 10", beats)
	}
	// A process that died after it had written a batch left it in Redis, as did one
	// that died before writing it.
	written, unwritten := uuid.New(), uuid.New()
	m.ledger[written] = nil
	m.batches[1][written] = map[counter.PageID]int64{page(1): 100}
	m.batches[2][unwritten] = map[counter.PageID]int64{page(2): 1}
	m.redis[page(2)]++
	done, err = f.Flush(t.Context(), func() {})
	if want := (flush.Result{Batches: 1, AlreadyApplied: 1, Pages: 1}); err != nil || done != want {
		t.Errorf("got %+v, %v, want %+v", done, err, want)
	}
	m.wantConsistent(t, map[counter.PageID]int64{page(0): 1, page(1): 1, page(2): 2, page(3): 1, page(4): 1})
	m.locked = true
	if done, err = f.Flush(t.Context(), func() {}); err != nil || done != (flush.Result{Busy: true}) {
		t.Errorf("got %+v, %v, want busy while another process flushes", done, err)
	}
}

// A shard that fails does not stop the others.
func TestFlush_FailingShardStopsNoOther(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"TakeBatch", "ReadBatch"} {
		m := newMemory(3)
		for i := range 3 {
			m.view(page(i), 1)
		}
		n := 0
		m.before = func(called string) error {
			if called == method {
				if n++; n == 1 {
					return errAway
				}
			}
			return nil
		}
		done, err := m.flusher().Flush(t.Context(), func() {})
		if !errors.Is(err, errAway) || done.Batches != 2 || len(m.stored) != 2 {
			t.Errorf("%s: got %+v, %v, want the error and the other two batches", method, done, err)
		}
	}
}

// Taken batches wait until Redis has them on disk; an empty flush does not wait.
func TestFlush_WaitsForSyncBeforeItWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(2)
		f := m.flusher()
		f.SyncDelay = flush.AOFSyncDelay
		start := time.Now()
		if _, err := f.Flush(t.Context(), func() {}); err != nil || time.Since(start) != 0 {
			t.Errorf("an empty flush took %s, %v", time.Since(start), err)
		}
		m.view(page(0), 1)
		written := time.Duration(0)
		m.before = func(method string) error {
			if method == "ApplyViewBatch" {
				written = time.Since(start)
			}
			return nil
		}
		if _, err := f.Flush(t.Context(), func() {}); err != nil || written != 3*time.Second {
			t.Errorf("written after %s, %v, want 3s", written, err)
		}
		// A flush that ends during the wait leaves its batch to the next one.
		m.view(page(0), 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if done, err := f.Flush(ctx, func() {}); !errors.Is(err, context.DeadlineExceeded) || done.Batches != 0 {
			t.Errorf("got %+v, %v, want the end of the context", done, err)
		}
		if done, err := f.Flush(t.Context(), func() {}); err != nil || done.Batches != 1 || m.stored[page(0)] != 2 {
			t.Errorf("got %+v, %v and %v, want the batch of before", done, err, m.stored)
		}
	})
}

// Shards that lost their totals get them back from Postgres, all pages and only theirs,
// and newer views are added.
func TestFlush_SeedsOnlyLostShards(t *testing.T) {
	t.Parallel()
	m := newMemory(4)
	f := m.flusher()
	want := map[counter.PageID]int64{}
	for i := range 1203 {
		m.view(page(i), int64(i)+1)
		want[page(i)] = int64(i) + 1
	}
	if done, err := f.Flush(t.Context(), func() {}); err != nil || done.Seeded != 0 {
		t.Fatal(done, err)
	}
	for id := range m.redis {
		if shard := m.Shard(id.Site, id.Page); shard == 1 || shard == 3 {
			m.redis[id], m.lost[shard] = 0, true
		}
	}
	m.lost[2], m.redis[page(2)] = true, 0 // seeded with the others
	m.view(page(1), 5)
	want[page(1)] += 5
	beats := 0
	done, err := f.Flush(t.Context(), func() { beats++ })
	// 301 pages each in shards 0 to 2, 300 in shard 3.
	if err != nil || done.Seeded != 301+301+300 {
		t.Errorf("got %+v, %v, want 902 seeded", done, err)
	}
	if m.losses[1] != 301 || m.losses[2] != 301 || m.losses[3] != 300 || len(m.losses) != 3 {
		t.Errorf("got losses %v", m.losses)
	}
	m.wantConsistent(t, want)
	if beats != 4+3+4+1+1 {
		t.Errorf("got %d heartbeats, want 13", beats)
	}
	// A new installation has lost nothing, nor one into which statistics were imported.
	imported := newMemory(1)
	imported.stored[page(0)], imported.lost[0] = 0, true
	if done, err := imported.flusher().Flush(t.Context(), func() {}); err != nil || len(imported.losses) != 0 {
		t.Errorf("got %+v, %v and losses %v, want none of an imported page", done, err, imported.losses)
	}
	empty := newMemory(2)
	empty.lost = map[int]bool{0: true, 1: true}
	if done, err := empty.flusher().Flush(t.Context(), func() {}); err != nil || done.Seeded != 0 {
		t.Errorf("got %+v, %v, want nothing seeded", done, err)
	}
	if len(empty.losses) != 0 || len(empty.lost) != 0 || empty.seedings != 0 {
		t.Errorf("got losses %v, lost shards %v, %d seedings, want none", empty.losses, empty.lost, empty.seedings)
	}
}

// Exactly as many pages as one read returns: the next read ends the seeding.
func TestFlush_SeedsAWholeRead(t *testing.T) {
	t.Parallel()
	m := newMemory(1)
	for i := range 1000 {
		m.stored[page(i)] = 1
	}
	m.lost[0] = true
	if done, err := m.flusher().Flush(t.Context(), func() {}); err != nil || done.Seeded != 1000 ||
		len(m.redis) != 1000 {
		t.Errorf("got %+v, %v, want 1000 seeded", done, err)
	}
}

// A shard with a single page is seeded, too.
func TestFlush_SeedsASinglePage(t *testing.T) {
	t.Parallel()
	m := newMemory(2)
	m.stored[page(0)], m.stored[page(1)] = 7, 8
	m.lost[1] = true
	if done, err := m.flusher().Flush(t.Context(), func() {}); err != nil || done.Seeded != 1 ||
		m.redis[page(1)] != 8 || len(m.redis) != 1 {
		t.Errorf("got %+v, %v, %v in Redis, want the page of the lost shard", done, err, m.redis)
	}
}

// A shard that is lost while batches are taken is left to the next flush.
func TestFlush_LossMeanwhileIsNoError(t *testing.T) {
	t.Parallel()
	m := newMemory(2)
	m.view(page(0), 1)
	m.view(page(1), 1)
	m.before = func(method string) error {
		if method == "TakeBatch" {
			m.lost[0] = true
		}
		return nil
	}
	if done, err := m.flusher().Flush(t.Context(), func() {}); err != nil || done.Batches != 1 ||
		m.stored[page(1)] != 1 {
		t.Errorf("got %+v, %v, want the batch of the other shard", done, err)
	}
}
