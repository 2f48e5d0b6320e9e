package flush_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/newsroom"
	"dateline/internal/infra/timezone"
	"dateline/internal/testing/enginetest"
)

// Random traffic of three days with late batches, flushes that are killed at every
// step, and erasures: reports show exactly the expected numbers.
func TestReport_MatchesModel(t *testing.T) {
	t.Parallel()
	r := open(t, enginetest.Redis(t))
	workspace := r.workspace()
	zone, err := timezone.Load("Asia/Ho_Chi_Minh")
	r.must(err)
	now := time.Now()
	clock := now.Add(-70 * time.Hour)
	r.counter = counter.New(r.redis, counter.Options{Shards: shards, Now: func() time.Time { return clock }})
	kill := &fuse{}
	r.Counter, r.Store = killedCounter{r.counter, kill}, killedStore{r.store.Audience.Views, r.store.Audience.Reports, kill}
	r.Articles = &newsroom.Indexer{Store: killedStore{r.store.Audience.Views, r.store.Audience.Reports, kill}}
	r.flush() // a new installation is seeded
	random := rand.New(rand.NewPCG(19, 1))
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	sites := make([]counter.Site, 2)
	models := make([]*reportModel, 2)
	for i, method := range []counter.UniqueMethod{counter.HyperLogLog, counter.Set} {
		sites[i] = counter.Site{
			ID: uuid.New(), Workspace: workspace, Zone: zone, Window: 30 * time.Minute, UniqueMethod: method,
		}
		models[i] = newReportModel()
	}
	late := uint64(1_000_000) // late readers are new, so that the order of their hits is known
	readers := make([]uint64, 600)
	for i := range readers {
		readers[i] = random.Uint64()
	}
	var sent []sentView
	views := 0
	// sendHeartbeats sends a heartbeat for some of the last views.
	sendHeartbeats := func() {
		var beats []counter.Heartbeat
		for _, v := range sent {
			engaged, scroll := []time.Duration{
				2 * time.Second, 9900 * time.Millisecond, 12 * time.Second,
				3 * time.Minute,
			}[random.IntN(4)], []int{0, 60, 100}[random.IntN(3)]
			if random.IntN(4) == 0 {
				continue
			}
			models[v.site].heartbeat(v, clock, engaged, scroll)
			beats = append(beats, counter.Heartbeat{
				Site: v.hit.Site, Page: v.hit.Page, View: v.hit.View, Visitor: v.hit.Visitor, Engaged: engaged,
				Scroll: scroll, At: clock,
			})
		}
		_, err := r.counter.Heartbeats(t.Context(), beats)
		r.must(err)
		sent = nil
	}
	read := func() {
		sendHeartbeats()
		var hits []counter.Hit
		for range 100 {
			i := random.IntN(2)
			page := fmt.Sprint("/", int(math.Abs(random.NormFloat64())*8))
			h := counter.Hit{
				Site: sites[i], Page: page, Kind: counter.View,
				Visitor: counter.Visitor{Hash: readers[random.IntN(len(readers))]}, At: clock,
				Country: pick("VN", "FR", "JP"), Device: pick("mobile", "desktop"), Browser: pick("Chrome", "Safari"),
				OS:      pick("Android", "iOS"),
				Channel: pick("direct", "social", "search"), Source: pick("direct", "zalo.me", "google.com"),
				Campaign: pick("", "", "tet"), Link: pick("", "", "AAAAAAAAAA", "BBBBBBBBBB"),
			}
			if from := fmt.Sprint("/", random.IntN(5)); random.IntN(3) == 0 && from != page {
				h.From = from
			}
			if random.IntN(10) == 0 {
				late++
				h.Visitor.Hash, h.At = late*0x9e3779b97f4a7c15, clock.Add(-time.Duration(random.IntN(40))*time.Hour)
			} else {
				views++
				h.View = fmt.Sprint("view", views)
			}
			hits = append(hits, h)
			if counted := models[i].hit(h); h.View != "" {
				sent = append(sent, sentView{i, h, counted})
			}
		}
		_, err := r.counter.Count(t.Context(), hits)
		r.must(err)
		var events []counter.Event
		for range 20 {
			i := random.IntN(2)
			e := counter.Event{
				Site: sites[i], Page: fmt.Sprint("/", random.IntN(20)), Name: pick("signup", "share"),
				At: clock.Add(-time.Duration(random.IntN(20)) * time.Hour),
			}
			models[i].events[e.Name]++
			if e.Name == "signup" {
				e.Properties = []counter.Property{
					{Name: "plan", Value: pick("free", "pro", "một năm")}, {Name: "from", Value: pick("top", "end")},
				}
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
		a := newsroom.PageArticle{
			Page: fmt.Sprint("/", n), PublishedOn: counter.DayAt(clock, zone), Article: newsroom.Article{
				ID: uuid.New(), Title: "Title", Section: pick("World", "Sport", ""), PublishedAt: clock,
			},
		}
		a.Authors = [][]string{{"An"}, {"An", "Bình"}, {"Chi"}, nil}[random.IntN(4)]
		models[i].articles[a.Page] = a
		r.must(r.store.Audience.Reports.SaveArticles(t.Context(), sites[i].ID, []newsroom.PageArticle{a}, newsroom.Cursor{}))
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
			models[i].expectFiltered(t, when, r.store, site, to-6, to)
			for link, want := range models[i].links {
				if got := r.number("select coalesce(sum(visits), 0)::bigint from site_dimension_days where site_id = "+
					"$1 and dimension = 'link' and value = $2", site.ID, link); got != want {
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
			"select count(*) from site_days d where views <> (select sum(views) from site_hours h where h.site_id = " +
				"d.site_id and h.day = d.day)",
			"select abs((select coalesce(sum(views), 0) from site_days) - (select coalesce(sum(views), 0) from " +
				"view_pages))::bigint",
			"select abs((select coalesce(sum(visits), 0) from site_days) - (select coalesce(sum(entries), 0) from " +
				"site_page_days))::bigint",
			"select abs((select coalesce(sum(views), 0) from site_days) - (select coalesce(sum(views), 0) from " +
				"site_page_days))::bigint",
			"select abs((select coalesce(sum(recirculation), 0) from site_days) - (select " +
				"coalesce(sum(recirculation), 0) from site_page_days))::bigint",
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
			_, err := r.store.Audience.Views.CreateViewErasure(t.Context(), flush.Erasure{
				ID: uuid.New(), Workspace: workspace, Site: sites[0].ID, RequestedBy: uuid.New(),
			})
			r.must(err)
			models[0].erase()
			clear(models[0].articles)
			sent = slices.DeleteFunc(sent, func(v sentView) bool { return v.site == 0 })
			untilDone(flushes)
			r.expectErased(sites[0].ID)
			compare(fmt.Sprint("after the erasure in round ", round))
		}
	}
	compare("in the end")
}
