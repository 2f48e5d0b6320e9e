package flush_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/newsroom"
	"dateline/internal/audience/report"
	"dateline/internal/storage/postgres"
	"dateline/internal/storage/postgres/audience"
)

var errKilled = errors.New("killed")

// fuse fails before or after the n-th step of a flush, as if the process were
// killed there. Zero: never.
type fuse struct{ left int }

func (f *fuse) step() error {
	if f.left > 0 {
		if f.left--; f.left == 0 {
			return errKilled
		}
	}
	return nil
}

// around runs a step between two points of failure.
func around[T any](f *fuse, run func() (T, error)) (out T, err error) {
	if err = f.step(); err != nil {
		return out, err
	}
	if out, err = run(); err == nil {
		err = f.step()
	}
	return out, err
}

type killedCounter struct {
	*counter.Counter
	*fuse
}

func (c killedCounter) TakeBatch(ctx context.Context, shard int, batch uuid.UUID) (bool, error) {
	return around(c.fuse, func() (bool, error) { return c.Counter.TakeBatch(ctx, shard, batch) })
}

func (c killedCounter) ReadBatch(ctx context.Context, shard int, batch uuid.UUID) (counter.Batch, error) {
	return around(c.fuse, func() (counter.Batch, error) { return c.Counter.ReadBatch(ctx, shard, batch) })
}

func (c killedCounter) DropBatch(ctx context.Context, shard int, batch uuid.UUID) error {
	_, err := around(c.fuse, func() (int, error) { return 0, c.Counter.DropBatch(ctx, shard, batch) })
	return err
}

func (c killedCounter) EraseSiteVisitors(ctx context.Context, site uuid.UUID) error {
	_, err := around(c.fuse, func() (int, error) { return 0, c.Counter.EraseSiteVisitors(ctx, site) })
	return err
}

type killedStore struct {
	*audience.ViewStore
	*audience.ReportStore
	*fuse
}

func (s killedStore) ApplyViewBatch(ctx context.Context, shard int, id uuid.UUID, batch counter.Batch) (bool, error) {
	return around(s.fuse, func() (bool, error) { return s.ViewStore.ApplyViewBatch(ctx, shard, id, batch) })
}

func (s killedStore) SaveSiteSketch(ctx context.Context, d flush.SiteSketch) error {
	_, err := around(s.fuse, func() (int, error) { return 0, s.ViewStore.SaveSiteSketch(ctx, d) })
	return err
}

func (s killedStore) EraseSiteViews(ctx context.Context, site uuid.UUID) (int64, error) {
	return around(s.fuse, func() (int64, error) { return s.ViewStore.EraseSiteViews(ctx, site) })
}

func (s killedStore) CountArticles(ctx context.Context, socialSources []string) (bool, error) {
	return around(s.fuse, func() (bool, error) { return s.ReportStore.CountArticles(ctx, socialSources) })
}

func (s killedStore) RollUpViews(ctx context.Context) (bool, error) {
	return around(s.fuse, func() (bool, error) { return s.ViewStore.RollUpViews(ctx) })
}

// reportModel is what a site's report must show, computed from the hits.
type reportModel struct {
	// Minutes of the last counted view by page and visitor, and of the start of a
	// visitor's latest visit. An erasure leaves them.
	viewed  map[string]int64
	visit   map[uint64]int64
	second  map[uint64]bool
	engaged map[uint64]bool // the visit

	articles map[string]newsroom.PageArticle // by page
	links    map[string]int64                // visits by short link
	events   map[string]int64                // "signup", "signup plan pro"
	sums     map[string]int64                // "day 2026-11-16 views", "page /a visits" and so on
	crossed  map[[3]string]int64             // views by page, country and device
	visitors map[string]map[uint64]bool      // by day
}

func newReportModel() *reportModel {
	m := &reportModel{
		articles: map[string]newsroom.PageArticle{}, viewed: map[string]int64{},
		visit: map[uint64]int64{}, second: map[uint64]bool{}, engaged: map[uint64]bool{},
	}
	m.erase()
	return m
}

func (m *reportModel) erase() {
	m.crossed = map[[3]string]int64{}
	m.sums, m.visitors, m.events, m.links = map[string]int64{}, map[string]map[uint64]bool{}, map[string]int64{},
		map[string]int64{}
}

func (m *reportModel) add(at time.Time, metric, page string) {
	keys := []string{"all", "day " + at.Format(time.DateOnly), "hour " + at.Truncate(time.Hour).Format(time.RFC3339)}
	if metric != "second_views" && metric != "engaged_visits" { // not reported by page
		keys = append(keys, "page "+page)
	}
	for _, key := range keys {
		m.sums[key+" "+metric]++
	}
}

// articleSums returns the numbers of pages by author and section, and of pages
// without an article.
func (m *reportModel) articleSums() map[string]int64 {
	sums := map[string]int64{}
	for key, n := range m.sums {
		page, metric, _ := strings.Cut(strings.TrimPrefix(key, "page "), " ")
		if !strings.HasPrefix(key, "page ") {
			continue
		}
		a, ok := m.articles[page]
		if !ok && metric == "views" {
			sums["without article"] += n
		}
		for _, author := range a.Authors {
			sums["authors "+author+" "+metric] += n
		}
		if a.Section != "" {
			sums["sections "+a.Section+" "+metric] += n
		}
	}
	return sums
}

// sentView is a view that will send a heartbeat.
type sentView struct {
	site    int
	hit     counter.Hit
	counted bool
}

// heartbeat adds the only heartbeat of a view.
func (m *reportModel) heartbeat(v sentView, at time.Time, engaged time.Duration, scroll int) {
	if v.counted {
		began := v.hit.At.In(v.hit.Site.Zone)
		keys := []string{"all", "day " + began.Format(time.DateOnly), "page " + v.hit.Page}
		for _, key := range keys {
			m.sums[key+" engaged"]++
			if engaged >= time.Minute {
				m.sums[key+" minutes"]++
			}
			if scroll == 100 {
				m.sums[key+" completed"]++
			}
		}
	}
	who := v.hit.Visitor.Hash
	start, ok := m.visit[who]
	if engaged < counter.EngagedVisitTime || !ok || at.Unix()/60-start > 30 || m.engaged[who] {
		return
	}
	m.engaged[who] = true
	if !m.second[who] {
		m.add(time.Unix(start*60, 0).In(v.hit.Site.Zone), "engaged_visits", v.hit.Page)
	}
}

// hit adds a hit, and returns whether it is a view that counts.
func (m *reportModel) hit(h counter.Hit) (counted bool) {
	at := h.At.In(h.Site.Zone)
	minute, key := at.Unix()/60, fmt.Sprint(h.Visitor.Hash, h.Page)
	if last, ok := m.viewed[key]; !ok || minute-last > 30 {
		m.viewed[key] = minute
		counted = true
		m.add(at, "views", h.Page)
		m.crossed[[3]string{h.Page, h.Country, h.Device}]++
		m.sums["countries "+h.Country+" views"]++
		m.sums["devices "+h.Device+" views"]++
		if h.From != "" {
			m.add(at, "recirculation", h.From)
		}
		day := at.Format(time.DateOnly)
		if m.visitors[day] == nil {
			m.visitors[day] = map[uint64]bool{}
		}
		m.visitors[day][h.Visitor.Hash] = true
	}
	start, ok := m.visit[h.Visitor.Hash]
	switch {
	case !ok || minute-start > 30:
		m.visit[h.Visitor.Hash], m.second[h.Visitor.Hash], m.engaged[h.Visitor.Hash] = minute, false, false
		m.add(at, "visits", h.Page)
		if h.Link != "" {
			m.links[h.Link]++
		}
		for name, value := range map[string]string{
			"countries": h.Country, "devices": h.Device, "browsers": h.Browser,
			"systems": h.OS, "channels": h.Channel, "sources": h.Source, "campaigns": h.Campaign,
		} {
			if value != "" {
				m.sums[name+" "+value+" visits"]++
			}
		}
	case !m.second[h.Visitor.Hash]:
		m.second[h.Visitor.Hash] = true
		at := time.Unix(start*60, 0).In(h.Site.Zone)
		m.add(at, "second_views", h.Page)
		if !m.engaged[h.Visitor.Hash] {
			m.add(at, "engaged_visits", h.Page)
		}
	}
	return counted
}

// sumsOf returns the sums of a report, named as in the model.
func sumsOf(prefix string, t report.Totals, into map[string]int64) {
	for metric, n := range map[string]*int64{
		"views": t.Views, "visits": t.Visits, "second_views": t.SecondViews,
		"engaged_visits": t.EngagedVisits,
		"recirculation":  t.Recirculation,
	} {
		if n != nil && *n != 0 {
			into[prefix+" "+metric] += *n
		}
	}
	if e := t.Engagement; e != nil {
		// The first bucket from a minute on is the fifteenth: 1800^(14/24) is 79 seconds.
		for metric, n := range map[string]int64{
			"engaged": e.Engaged[0], "minutes": e.Engaged[14],
			"completed": e.Scrolled[counter.ScrollSteps-1],
		} {
			if n != 0 {
				into[prefix+" "+metric] += n
			}
		}
	}
}

// reportsOf computes a site's report and its visitors by day.
func reportsOf(
	t *testing.T, store *postgres.Store, site counter.Site, from, to counter.Day,
) (sums map[string]int64, visitors map[string]int64) {
	t.Helper()
	sums, visitors = map[string]int64{}, map[string]int64{}
	reporter := report.Reporter{Store: store.Audience.Reports}
	get := func(by report.Table) report.Report {
		t.Helper()
		r, err := reporter.Report(t.Context(), report.Query{Site: site, From: from, To: to, By: by, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	overview := get("")
	sumsOf("all", overview.Period.Totals, sums)
	for _, table := range overview.Tables {
		rows := int64(0)
		for _, row := range table.Rows {
			name := string(table.By) + " " + row.Value
			switch table.By {
			case report.EntryPages: // the same as pages, in another order
				rows += *row.Visits
				continue
			case report.Pages:
				name = "page " + row.Value
				rows += *row.Views
			default:
				rows += *row.Visits
			}
			sumsOf(name, row.Totals, sums)
		}
		total := *overview.Period.Visits
		if table.By == report.Pages {
			total = *overview.Period.Views
		}
		if table.Rest != nil && (rows != total || *table.Rest != 0) {
			t.Errorf("%s: the rows add up to %d and the rest is %d, want %d and 0", table.By, rows, *table.Rest, total)
		}
	}
	for _, by := range []report.Table{report.Days, report.Hours} {
		prefix, layout := "day ", time.DateOnly
		if by == report.Hours {
			prefix, layout = "hour ", time.RFC3339
		}
		for _, b := range get(by).Period.Series {
			sumsOf(prefix+b.Start.Format(layout), b.Totals, sums)
			if by == report.Days {
				visitors[b.Start.Format(layout)] = *b.Visitors
			}
		}
	}
	return sums, visitors
}

// articleSumsOf computes what reports show by author and section.
func articleSumsOf(t *testing.T, store *postgres.Store, site counter.Site, from, to counter.Day) map[string]int64 {
	t.Helper()
	sums := map[string]int64{}
	for _, by := range []report.Table{report.Authors, report.Sections} {
		r, err := (&report.Reporter{Store: store.Audience.Reports}).Report(t.Context(), report.Query{
			Site: site, From: from, To: to, By: by, Limit: 1000,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Tables[0].Rows {
			sumsOf(string(by)+" "+row.Value, row.Totals, sums)
		}
		if n := *r.Tables[0].WithoutArticle; n > 0 {
			sums["without article"] = n
		}
	}
	return sums
}

// eventsOf computes what reports show of events and their properties.
func eventsOf(t *testing.T, store *postgres.Store, site counter.Site, from, to counter.Day) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	get := func(q report.Query) report.Report {
		t.Helper()
		q.Site, q.From, q.To, q.Limit = site, from, to, 1000
		r, err := (&report.Reporter{Store: store.Audience.Reports}).Report(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, row := range get(report.Query{By: report.Events}).Tables[0].Rows {
		counts[row.Value] = *row.Events
		r := get(report.Query{Filters: report.Filters{{Name: report.EventFilter, Values: []string{row.Value}}}})
		if *r.Period.Events != *row.Events || r.Period.Views != nil {
			t.Errorf("%s: the days have %d events and views %v, want %d and no views", row.Value, *r.Period.Events,
				r.Period.Views, *row.Events)
		}
		for _, p := range r.Tables[0].Rows {
			counts[row.Value+" "+p.Property+" "+p.Value] = *p.Events
		}
	}
	return counts
}

// expectFiltered compares the views of reports with combined filters, by their days and by their pages.
func (m *reportModel) expectFiltered(
	t *testing.T, when string, store *postgres.Store, site counter.Site, from, to counter.Day,
) {
	t.Helper()
	for _, filters := range [][]string{
		{"page:/0"},
		{"page:/0", "page:/1", "page:/2"},
		{"page:/0", "country:VN"},
		{"page:/1", "page:/3", "country:FR", "country:JP"},
		{"page:/2", "device:mobile"},
		{"author:An", "author:Bình"},
		{"author:An", "section:World"},
		{"section:World", "section:Sport"},
		{"author:Chi", "country:JP"},
		{"author:Bình", "section:Sport", "device:desktop"},
		{"author:An", "page:/1", "page:/2"},
	} {
		parsed := report.ParseFilters(filters)
		matches := func(name string, has ...string) bool {
			for _, f := range parsed {
				if f.Name == name {
					return slices.ContainsFunc(f.Values, func(v string) bool { return slices.Contains(has, v) })
				}
			}
			return true
		}
		want := map[string]int64{}
		for key, n := range m.crossed {
			a := m.articles[key[0]]
			if matches("page", key[0]) && matches("country", key[1]) && matches("device", key[2]) &&
				matches("author", a.Authors...) && matches("section", a.Section) {
				want[key[0]] += n
				want["all"] += n
			}
		}
		r, err := (&report.Reporter{Store: store.Audience.Reports}).Report(t.Context(), report.Query{
			Site: site, From: from, To: to, Filters: parsed, Limit: 1000, By: report.Pages,
		})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int64{}
		for _, row := range r.Tables[0].Rows {
			got[row.Value] = *row.Views
		}
		days := int64(0)
		for _, b := range r.Period.Series {
			days += *b.Views
		}
		if got["all"] = days; days == 0 {
			delete(got, "all")
		}
		if !maps.Equal(got, want) || *r.Period.Views != days {
			t.Errorf("%s: %v: got %v and a total of %d, want %v", when, filters, got, *r.Period.Views, want)
		}
	}
}
