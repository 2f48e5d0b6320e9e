package api_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/site"
	"dateline/internal/storage/postgres/audience"
	"dateline/internal/testing/enginetest"
)

var benchReports = flag.Bool("report-bench", false,
	"measure reports of a year and the cost of flushing site totals (make bench/reports)")

// TestBenchReports measures reports over HTTP of a site with 200,000 pages per
// day and a year of data, and how much longer a flush takes with site totals.
func TestBenchReports(t *testing.T) {
	if !*benchReports {
		t.Skip("make bench/reports runs it")
	}
	s := start(t)
	w, _ := s.Site(func(w *site.Site) { w.TimeZone = "Asia/Ho_Chi_Minh" })
	fillYear(s, w.ID)
	var bytes int64
	c := s.Count(`select sum(pg_total_relation_size(c.oid)) from pg_class c where c.relname in
		('site_hours', 'site_days', 'site_dimension_days', 'site_page_days', 'site_page_months') and c.relkind = 'r'`)
	bytes = int64(c)

	client := &http.Client{}
	took := func(query string) time.Duration {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/api/v1/sites/"+w.ID.String()+
			"/report?"+query, http.NoBody)
		s.Must(err)
		r.Header.Set("Authorization", "Bearer "+s.Token)
		begin := time.Now()
		a, err := client.Do(r)
		s.Must(err)
		body, err := io.ReadAll(a.Body)
		s.Must(err)
		s.Must(a.Body.Close())
		if a.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %s", query, a.Status, body)
		}
		return time.Since(begin)
	}
	day := func(ago int) string { return time.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }
	var overviews, tables []time.Duration
	for i := range 12 {
		for _, query := range []string{
			"from=" + day(183) + "&to=" + day(2) + "&compare=previous",
			"from=" + day(366) + "&to=" + day(2) + "&compare=year",
		} {
			if d := took(query); i >= 5 { // warm-up
				overviews = append(overviews, d)
			}
		}
		for _, by := range []string{
			"pages", "entry_pages", "sources", "campaigns", "channels", "countries", "browsers",
			"days", "months",
		} {
			d := took("from=" + day(366) + "&to=" + day(2) + "&by=" + by)
			t.Logf("%s: %s", by, d)
			if i >= 2 {
				tables = append(tables, d)
			}
		}
	}
	out := map[string]any{
		"overview_p95_ms": millis(p95(overviews)), "table_p95_ms": millis(p95(tables)), "year_mb": bytes >> 20,
	}
	measureClients(s, "overview_8", out, 8, func(ctx context.Context, c *http.Client) (int, error) {
		return getJSON(ctx, s, c, "/api/v1/sites/"+w.ID.String()+"/report?from="+day(183)+"&to="+day(2)+
			"&compare=previous", &spec.SiteReport{})
	})
	with, without := benchFlush(s)
	out["flush_overhead"], out["flush_s"] = float64(int(100*with.Seconds()/without.Seconds()))/100, with.Seconds()
	result, err := json.Marshal(out)
	s.Must(err)
	fmt.Println(string(result)) //nolint:forbidigo // the last line of make bench/reports
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()/100) / 10 }

func p95(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)*95/100]
}

// fillYear writes a year of a site's totals: 1,000 of 200,000 pages a day, and about
// 500 values of dimensions.
func fillYear(s *server, id uuid.UUID) {
	s.t.Helper()
	sketch := make([]byte, 12_304)
	_, _ = rand.Read(sketch)
	s.Exec(
		`insert into view_pages (site_id, page, unique_method, views) select $1, '/2026/11/category/an-article-with-a-title-in-its-path-' || n, 'hyperloglog', 1 from generate_series(1, 200000) n`, id)
	s.Exec(
		`insert into site_days (site_id, day, views, clicks, conversions, visits, second_views, recirculation, visitors, sketch, sketch_due, pages_due)
		select $1, current_date - n, 3300000, 1000, 10, 1500000, 500000, 700000, 900000, $2, false, false from generate_series(0, 366) n`, id, sketch)
	s.Exec(`insert into site_hours (site_id, hour, day, views, clicks, conversions, visits, second_views, recirculation)
		select $1, current_date - n * interval '1 hour', (current_date - n * interval '1 hour')::date, 137500, 40, 1, 62500, 20000, 29000 from generate_series(0, 366 * 24) n`, id)
	s.Exec(`insert into site_dimension_days (site_id, dimension, day, value, views, visits)
		select $1, d.name, current_date - n, d.name || '-value-' || v, 100000 / v, 50000 / v
		from generate_series(0, 366) n, (values ('country', 60), ('device', 4), ('browser', 15), ('os', 6), ('channel', 12), ('source', 200), ('campaign', 200)) d(name, many), lateral generate_series(1, d.many) v`, id)
	s.Exec(
		`with pages as (select p.id, row_number() over (order by p.id) - 1 as n from view_pages p where p.site_id = $1)
		insert into site_page_days (site_id, day, page_id, views, visitors, entries, recirculation)
		select $1, current_date - d, p.id, 100000 / r, 80000 / r, 50000 / r, 20000 / r
		from generate_series(0, 366) d cross join generate_series(1, 1000) r join pages p on p.n = (r * 7919 + d * 131) % 200000
		order by d desc on conflict do nothing`, id)
	s.Exec(
		`with pages as (select p.id, row_number() over (order by p.id) - 1 as n from view_pages p where p.site_id = $1)
		insert into site_page_months (site_id, month, page_id, views, visitors, entries, recirculation)
		select $1, (date_trunc('month', current_date) - m * interval '1 month')::date, p.id, 1000000 / r, 800000 / r, 500000 / r, 200000 / r
		from generate_series(0, 12) m cross join generate_series(1, 5000) r join pages p on p.n = (r * 17 + m * 1931) % 200000 order by m desc`, id)
	// Engagement by day of the pages that the lists of the edges have, and by month.
	s.Exec(
		`update site_page_months set engaged = (select array_agg(views / n) from generate_series(1, 24) n), scrolled = array[views, views / 2, views / 3, views / 4] where site_id = $1`, id)
	s.Exec(
		`insert into site_engagement (site_id, day, engaged, scrolled) select $1, current_date - n, array_fill(1000000, array[24]), array_fill(1000000, array[4]) from generate_series(0, 366) n`, id)
	for ago := range 14 {
		month := time.Now().UTC().AddDate(0, -ago, 1-time.Now().UTC().Day())
		s.Exec(fmt.Sprintf("create table if not exists view_engagement_%s partition of view_engagement for values "+
			"from ('%s') to ('%s')", month.Format("20060102"), month.Format(time.DateOnly),
			month.AddDate(0, 1, 0).Format(time.DateOnly)))
	}
	s.Exec(`insert into view_engagement (page_id, day, engaged, scrolled)
		select page_id, day, array_fill(views, array[24]), array_fill(views, array[4]) from site_page_days where site_id = $1`, id)
	s.Exec("vacuum analyze site_engagement, view_engagement, site_days, site_hours, site_dimension_days, " +
		"site_page_days, site_page_months, view_pages")
}

// withoutSites drops the tables that only sites need.
type withoutSites struct{ *audience.ViewStore }

func (s withoutSites) ApplyViewBatch(ctx context.Context, shard int, id uuid.UUID, batch counter.Batch) (bool, error) {
	for i := range batch.Deltas {
		d := &batch.Deltas[i]
		d.Visits = nil
		d.Hours = slices.DeleteFunc(d.Hours, func(h counter.HourDelta) bool {
			return h.Kind == counter.Entry || h.Kind == counter.SecondView || h.Kind == counter.Recirculation
		})
	}
	return s.ViewStore.ApplyViewBatch(ctx, shard, id, batch)
}

func (s withoutSites) SiteSketchesDue(context.Context, int) ([]flush.SiteSketch, error) {
	return nil, nil
}

// benchFlush measures flushes of 50,000 existing pages with three views per reader,
// with and without site totals.
func benchFlush(s *server) (with, without time.Duration) {
	s.t.Helper()
	const pages = 50_000
	c := counter.New(enginetest.RedisClient(s.t, s.RedisURL), counter.Options{})
	full := &flush.Flusher{Counter: c, Store: s.Store.Audience.Views, Log: slog.New(slog.DiscardHandler)}
	bare := &flush.Flusher{Counter: c, Store: withoutSites{s.Store.Audience.Views}, Log: slog.New(slog.DiscardHandler)}
	one := counter.Site{ID: uuid.New(), Zone: time.UTC, Window: 30 * time.Minute, UniqueMethod: counter.HyperLogLog}
	names := make([]string, pages)
	for i := range names {
		names[i] = "/articles/" + uuid.NewString()
	}
	reader := uint64(0)
	run := func(f *flush.Flusher) time.Duration {
		for from := 0; from < pages; from += 1000 {
			hits := make([]counter.Hit, 1000)
			for i := range hits {
				at := from + i
				hits[i] = counter.Hit{
					Site: one, Page: names[at], Kind: counter.View,
					Visitor: counter.Visitor{Hash: (reader + uint64(at/3)) * 0x9e3779b97f4a7c15}, At: time.Now(), //nolint:gosec // not negative
					Country: "VN", Device: "mobile", Referrer: "facebook.com", Browser: "Chrome", OS: "Android",
					Channel: "social", Source: "facebook.com",
				}
				if at%3 > 0 {
					hits[i].From = names[at-1]
				}
			}
			_, err := c.Count(s.t.Context(), hits)
			s.Must(err)
		}
		reader += pages
		s.Must(c.Aggregate(s.t.Context()))
		begin := time.Now()
		_, err := f.Flush(s.t.Context(), func() {})
		s.Must(err)
		return time.Since(begin)
	}
	run(full) // creates and inserts the rows
	run(full)
	var withs, withouts []time.Duration
	for range 3 {
		withs, withouts = append(withs, run(full)), append(withouts, run(bare))
	}
	slices.Sort(withs)
	slices.Sort(withouts)
	return withs[1], withouts[1]
}
