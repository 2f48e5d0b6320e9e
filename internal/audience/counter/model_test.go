package counter_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/timezone"
)

// model counts in plain maps, by the rules of docs/explanation/counting.md. It shares
// no code with the implementation.
type model struct {
	last, steps map[string]time.Time // by visitor, page and kind: the last counted time
	pages       map[string]*modelPage
}

type modelPage struct {
	totals, funnel map[counter.Kind]int64
	hours, days    map[string]int64 // by the site's clock, with the kind
	values         map[string]int64 // dimensions
	filtered       map[string]int64
	all            map[uint64]bool
	week, day      map[string]map[uint64]bool
	minutes        map[int64]int64
}

func newModel() *model {
	return &model{map[string]time.Time{}, map[string]time.Time{}, map[string]*modelPage{}}
}

func (m *model) page(site uuid.UUID, page string) *modelPage {
	key := site.String() + page
	if m.pages[key] == nil {
		m.pages[key] = &modelPage{
			map[counter.Kind]int64{},
			map[counter.Kind]int64{},
			map[string]int64{},
			map[string]int64{},
			map[string]int64{},
			map[string]int64{},
			map[uint64]bool{},
			map[string]map[uint64]bool{},
			map[string]map[uint64]bool{},
			map[int64]int64{},
		}
	}
	return m.pages[key]
}

// within reports whether a time is in the window after another. Windows are measured in
// clock minutes; those of more than an hour in sixtieths of them.
func within(before, now time.Time, window time.Duration) bool {
	step := max(window/60, time.Minute)
	return now.Truncate(step).Sub(before.Truncate(step)) <= window
}

func (m *model) count(h counter.Hit) counter.Outcome {
	p := m.page(h.Site.ID, h.Page)
	who := fmt.Sprint(h.Site.ID, h.Visitor.Hash, h.Kind, h.Page)
	if last, ok := m.last[who]; ok && within(last, h.At, h.Site.Window) {
		return counter.Outcome{Total: p.totals[h.Kind]}
	}
	m.last[who] = h.At
	p.totals[h.Kind]++
	if step, ok := m.steps[who]; !ok || !within(step, h.At, time.Hour) {
		m.steps[who] = h.At
		p.funnel[h.Kind]++
	}
	local := h.At.In(h.Site.Zone)
	day, hour := local.Format(time.DateOnly), local.Format("2006-01-02 15")
	p.hours[hour+string(h.Kind)]++
	p.days[day+string(h.Kind)]++
	outcome := counter.Outcome{Counted: true, New: true, Total: p.totals[h.Kind]}
	if h.Kind != counter.View {
		return outcome
	}
	p.minutes[h.At.Unix()/60]++
	for _, value := range []string{"country " + h.Country, "device " + h.Device, "referrer " + h.Referrer} {
		p.values[value]++
	}
	visitor := h.Visitor.Hash
	if h.Site.UniqueMethod == counter.Bitmap {
		visitor = uint64(h.Visitor.ID)
	}
	year, week := local.ISOWeek()
	sets := []map[uint64]bool{entry(p.day, day), entry(p.week, fmt.Sprint(year, week)), p.all}
	switch h.Site.UniqueMethod {
	case counter.SetPerDay:
		outcome.New = !sets[1][visitor]
	default:
		outcome.New = !sets[2][visitor]
	}
	for _, set := range sets {
		set[visitor] = true
	}
	return outcome
}

func entry(sets map[string]map[uint64]bool, key string) map[uint64]bool {
	if sets[key] == nil {
		sets[key] = map[uint64]bool{}
	}
	return sets[key]
}

// traffic generates hits of several days: reloads, offices behind one address whose
// people share a hash, returning readers, clicks and conversions.
type traffic struct {
	random *rand.Rand
	sites  []counter.Site
	recent []counter.Hit
}

func newTraffic(t *testing.T) *traffic {
	tr := &traffic{random: rand.New(rand.NewPCG(1, 2))}
	for _, w := range []counter.UniqueMethod{counter.Set, counter.SetPerDay, counter.HyperLogLog, counter.Bitmap} {
		tr.sites = append(tr.sites, newSite(t, w))
	}
	tr.sites[1].Zone = must[*time.Location](t)(timezone.Load("Asia/Kolkata")) // half an hour off
	tr.sites[2].Window = 2 * time.Hour
	tr.sites[3].Window = 5 * time.Minute
	return tr
}

func (tr *traffic) hit(at time.Time) counter.Hit {
	if len(tr.recent) > 1000 {
		tr.recent = slices.Delete(tr.recent, 0, 500)
	}
	if len(tr.recent) > 0 && tr.random.IntN(4) == 0 { // again
		h := tr.recent[tr.random.IntN(len(tr.recent))]
		h.At = at
		return h
	}
	id := uint32(1 + tr.random.IntN(40_000))
	if tr.random.IntN(10) == 0 {
		id = uint32(1 + tr.random.IntN(20)) // an office
	}
	kind := counter.View
	switch n := tr.random.IntN(20); {
	case n == 0:
		kind = counter.Conversion
	case n < 4:
		kind = counter.Click
	}
	h := counter.Hit{
		Site: tr.sites[tr.random.IntN(len(tr.sites))],
		Page: fmt.Sprintf("/bài/%d", int(60*math.Pow(tr.random.Float64(), 3))), Kind: kind,
		Visitor: counter.Visitor{Hash: uint64(id) * 0x9e3779b97f4a7c15, ID: id}, At: at,
		Country:  []string{"VN", "US", "FR"}[tr.random.IntN(3)],
		Device:   []string{"mobile", "desktop", "tablet", "other"}[tr.random.IntN(4)],
		Referrer: fmt.Sprintf("site%d.example", tr.random.IntN(20)),
	}
	tr.recent = append(tr.recent, h)
	return h
}

// refused is a bot's hit.
func (tr *traffic) filtered(at time.Time) counter.FilteredHit {
	return counter.FilteredHit{
		Site:   tr.sites[tr.random.IntN(len(tr.sites))],
		Page:   fmt.Sprintf("/bài/%d", tr.random.IntN(60)),
		Reason: []string{"crawler", "rate", "automation"}[tr.random.IntN(3)], At: at,
	}
}

// feed counts hits through the batcher, with as many concurrent callers as one second
// has hits, and in the model. The order within a second does not matter: no visitor
// does the same thing twice in it.
func feed(t *testing.T, c *counter.Counter, b *counter.Batcher, m *model, clock *clock, tr *traffic, n int,
	over time.Duration,
) {
	t.Helper()
	start := clock.Now()
	const atOnce = 100
	for done := 0; done < n; done += atOnce {
		at := start.Add(time.Duration(float64(done) / float64(n) * float64(over))).Truncate(time.Second)
		clock.set(at)
		var hits []counter.Hit
		did := map[string]bool{}
		for len(hits) < atOnce {
			h := tr.hit(at)
			if who := fmt.Sprint(h.Site.ID, h.Visitor.Hash, h.Kind, h.Page); !did[who] {
				did[who] = true
				hits = append(hits, h)
			}
		}
		var wait sync.WaitGroup
		for range 4 { // bots
			h := tr.filtered(at)
			m.page(h.Site.ID, h.Page).filtered[h.Reason]++
			wait.Go(func() {
				if err := b.CountFiltered(t.Context(), h); err != nil {
					t.Error(err)
				}
			})
		}
		got := make([]counter.Outcome, len(hits))
		for i, h := range hits {
			wait.Go(func() {
				var err error
				if got[i], err = b.Count(t.Context(), h); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		for i, h := range hits {
			before := m.last[fmt.Sprint(h.Site.ID, h.Visitor.Hash, h.Kind, h.Page)]
			want := m.count(h)
			got[i].Total, want.Total = 0, 0 // depends on the order
			if h.Site.UniqueMethod == counter.HyperLogLog {
				got[i].New, want.New = false, false // not known for certain
			}
			if got[i] != want {
				t.Fatalf("%s %s of %x at %s, counted last at %s: %+v, want %+v", h.Site.UniqueMethod, h.Kind,
					h.Visitor.Hash, h.At, before, got[i], want)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
		if done%(atOnce*20) == 0 {
			aggregate(t, c)
		}
	}
	clock.set(start.Add(over))
	aggregate(t, c)
}
