package flush_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/newsroom"
	"dateline/internal/audience/report"
	"dateline/internal/storage/postgres"
	"dateline/internal/testing/enginetest"
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
	*postgres.Store
	*fuse
}

func (s killedStore) ApplyViewBatch(ctx context.Context, shard int, id uuid.UUID, batch counter.Batch) (bool, error) {
	return around(s.fuse, func() (bool, error) { return s.Store.ApplyViewBatch(ctx, shard, id, batch) })
}

func (s killedStore) SaveSiteSketch(ctx context.Context, d flush.SiteSketch) error {
	_, err := around(s.fuse, func() (int, error) { return 0, s.Store.SaveSiteSketch(ctx, d) })
	return err
}

func (s killedStore) EraseSiteViews(ctx context.Context, site uuid.UUID) (int64, error) {
	return around(s.fuse, func() (int64, error) { return s.Store.EraseSiteViews(ctx, site) })
}

func (s killedStore) CountArticles(ctx context.Context, socialSources []string) (bool, error) {
	return around(s.fuse, func() (bool, error) { return s.Store.CountArticles(ctx, socialSources) })
}

func (s killedStore) RollUpViews(ctx context.Context) (bool, error) {
	return around(s.fuse, func() (bool, error) { return s.Store.RollUpViews(ctx) })
}

// reportModel is what a site's report must show, computed from the hits.
type reportModel struct {
	// Minutes of the last counted view by page and visitor, and of the start of a
	// visitor's latest visit. An erasure leaves them.
	viewed map[string]int64
	visit  map[uint64]int64
	second map[uint64]bool

	articles map[string]newsroom.PageArticle // by page
	links    map[string]int64                // visits by short link
	events   map[string]int64                // "signup", "signup plan pro"
	sums     map[string]int64                // "day 2026-11-16 views", "page /a visits" and so on
	visitors map[string]map[uint64]bool      // by day
}

func newReportModel() *reportModel {
	m := &reportModel{articles: map[string]newsroom.PageArticle{}, viewed: map[string]int64{}, visit: map[uint64]int64{}, second: map[uint64]bool{}}
	m.erase()
	return m
}

func (m *reportModel) erase() {
	m.sums, m.visitors, m.events, m.links = map[string]int64{}, map[string]map[uint64]bool{}, map[string]int64{}, map[string]int64{}
}

func (m *reportModel) add(at time.Time, metric, page string) {
	keys := []string{"all", "day " + at.Format(time.DateOnly), "hour " + at.Truncate(time.Hour).Format(time.RFC3339)}
	if metric != "second_views" { // not reported by page
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

func (m *reportModel) hit(h counter.Hit) {
	at := h.At.In(h.Site.Zone)
	minute, key := at.Unix()/60, fmt.Sprint(h.Visitor.Hash, h.Page)
	if last, ok := m.viewed[key]; !ok || minute-last > 30 {
		m.viewed[key] = minute
		m.add(at, "views", h.Page)
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
		m.visit[h.Visitor.Hash], m.second[h.Visitor.Hash] = minute, false
		m.add(at, "visits", h.Page)
		if h.Link != "" {
			m.links[h.Link]++
		}
		for name, value := range map[string]string{"countries": h.Country, "devices": h.Device, "browsers": h.Browser, "systems": h.OS, "channels": h.Channel, "sources": h.Source, "campaigns": h.Campaign} {
			if value != "" {
				m.sums[name+" "+value+" visits"]++
			}
		}
	case !m.second[h.Visitor.Hash]:
		m.second[h.Visitor.Hash] = true
		m.add(time.Unix(start*60, 0).In(h.Site.Zone), "second_views", h.Page)
	}
}

// sumsOf returns the sums of a report, named as in the model.
func sumsOf(prefix string, t report.Totals, into map[string]int64) {
	for metric, n := range map[string]*int64{"views": t.Views, "visits": t.Visits, "second_views": t.SecondViews, "recirculation": t.Recirculation} {
		if n != nil && *n != 0 {
			into[prefix+" "+metric] += *n
		}
	}
}

// reportsOf computes a site's report and its visitors by day.
func reportsOf(t *testing.T, store *postgres.Store, site counter.Site, from, to counter.Day) (sums map[string]int64, visitors map[string]int64) {
	t.Helper()
	sums, visitors = map[string]int64{}, map[string]int64{}
	reporter := report.Reporter{Store: store}
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
			case report.EntryPages:
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
		r, err := (&report.Reporter{Store: store}).Report(t.Context(), report.Query{Site: site, From: from, To: to, By: by, Limit: 1000})
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
		r, err := (&report.Reporter{Store: store}).Report(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, row := range get(report.Query{By: report.Events}).Tables[0].Rows {
		counts[row.Value] = *row.Events
		r := get(report.Query{Filter: report.Filter{Name: report.EventFilter, Value: row.Value}})
		if *r.Period.Events != *row.Events || r.Period.Views != nil {
			t.Errorf("%s: the days have %d events and views %v, want %d and no views", row.Value, *r.Period.Events, r.Period.Views, *row.Events)
		}
		for _, p := range r.Tables[0].Rows {
			counts[row.Value+" "+p.Property+" "+p.Value] = *p.Events
		}
	}
	return counts
}

// Random traffic of three days with late batches, flushes that are killed at every
// step, and erasures: reports show exactly the expected numbers.
func TestReport_MatchesModel(t *testing.T) {
	t.Parallel()
	r := open(t, enginetest.Redis(t))
	workspace := r.workspace()
	zone, err := time.LoadLocation("Asia/Ho_Chi_Minh")
	r.must(err)
	now := time.Now()
	clock := now.Add(-70 * time.Hour)
	r.counter = counter.New(r.redis, counter.Options{Shards: shards, Now: func() time.Time { return clock }})
	kill := &fuse{}
	r.Counter, r.Store = killedCounter{r.counter, kill}, killedStore{r.store, kill}
	r.Articles = &newsroom.Indexer{Store: killedStore{r.store, kill}}
	r.flush() // a new installation is seeded
	random := rand.New(rand.NewPCG(19, 1))
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	sites := make([]counter.Site, 2)
	models := make([]*reportModel, 2)
	for i, method := range []counter.UniqueMethod{counter.HyperLogLog, counter.Set} {
		sites[i] = counter.Site{ID: uuid.New(), Workspace: workspace, Zone: zone, Window: 30 * time.Minute, UniqueMethod: method}
		models[i] = newReportModel()
	}
	late := uint64(1_000_000) // late readers are new, so that the order of their hits is known
	readers := make([]uint64, 600)
	for i := range readers {
		readers[i] = random.Uint64()
	}
	read := func() {
		var hits []counter.Hit
		for range 100 {
			i := random.IntN(2)
			page := fmt.Sprint("/", int(math.Abs(random.NormFloat64())*8))
			h := counter.Hit{Site: sites[i], Page: page, Kind: counter.View, Visitor: counter.Visitor{Hash: readers[random.IntN(len(readers))]}, At: clock,
				Country: pick("VN", "FR", "JP"), Device: pick("mobile", "desktop"), Browser: pick("Chrome", "Safari"), OS: pick("Android", "iOS"),
				Channel: pick("direct", "social", "search"), Source: pick("direct", "zalo.me", "google.com"), Campaign: pick("", "", "tet"), Link: pick("", "", "AAAAAAAAAA", "BBBBBBBBBB")}
			if from := fmt.Sprint("/", random.IntN(5)); random.IntN(3) == 0 && from != page {
				h.From = from
			}
			if random.IntN(10) == 0 {
				late++
				h.Visitor.Hash, h.At = late*0x9e3779b97f4a7c15, clock.Add(-time.Duration(random.IntN(40))*time.Hour)
			}
			hits = append(hits, h)
			models[i].hit(h)
		}
		_, err := r.counter.Count(t.Context(), hits)
		r.must(err)
		var events []counter.Event
		for range 20 {
			i := random.IntN(2)
			e := counter.Event{Site: sites[i], Page: fmt.Sprint("/", random.IntN(20)), Name: pick("signup", "share"), At: clock.Add(-time.Duration(random.IntN(20)) * time.Hour)}
			models[i].events[e.Name]++
			if e.Name == "signup" {
				e.Properties = []counter.Property{{Name: "plan", Value: pick("free", "pro", "một năm")}, {Name: "from", Value: pick("top", "end")}}
				for _, p := range e.Properties {
					models[i].events["signup "+p.Name+" "+p.Value]++
				}
			}
			events = append(events, e)
		}
		r.must(r.counter.CountEvents(t.Context(), events))
	}
	// untilDone repeats a run that is killed a step later each time.
	untilDone := func(run func() error) {
		t.Helper()
		for n := 1 + random.IntN(3); ; n += 1 + random.IntN(4) {
			kill.left = n
			err := run()
			kill.left = 0
			if err == nil {
				return
			}
			if !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
		}
	}
	flushes := func() error { _, err := r.Flush(t.Context(), func() {}); return err }
	maintains := func() error { _, err := r.Maintain(t.Context(), func() {}); return err }
	// publish adds an article, or corrects one, on a random page.
	publish := func(i int) {
		n := random.IntN(12)
		a := newsroom.PageArticle{Page: fmt.Sprint("/", n), PublishedOn: counter.DayAt(clock, zone), Article: newsroom.Article{ID: uuid.New(), Title: "Title", Section: pick("World", "Sport", ""), PublishedAt: clock}}
		a.Authors = [][]string{{"An"}, {"An", "Bình"}, {"Chi"}, nil}[random.IntN(4)]
		models[i].articles[a.Page] = a
		r.must(r.store.SaveArticles(t.Context(), sites[i].ID, []newsroom.PageArticle{a}, newsroom.Cursor{}))
	}
	compare := func(when string) {
		t.Helper()
		for i := range sites {
			publish(i)
		}
		r.exec("update site_days set articles_at = '-infinity'") // a day later
		untilDone(flushes)
		untilDone(maintains)
		to := counter.Day(now.In(zone).Unix()/86400) + 1
		if today := now.In(zone).Format(time.DateOnly); to.Time().Format(time.DateOnly) > today {
			to--
		}
		for i, site := range sites {
			got, visitors := reportsOf(t, r.store, site, to-6, to)
			if want := models[i].sums; !maps.Equal(got, want) {
				for key := range want {
					if got[key] != want[key] {
						t.Errorf("%s: site %d: %s: got %d, want %d", when, i, key, got[key], want[key])
					}
				}
				for key := range got {
					if _, ok := want[key]; !ok {
						t.Errorf("%s: site %d: %s: got %d, want none", when, i, key, got[key])
					}
				}
			}
			if got, want := articleSumsOf(t, r.store, site, to-6, to), models[i].articleSums(); !maps.Equal(got, want) {
				t.Errorf("%s: site %d: articles: got %v, want %v", when, i, got, want)
			}
			for link, want := range models[i].links {
				if got := r.number("select coalesce(sum(visits), 0)::bigint from site_dimension_days where site_id = $1 and dimension = 'link' and value = $2", site.ID, link); got != want {
					t.Errorf("%s: site %d: visits by the link %s: got %d, want %d", when, i, link, got, want)
				}
			}
			if got, want := eventsOf(t, r.store, site, to-6, to), models[i].events; !maps.Equal(got, want) {
				t.Errorf("%s: site %d: events: got %v, want %v", when, i, got, want)
			}
			for day, n := range visitors {
				want := float64(len(models[i].visitors[day]))
				if math.Abs(float64(n)-want) > 2+0.04*want { // five standard errors
					t.Errorf("%s: site %d: visitors of %s: got %d, want %v", when, i, day, n, want)
				}
			}
		}
		for _, sql := range []string{
			"select count(*) from site_days d where views <> (select sum(views) from site_hours h where h.site_id = d.site_id and h.day = d.day)",
			"select abs((select coalesce(sum(views), 0) from site_days) - (select coalesce(sum(views), 0) from view_pages))::bigint",
			"select abs((select coalesce(sum(visits), 0) from site_days) - (select coalesce(sum(entries), 0) from site_page_days))::bigint",
			"select abs((select coalesce(sum(views), 0) from site_days) - (select coalesce(sum(views), 0) from site_page_days))::bigint",
			"select abs((select coalesce(sum(recirculation), 0) from site_days) - (select coalesce(sum(recirculation), 0) from site_page_days))::bigint",
		} {
			if n := r.number(sql); n != 0 {
				t.Errorf("%s: %s: got %d, want 0", when, sql, n)
			}
		}
	}
	for round := range 20 {
		for range 8 {
			read()
			clock = clock.Add(time.Duration(20+random.IntN(10)) * time.Minute / 2)
		}
		switch round % 10 {
		case 2, 5, 8:
			untilDone(flushes)
		case 4:
			untilDone(maintains)
		case 6:
			compare(fmt.Sprint("round ", round))
		case 9:
			_, err := r.store.CreateViewErasure(t.Context(), flush.Erasure{ID: uuid.New(), Workspace: workspace, Site: sites[0].ID, RequestedBy: uuid.New()})
			r.must(err)
			models[0].erase()
			clear(models[0].articles)
			untilDone(flushes)
			compare(fmt.Sprint("after the erasure in round ", round))
		}
	}
	compare("in the end")
}
