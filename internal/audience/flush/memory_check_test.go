package flush_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
)

// The comparison counts what Redis lacks and what it has in excess, by kind.
func TestCheck_CountsDifferences(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		stored, redis, meanwhile     int64
		differing, missing, surplus  int64
		shown, storedViews, countNow int64
	}{
		"Equal":             {7, 7, 0, 0, 0, 0, 0, 0, 0},
		"Missing":           {7, 5, 0, 3, 2 + 4 + 6, 0, 5, 7, 0},
		"Surplus":           {5, 7, 0, 3, 0, 2 + 4 + 6, 7, 5, 0},
		"CountedMeanwhile":  {7, 7, 3, 0, 0, 0, 0, 0, 0},
		"MissingInBetween":  {9, 7, 1, 3, 1 + 2 + 3, 0, 8, 9, 1},
		"ExplainedByHits":   {8, 7, 1, 0, 0, 0, 0, 0, 0},
		"LostMeanwhile":     {9, 7, -2, 3, 4 + 8 + 12, 0, 5, 9, 0},
		"SurplusRegardless": {6, 7, 5, 3, 0, 1 + 2 + 3, 12, 6, 5},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(1)
			m.stored[page(0)], m.redis[page(0)] = row.stored, row.redis
			reads := 0
			m.before = func(method string) error {
				if method == "PageStats" {
					if reads++; reads == 2 {
						m.redis[page(0)] += row.meanwhile
					}
				}
				return nil
			}
			c, done, err := m.flusher().Check(t.Context(), func() {})
			if err != nil || !done || c.Compared != 3 {
				t.Errorf("got %+v, %t, %v, want 3 pages compared", c, done, err)
			}
			if c.Differing != row.differing || c.Missing != row.missing || c.Surplus != row.surplus {
				t.Errorf("got %+v, %t, %v, want %d differing, %d missing, %d in excess", c, done, err, row.differing,
					row.missing, row.surplus)
			}
			if len(m.checks) != 1 || len(c.Examples) != int(row.differing) {
				t.Fatalf("recorded %d comparisons with %d examples", len(m.checks), len(c.Examples))
			}
			if row.differing > 0 {
				want := flush.Difference{
					Page: page(0).Page, Kind: counter.View, Shown: row.shown, Stored: row.storedViews,
					Pending: row.countNow,
				}
				if c.Examples[0] != want {
					t.Errorf("got example %+v, want %+v", c.Examples[0], want)
				}
			}
		})
	}
}

// A comparison flushes first, so that unflushed views are no difference.
func TestCheck_FlushesFirst(t *testing.T) {
	t.Parallel()
	m := newMemory(2)
	m.stored[page(0)], m.redis[page(0)] = 1, 1
	m.view(page(0), 4)
	if c, done, err := m.flusher().Check(t.Context(), func() {}); err != nil || !done || c.Differing != 0 ||
		m.stored[page(0)] != 5 {
		t.Errorf("got %+v, %t, %v, want agreement after a flush", c, done, err)
	}
	m.locked = true
	if _, done, err := m.flusher().Check(t.Context(), func() {}); err != nil || done || len(m.checks) != 1 {
		t.Errorf("got %t, %v, want nothing while another process flushes", done, err)
	}
}

// logged returns a flusher and its log.
func (m *memory) logged() (*flush.Flusher, *bytes.Buffer) {
	f, log := m.flusher(), &bytes.Buffer{}
	f.Log = slog.New(slog.NewTextHandler(log, nil))
	return f, log
}

// Agreement is logged at info level, a difference as an error, and nothing if nothing
// was compared.
func TestCheck_LogsItsResult(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		prepare func(m *memory)
		want    string // empty: nothing
	}{
		"Equal": {
			func(m *memory) { m.redis[page(0)] = 1 },
			"level=INFO msg=\"view counts in Redis and the database match\" compared=3",
		},
		"Differ": {
			func(*memory) {}, "level=ERROR msg=\"view counts in Redis and the database differ\" compared=3 " +
				"differing=3 missing=6 surplus=0",
		},
		"Busy":    {func(m *memory) { m.locked = true }, ""},
		"Failure": {func(m *memory) { m.before = func(string) error { return errAway } }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(1)
			m.stored[page(0)] = 1
			row.prepare(m)
			f, log := m.logged()
			_, _, _ = f.Check(t.Context(), func() {})
			if got := log.String(); !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
				t.Errorf("logged %q, want %q", got, row.want)
			}
		})
	}
}

func TestMaintain_LogsExpiredRecords(t *testing.T) {
	t.Parallel()
	for _, expired := range []int{0, 1} {
		m := newMemory(1)
		m.expired = expired
		f, log := m.logged()
		if _, err := f.Maintain(t.Context(), func() {}); err != nil ||
			strings.Contains(log.String(), "records=1") != (expired == 1) ||
			strings.Count(log.String(), "\n") != expired {
			t.Errorf("%d expired: got %v and %q", expired, err, log)
		}
	}
}

// A flush performs a hundred erasures, the next one the others.
func TestErase_IsBounded(t *testing.T) {
	t.Parallel()
	m := newMemory(1)
	for range 130 {
		m.erasures = append(m.erasures, flush.Erasure{ID: uuid.New(), Site: uuid.New()})
	}
	for _, want := range []int{100, 30, 0} {
		if done, err := m.flusher().Flush(t.Context(), func() {}); err != nil || done.Erased != want {
			t.Errorf("got %+v, %v, want %d erasures", done, err, want)
		}
	}
}

// The ledger is queried only about records that a batch skipped.
func TestReplay_NeedsNoLedgerWithoutABatch(t *testing.T) {
	t.Parallel()
	m := newMemory(1)
	m.records[0] = []counter.QuarantinedRecord{{ID: uuid.New(), List: "deltas", Text: []byte(readable)}}
	m.before = func(method string) error {
		if method == "SkippedViewRecords" || method == "Batches" {
			return errAway
		}
		return nil
	}
	if done, err := m.flusher().Replay(t.Context(), nil); err != nil || done.Replayed != 1 {
		t.Errorf("got %+v, %v, want it replayed", done, err)
	}
}

func TestCheck_HasUpToTwentyExamples(t *testing.T) {
	t.Parallel()
	m := newMemory(1)
	for i := range 40 {
		m.stored[page(i)] = 1
	}
	c, _, err := m.flusher().Check(t.Context(), func() {})
	if err != nil || c.Differing != 120 || len(c.Examples) != 20 {
		t.Errorf("got %d differing with %d examples, %v, want 120 with 20", c.Differing, len(c.Examples), err)
	}
}

// An hourly comparison covers 20,000 pages, and the next one continues after
// them; sites are compared one at a time.
func TestCheck_ContinuesWhereTheLastEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(1)
		sites := []uuid.UUID{{1}, {2}, {3}}
		add := func(site uuid.UUID, n int) {
			for i := range n {
				id := counter.PageID{Site: site, Page: page(i).Page}
				m.stored[id], m.redis[id] = 1, 1
			}
		}
		add(sites[0], 20_000)
		add(sites[1], 700)
		add(sites[2], 3)
		f := m.flusher()
		beats := 0
		c, done, err := f.CheckIfDue(t.Context(), func() { beats++ })
		if err != nil || !done || c.Compared != 3*20_000 || c.Differing != 0 {
			t.Errorf("got %d compared, %d differing, %t, %v", c.Compared, c.Differing, done, err)
		}
		if want := (counter.PageID{Site: sites[0], Page: "post 9999"}); c.Next != want { // the last one in byte order
			t.Errorf("got the next page %v, want %v", c.Next, want)
		}
		// 40 reads each of Redis before and after and of Postgres, and the flush.
		if beats != 3*40+1+1 {
			t.Errorf("got %d heartbeats, want 122", beats)
		}
		time.Sleep(time.Hour - time.Second)
		if _, done, err := f.CheckIfDue(t.Context(), func() {}); done || err != nil {
			t.Errorf("compared again after 59 minutes: %t, %v", done, err)
		}
		time.Sleep(time.Second)
		start := time.Now()
		c, done, err = f.CheckIfDue(t.Context(), func() {})
		if err != nil || !done || c.Compared != 3*703 || c.Differing != 0 {
			t.Errorf("got %+v, %t, %v, want the remaining 703 pages", c, done, err)
		}
		if !c.StartedAt.Equal(start) || c.EndedAt.Before(start) {
			t.Errorf("got a comparison from %s to %s, want one from %s on", c.StartedAt, c.EndedAt, start)
		}
		// It reached the last page: the next one starts over.
		time.Sleep(time.Hour)
		if c, _, err = f.CheckIfDue(t.Context(), func() {}); err != nil || c.Compared != 3*20_000 {
			t.Errorf("got %d compared, %v, want the first 20,000 pages again", c.Compared, err)
		}
		// Check starts with the first page regardless of earlier comparisons.
		if c, done, err = f.Check(t.Context(), func() {}); err != nil || !done || c.Compared != 3*20_000 ||
			c.Next.Site != sites[0] {
			t.Errorf("got %d compared, next %v, %t, %v, want the first 20,000 pages", c.Compared, c.Next, done, err)
		}
	})
}

func TestCheck_EveryFailureIsReported(t *testing.T) {
	t.Parallel()
	for method, calls := range map[string]int{
		"LastViewCheck": 1, "WithFlushLock": 1, "ViewPageIDs": 1, "PageStats": 2,
		"TakeBatch": 1, "ViewTotals": 1, "RecordViewCheck": 1,
	} {
		for nth := 1; nth <= calls; nth++ {
			m := newMemory(1)
			m.stored[page(0)] = 1
			seen := 0
			m.before = func(called string) error {
				if called == method {
					if seen++; seen == nth {
						return errAway
					}
				}
				return nil
			}
			if _, done, err := m.flusher().CheckIfDue(t.Context(), func() {}); !errors.Is(err, errAway) ||
				len(m.checks) != 0 || done && method == "LastViewCheck" {
				t.Errorf("call %d of %s fails: got %t, %v and %d recorded, want its error and none", nth, method, done,
					err, len(m.checks))
			}
		}
	}
}

// An erasure reaches every page of its site, in Redis and, of a whole site, in
// Postgres.
func TestErase_ReachesEveryPage(t *testing.T) {
	t.Parallel()
	for _, single := range []bool{false, true} {
		for _, pages := range []int{0, 3, 500, 1001} {
			t.Run(fmt.Sprintf("single=%t/%d", single, pages), func(t *testing.T) {
				m := newMemory(1)
				site := uuid.New()
				for i := range pages {
					m.stored[counter.PageID{Site: site, Page: page(i).Page}] = 1
				}
				m.stored[counter.PageID{Site: uuid.New(), Page: "of another site"}] = 1
				id := uuid.New()
				m.erasures = []flush.Erasure{
					{ID: id, Site: site, SingleVisitor: single, Visitor: counter.Visitor{ID: 2}},
				}
				beats := 0
				done, err := m.flusher().Flush(t.Context(), func() { beats++ })
				if err != nil || done.Erased != 1 || len(m.erasures) != 0 {
					t.Fatalf("got %+v, %v, want one erasure", done, err)
				}
				inRedis, other, removed := m.erased, m.visitors, int64(77)
				if single {
					inRedis, other, removed = m.visitors, m.erased, int64(2*pages)
				}
				if len(inRedis) != pages || len(other) != 0 || m.removed[id] != removed {
					t.Errorf("got %d pages, %d of the other kind and %d removed, want %d, 0, %d", len(inRedis),
						len(other), m.removed[id], pages, removed)
				}
				for _, p := range inRedis {
					if p.Site != site {
						t.Errorf("erased %v of another site", p)
					}
				}
				if want := 1 + 1 + pages/500 + 1; beats != want {
					t.Errorf("got %d heartbeats, want %d", beats, want)
				}
			})
		}
	}
}

// A failed erasure is not reported as done, and is retried.
func TestErase_EveryFailureIsReported(t *testing.T) {
	t.Parallel()
	for _, method := range []string{
		"PendingViewErasures", "ViewSitePages", "ErasePage", "EraseVisitor",
		"EraseSiteViews", "CompleteViewErasure",
	} {
		m := newMemory(1)
		site := uuid.New()
		m.stored[counter.PageID{Site: site, Page: "a"}] = 1
		m.erasures = []flush.Erasure{{ID: uuid.New(), Site: site, SingleVisitor: method == "EraseVisitor"}}
		m.before = func(called string) error {
			if called == method {
				return errAway
			}
			return nil
		}
		done, err := m.flusher().Flush(t.Context(), func() {})
		if !errors.Is(err, errAway) || done.Erased != 0 || len(m.erasures) != 1 {
			t.Errorf("%s fails: got %+v, %v and %d open, want its error and the erasure open", method, done, err,
				len(m.erasures))
		}
		m.before = nil
		if done, err := m.flusher().Flush(t.Context(), func() {}); err != nil || done.Erased != 1 {
			t.Errorf("after %s: got %+v, %v, want it erased", method, done, err)
		}
	}
}

// Maintenance continues until everything is rolled up and saved, and keeps the ledger
// rows of batches that a flush or a replay still needs.
func TestMaintain_DoesEverything(t *testing.T) {
	t.Parallel()
	m := newMemory(2)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f := m.flusher()
	f.Now = func() time.Time { return now }
	m.rollUps, m.expired = 3, 2
	for i := range 401 {
		m.due = append(m.due, page(i))
	}
	pending, skipping := uuid.New(), uuid.New()
	m.batches[1][pending] = map[counter.PageID]int64{}
	m.records[0] = []counter.QuarantinedRecord{{ID: uuid.New()}, {ID: uuid.New(), Batch: skipping}}
	beats := 0
	done, err := f.Maintain(t.Context(), func() { beats++ })
	if want := (flush.MaintenanceResult{Sketched: 401, Expired: 4}); err != nil || done != want {
		t.Errorf("got %+v, %v, want %+v", done, err, want)
	}
	if m.rollUps != 0 || !slices.Equal(m.sketched, m.due) || !slices.Equal(m.parted, []time.Time{now}) || beats != 3+3 {
		t.Errorf("got %d roll-ups left, %d sketches, partitions of %v, %d heartbeats", m.rollUps, len(m.sketched),
			m.parted, beats)
	}
	if !slices.Equal(m.retained, []uuid.UUID{skipping, pending}) {
		t.Errorf("kept the ledger rows of %v, want %v", m.retained, []uuid.UUID{skipping, pending})
	}
	for _, method := range []string{
		"CreateViewPartitions", "RollUpViews", "ViewSketchesDue", "Sketches",
		"SaveViewSketches", "Batches", "ExpireQuarantine", "Quarantine", "DropExpiredViews",
	} {
		m.retained = nil
		m.before = func(called string) error {
			if called == method {
				return errAway
			}
			return nil
		}
		if _, err := f.Maintain(t.Context(), func() {}); !errors.Is(err, errAway) || m.retained != nil {
			t.Errorf("%s fails: got %v, want its error and nothing deleted", method, err)
		}
	}
}

// readable is the text of a quarantined record that this version can read.
const readable = "1"

// A record is replayed only if the ledger confirms that it is not counted yet.
func TestReplay_CountsNothingTwice(t *testing.T) {
	t.Parallel()
	batch := uuid.New()
	record := func(change func(q *counter.QuarantinedRecord)) counter.QuarantinedRecord {
		q := counter.QuarantinedRecord{ID: uuid.New(), List: "deltas", Text: []byte(readable), Shard: 1}
		if change != nil {
			change(&q)
		}
		return q
	}
	inBatch := func(q *counter.QuarantinedRecord) { q.Batch = batch }
	for name, row := range map[string]struct {
		record  counter.QuarantinedRecord
		prepare func(m *memory, q counter.QuarantinedRecord)
		want    flush.ReplayResult
		moved   bool
		removed bool
	}{
		"Plain": {record(nil), nil, flush.ReplayResult{Replayed: 1}, true, false},
		"Meanwhile": {
			record(func(q *counter.QuarantinedRecord) { q.Error = "gone meanwhile" }), nil,
			flush.ReplayResult{},
			true, false,
		},
		"Unreadable": {
			record(func(q *counter.QuarantinedRecord) { q.Text = []byte(spoiled) }), nil,
			flush.ReplayResult{Unknown: 1},
			false, false,
		},
		"Skipped": {
			record(inBatch), func(m *memory, q counter.QuarantinedRecord) { m.ledger[batch] = []uuid.UUID{q.ID} },
			flush.ReplayResult{Replayed: 1},
			true, false,
		},
		"Counted": {
			record(inBatch), func(m *memory, _ counter.QuarantinedRecord) { m.ledger[batch] = nil },
			flush.ReplayResult{AlreadyCounted: 1},
			false, true,
		},
		"Pending": {
			record(inBatch), func(m *memory, _ counter.QuarantinedRecord) { m.batches[1][batch] = nil },
			flush.ReplayResult{Pending: 1},
			false, false,
		},
		"NoBatch": {record(inBatch), nil, flush.ReplayResult{Replayed: 1}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(2)
			m.records[1] = []counter.QuarantinedRecord{row.record}
			if row.prepare != nil {
				row.prepare(m, row.record)
			}
			done, err := m.flusher().Replay(t.Context(), nil)
			if err != nil || done != row.want || (len(m.replayed) == 1) != row.moved ||
				(len(m.discarded) == 1) != row.removed {
				t.Errorf("got %+v, %v, %d moved, %d removed, want %+v", done, err, len(m.replayed), len(m.discarded),
					row.want)
			}
		})
	}
	for _, method := range []string{"Quarantine", "SkippedViewRecords", "Batches", "Replay", "Discard"} {
		m := newMemory(2)
		m.records[1] = []counter.QuarantinedRecord{record(inBatch)}
		if method == "Discard" {
			m.ledger[batch] = nil
		}
		m.before = func(called string) error {
			if called == method {
				return errAway
			}
			return nil
		}
		if done, err := m.flusher().Replay(t.Context(), nil); !errors.Is(err, errAway) ||
			done != (flush.ReplayResult{}) || len(m.replayed)+len(m.discarded) != 0 {
			t.Errorf("%s fails: got %+v, %v, want its error and nothing moved", method, done, err)
		}
	}
}

// Only the named records are replayed or discarded; an unknown name changes
// nothing.
func TestReplay_SelectsById(t *testing.T) {
	t.Parallel()
	m := newMemory(2)
	var ids []uuid.UUID
	for i := range 4 {
		q := counter.QuarantinedRecord{ID: uuid.New(), List: "deltas", Text: []byte(readable)}
		ids = append(ids, q.ID)
		m.records[i%2] = append(m.records[i%2], q)
	}
	f := m.flusher()
	if done, err := f.Replay(t.Context(), ids[:1]); err != nil || done.Replayed != 1 ||
		!slices.Equal(m.replayed, ids[:1]) {
		t.Errorf("got %+v, %v, replayed %v, want %v", done, err, m.replayed, ids[:1])
	}
	if done, err := f.DiscardQuarantined(t.Context(), []uuid.UUID{ids[3], ids[0]}); err != nil || done.Discarded != 2 ||
		!slices.Equal(m.discarded, []uuid.UUID{ids[3], ids[0]}) {
		t.Errorf("got %+v, %v, discarded %v", done, err, m.discarded)
	}
	m.discarded = nil
	if done, err := f.DiscardQuarantined(t.Context(), []uuid.UUID{ids[0], uuid.New()}); !errors.Is(err,
		flush.ErrNotQuarantined) || done.Discarded != 0 || m.discarded != nil {
		t.Errorf("an unknown id: got %+v, %v, want an error and nothing discarded", done, err)
	}
	if done, err := f.DiscardQuarantined(t.Context(), nil); err != nil || done.Discarded != 4 {
		t.Errorf("got %+v, %v, want all four", done, err)
	}
	for _, method := range []string{"Quarantine", "Discard"} {
		m.before = func(called string) error {
			if called == method {
				return errAway
			}
			return nil
		}
		if done, err := f.DiscardQuarantined(t.Context(), nil); !errors.Is(err, errAway) || done.Discarded != 0 {
			t.Errorf("%s fails: got %+v, %v, want its error", method, done, err)
		}
	}
}

// filtered returns a page's filtered hits while batches are taken.
type filtered struct {
	takes  int // number of further reads during which another batch is taken
	reads  int
	fail   int // this read fails
	batch  uuid.UUID
	asked  [][]uuid.UUID
	dbFail bool
}

func (f *filtered) PendingFiltered(context.Context, counter.PageID) (counter.PendingFiltered, error) {
	f.reads++
	if f.reads == f.fail {
		return counter.PendingFiltered{}, errAway
	}
	return counter.PendingFiltered{
		TakeCount: fmt.Sprint(min(f.reads, f.takes)), Current: map[string]int64{
			"bot": int64(f.reads),
		},
		Batches: map[uuid.UUID]map[string]int64{f.batch: {"bot": 100}},
	}, nil
}

func (f *filtered) ViewFilteredCounts(
	_ context.Context, _ counter.PageID, batches []uuid.UUID,
) (map[string]int64, []uuid.UUID, error) {
	f.asked = append(f.asked, batches)
	if f.dbFail {
		return nil, nil, errAway
	}
	return map[string]int64{"bot": 1000}, batches, nil
}

// Filtered hits are read again while a flush takes batches, five times at most.
func TestFilteredCounts_ReadsAgainWhileBatchesAreTaken(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		takes, reads int
		want         int64
	}{
		"Quiet":   {0, 2, 1001},
		"OneTake": {2, 3, 1002},
		"Busy":    {99, 6, 1005},
	} {
		t.Run(name, func(t *testing.T) {
			f := &filtered{takes: row.takes, batch: uuid.New()}
			counts, err := flush.FilteredReader{Counter: f, Store: f}.FilteredCounts(t.Context(), uuid.New(), "a")
			if err != nil || counts["bot"] != row.want || f.reads != row.reads {
				t.Errorf("got %v, %v after %d reads, want %d after %d", counts, err, f.reads, row.want, row.reads)
			}
			if len(f.asked) != row.reads-1 || len(f.asked[0]) != 1 {
				t.Errorf("got the batches %v, want one in each of %d queries", f.asked, row.reads-1)
			}
		})
	}
	for _, f := range []*filtered{{fail: 1}, {fail: 2}, {dbFail: true}} {
		if counts, err := (flush.FilteredReader{Counter: f, Store: f}).FilteredCounts(t.Context(), uuid.New(),
			"a"); !errors.Is(err, errAway) || counts != nil {
			t.Errorf("got %v, %v, want the error", counts, err)
		}
	}
}
