package api_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/api/spec"
	"dateline/internal/audience/site"
)

// goatCounterExport is a file as https://www.goatcounter.com/help/export describes it.
const goatCounterExport = `2Path,Title,Event,UserAgent,Browser,System,Session,Bot,Referrer,Referrer scheme,Screen size,Location,FirstVisit,Date
/a,A,false,,Firefox 119,Linux,1,0,www.google.com,h,"1920,1080,1",VN,true,2025-03-01T10:00:00Z
/b,B,false,,Firefox 119,Linux,1,0,,,"1920,1080,1",VN,true,2025-03-01T10:01:00Z
/a,A,false,,Safari 17,macOS 14,2,0,,,"390,844,3",US-CA,true,2025-03-01T20:00:00Z
/a,A,false,,Bot,Linux,3,7,,,,US,true,2025-03-01T20:00:00Z
click,Click,true,,Firefox 119,Linux,1,0,,,,VN,true,2025-03-01T10:02:00Z
`

// zipped compresses a file as GoatCounter delivers it.
func zipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write([]byte(text))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The files are those of https://plausible.io/docs/csv-import.
func plausibleExport(t *testing.T, lastDay string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, rows := range map[string][]string{
		"imported_visitors_20240101_20240203.csv": {
			`"date","visitors","pageviews","bounces","visits","visit_duration"`, `"2024-01-30",40,100,20,50,900`,
			`"2024-01-31",80,200,40,100,900`, `"` + lastDay + `",1,1,1,1,1`,
		},
		"imported_sources_20240101_20240203.csv": {
			`"date","source","referrer","utm_source","utm_medium","utm_campaign","utm_content","utm_term","pageviews","visitors","visits","visit_duration","bounces"`, `"2024-01-30","Google","google.com","","","Tet","","",60,20,30,1,1`, `"2024-01-30","","","","","","","",40,20,20,1,1`,
		},
		"imported_pages_20240101_20240203.csv": {
			`"date","hostname","page","visits","visitors","pageviews"`,
			`"2024-01-30","news.example","/blog/",30,30,70`, `"2024-01-31","news.example","/blog",60,60,150`,
		},
		"imported_entry_pages_20240101_20240203.csv": {
			`"date","entry_page","visitors","entrances","visit_duration","bounces","pageviews"`,
			`"2024-01-30","/blog",30,45,1,1,1`,
		},
		"imported_locations_20240101_20240203.csv": {
			`"date","country","region","city","visitors","visits","visit_duration","bounces","pageviews"`,
			`"2024-01-30","VN","VN-SG",1,10,30,1,1,60`, `"2024-01-30","VN","VN-HN",2,10,20,1,1,40`,
		},
		"imported_devices_20240101_20240203.csv": {
			`"date","device","visitors","visits","visit_duration","bounces","pageviews"`,
			`"2024-01-30","Laptop",1,20,1,1,50`, `"2024-01-30","Desktop",1,30,1,1,50`,
		},
		"imported_operating_systems_20240101_20240203.csv": {
			`"date","operating_system","operating_system_version","visitors","visits","visit_duration","bounces","pageviews"`, `"2024-01-30","Android","12",2,50,0,2,2`,
		},
		"imported_exit_pages_20240101_20240203.csv": {`"date","exit_page"`, `"2024-01-30","/"`},
	} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(strings.Join(rows, "\n") + "\n"))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestStatsImports_AreMarkedEndBeforeOwnCountsAndCanBeDeleted(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site(func(w *site.Site) { w.Domains, w.TimeZone = []string{"news.example"}, "UTC" })
	path := "/api/v1/sites/" + w.ID.String()
	upload := func(source, body string) answer {
		t.Helper()
		return s.send("POST", path+"/imports?source="+source, body, "Content-Type", "application/octet-stream")
	}
	own := "2024-02-02"
	s.Exec("insert into site_days (site_id, day, views, clicks, conversions, visits, second_views, recirculation) "+
		"values ($1, $2, 7, 0, 0, 7, 0, 0)", w.ID, own)
	var made spec.StatsImport
	s.decode(upload("plausible", plausibleExport(t, own)), 201, &made)
	if got, want := fmt.Sprint(made.Source, made.From.Format(time.DateOnly), made.To.Format(time.DateOnly),
		made.Views), fmt.Sprint("plausible", "2024-01-30", "2024-01-31", 300); got != want {
		t.Errorf("the import is %s, want %s", got, want)
	}
	report := func(query string) string { return s.report(path, query) }
	for query, want := range map[string]string{
		// A completed month
		"from=2024-01-01&to=2024-02-03&by=pages": "307 120 157 67 pages:/blog=220/45",
		"from=2024-01-31&to=2024-01-31&by=pages": "200 80 100 40 pages:/blog=150/0",
		"from=2024-01-01&to=2024-02-03&by=sources": "307 120 157 67 sources:google.com=-/30 " +
			"sources:direct=-/20",
		"from=2024-01-01&to=2024-02-03&by=campaigns": "307 120 157 67 campaigns:tet=-/30",
		"from=2024-01-01&to=2024-02-03&by=countries": "307 120 157 67 countries:VN=100/50",
		"from=2024-01-01&to=2024-02-03&by=devices":   "307 120 157 67 devices:desktop=100/50",
		"from=2024-01-01&to=2024-02-03&by=systems":   "307 120 157 67 systems:Android=-/50",
		"from=2024-01-01&to=2024-02-03&by=months&filter=page:/blog": "220 90 - - months:2024-01=220/- " +
			"months:2024-02=0/0",
		"from=2024-01-01&to=2024-02-03&by=months&filter=country:VN": "100 - 50 - months:2024-01=100/50 " +
			"months:2024-02=0/0",
	} {
		if got := report(query); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
	var imported spec.SiteReport
	s.decode(s.send("GET", path+"/report?from=2024-01-01&to=2024-02-03", nil), 200, &imported)
	if p := imported.Period; p.ImportedTo == nil || p.ImportedTo.Format(time.DateOnly) != "2024-01-31" ||
		p.Totals.Recirculation != nil ||
		p.Totals.Clicks != nil || p.Totals.Conversions != nil {
		t.Errorf("imported days: got %v and %+v, want the last imported day, and nothing that imports lack",
			p.ImportedTo, p.Totals)
	}
	s.refused(upload("plausible", plausibleExport(t, own)), 409, "already_imported")
	s.decode(s.send("POST", path+"/imports?source=goatcounter", strings.ReplaceAll(goatCounterExport, "2025-", "2023-"),
		"Content-Type", "application/octet-stream"), 201, &made)
	if got, want := report("from=2023-03-01&to=2023-03-01&by=sources"), "3 2 2 1 sources:direct=-/1 "+
		"sources:google.com=-/1"; got != want {
		t.Errorf("GoatCounter: got %s, want %s", got, want)
	}
	withoutSessions := strings.NewReplacer("2025-", "2022-", "Linux,1,", "Linux,,", "macOS 14,2,", "macOS 14,,").
		Replace(goatCounterExport)
	s.decode(upload("goatcounter", zipped(t, withoutSessions)), 201, &made)
	var unknown spec.SiteReport
	s.decode(s.send("GET", path+"/report?from=2022-03-01&to=2022-03-01", nil), 200, &unknown)
	if got := unknown.Period.Totals; got.Views == nil || *got.Views != 3 || got.Visits != nil || got.Visitors != nil ||
		got.BounceRate != nil {
		t.Errorf("without sessions: got %+v, want 3 views and nothing else", got)
	}
	s.refused(upload("goatcounter", goatCounterExport), 409, "nothing_to_import")
	for source, body := range map[string]string{
		"plausible":   "no archive",
		"goatcounter": "Path,Date\n/a,2023-01-01\n",
	} {
		s.refused(upload(source, body), 422, "invalid_request", "body")
	}
	var list struct{ Imports []spec.StatsImport }
	s.decode(s.send("GET", path+"/imports", nil), 200, &list)
	if len(list.Imports) != 3 {
		t.Fatalf("the list has %d imports, want 3", len(list.Imports))
	}
	for _, i := range list.Imports {
		if a := s.send("DELETE", path+"/imports/"+i.Id.String(), nil); a.StatusCode != http.StatusNoContent {
			t.Errorf("delete: %s %s", a.Status, a.body)
		}
	}
	if got, want := report("from=2024-01-01&to=2024-02-03&by=pages"), "7 0 7 7"; got != want {
		t.Errorf("after deleting: got %s, want %s", got, want)
	}
	if n := s.Count("select (select count(*) from site_days) + (select count(*) from site_dimension_days) + (select " +
		"count(*) from site_page_days) + (select count(*) from site_page_months)"); n != 1 {
		t.Errorf("%d rows remain, want 1", n)
	}
}

func TestStatsImports_ReportProgressAndCanBeCanceled(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site(func(w *site.Site) { w.Domains, w.TimeZone = []string{"news.example"}, "UTC" })
	path := "/api/v1/sites/" + w.ID.String() + "/imports"
	running := func() []spec.RunningStatsImport {
		t.Helper()
		var list struct{ Running []spec.RunningStatsImport }
		s.decode(s.send("GET", path, nil), 200, &list)
		return list.Running
	}
	upload := func(ctx context.Context) chan answer {
		done := make(chan answer, 1)
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path+"?source=plausible",
			strings.NewReader(plausibleExport(t, "2024-02-02")))
		s.Must(err)
		r.Header.Set("Authorization", "Bearer "+s.Token)
		r.Header.Set("Content-Type", "application/octet-stream")
		go func() {
			got, err := s.client.Do(r)
			if err != nil {
				done <- answer{}
				return
			}
			defer func() { _ = got.Body.Close() }()
			body, _ := io.ReadAll(got.Body)
			done <- answer{got, body}
		}()
		return done
	}
	// stopped waits until an import has stored its days and values, but not its pages.
	stopped := func() (one spec.RunningStatsImport) {
		t.Helper()
		require.Eventually(t, func() bool {
			list := running()
			if len(list) == 1 && list[0].Progress.Total != nil {
				one = list[0]
			}
			return one.Progress.Done > 5
		}, 30*time.Second, 20*time.Millisecond)
		if total := *one.Progress.Total; one.Source != "plausible" || one.Progress.Done >= total || total < 10 {
			t.Errorf("got %s, %d of %d, want part of the rows", one.Source, one.Progress.Done, total)
		}
		return one
	}
	nothingStored := func() {
		t.Helper()
		if n := s.Count("select (select count(*) from stats_imports) + (select count(*) from site_days) + (select " +
			"count(*) from site_dimension_days) + (select count(*) from stats_imports_running)"); n != 0 {
			t.Errorf("%d rows are stored, want none", n)
		}
	}
	lock := func() (release func()) {
		t.Helper()
		tx, err := s.Store.Pool().Begin(t.Context())
		s.Must(err)
		_, err = tx.Exec(t.Context(), "lock table site_page_days in exclusive mode")
		s.Must(err)
		return func() { s.Must(tx.Rollback(t.Context())) }
	}

	release := lock()
	answered := upload(t.Context())
	one := stopped()
	if a := s.send("DELETE", path+"/"+one.Id.String(), nil); a.StatusCode != http.StatusNoContent {
		t.Errorf("cancel: %s %s", a.Status, a.body)
	}
	if list := running(); len(list) != 0 {
		t.Errorf("after the cancellation: got %+v, want none", list)
	}
	release()
	s.refused(<-answered, 409, "import_canceled")
	nothingStored()
	s.refused(s.send("DELETE", path+"/"+one.Id.String(), nil), 404, "import_not_found")

	release = lock()
	ctx, disconnect := context.WithCancel(t.Context())
	answered = upload(ctx)
	stopped()
	disconnect()
	if a := <-answered; a.Response != nil {
		t.Errorf("after disconnecting: got %s", a.Status)
	}
	require.Eventually(t, func() bool { return len(running()) == 0 }, 30*time.Second, 20*time.Millisecond)
	release()
	nothingStored()

	var made spec.StatsImport
	s.decode(<-upload(t.Context()), 201, &made)
	if list := running(); len(list) != 0 || made.Views != 301 {
		t.Errorf("got %d views and %+v, want 301 and none running", made.Views, list)
	}
}

// The CSV table is as explorations of Google Analytics 4 download it, the JSON one as
// https://developers.google.com/analytics/devguides/reporting/data/v1/basics shows it.
func ga4Export(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, content := range map[string]string{
		"total.csv": "# ----------------------------------------\n# Free form 1\n# Account: News\n# " +
			"20240130-20240131\n# ----------------------------------------\n\n" +
			"Date,Views,Sessions,Total users,Engaged sessions\n,300,150,120,90,Grand total\n20240130,100,50,40,30\n" +
			"20240131,200,100,80,60\n",
		"pages.json": `{"dimensionHeaders":[{"name":"date"},{"name":"pagePath"}],"metricHeaders":[{"name":"screenPageViews","type":"TYPE_INTEGER"},{"name":"activeUsers"}],
			"rows":[{"dimensionValues":[{"value":"20240130"},{"value":"/blog/"}],"metricValues":[{"value":"70"},{"value":"30"}]}],"rowCount":1}`,
		"landing.csv": "date,landingPage,sessions\n20240130,/blog,45\n",
		"sources.csv": "date,sessionSource,sessions\n20240130,google,30\n20240130,(direct),20\n" +
			"20240130,(not set),9\n",
		"campaigns.csv": "date,sessionCampaignName,sessions\n20240130,Tet,30\n20240130,(direct),20\n",
		"countries.csv": "Date,Country,Views,Sessions\n20240130,Vietnam,60,30\n20240130,Germany,30,10\n" +
			"20240130,(not set),10,10\n",
		"devices.csv":      "date,deviceCategory,screenPageViews,sessions\n20240130,Mobile,100,50\n",
		"systems.csv":      "date,operatingSystem,sessions\n20240130,Macintosh,50\n",
		"notes/readme.txt": "not a table",
	} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write([]byte(content))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestStatsImports_TablesOfGoogleAnalytics(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site(func(w *site.Site) { w.Domains, w.TimeZone = []string{"news.example"}, "UTC" })
	path := "/api/v1/sites/" + w.ID.String()
	upload := func(body string) answer {
		t.Helper()
		return s.send("POST", path+"/imports?source=ga4", body, "Content-Type", "application/octet-stream")
	}
	for body, want := range map[string]string{
		"date,pagePath,screenPageViews\n20240130,/a,1\n":     "no table whose only dimension is the date",
		"date,country,pagePath,sessions\n20240130,VN,/a,1\n": "the dimensions country and pagePath",
		"date,eventName,sessions\n20240130,click,1\n":        `column "eventName" is not known`,
		"pagePath,sessions\n/a,1\n":                          "no column date",
		"date,sessions\nyesterday,1\n":                       "date must be a day",
		"date,sessions\n20240130,-1\n":                       "sessions must be a whole number",
		"date,sessions,bounceRate\n20240130,1,7\n":           "bounceRate must be a share",
		`{"rows":1}`: "no response of the Data API",
		"":           "no header",
	} {
		a := upload(body)
		s.refused(a, 422, "invalid_request", "body")
		if !strings.Contains(string(a.body), strings.ReplaceAll(want, `"`, `\"`)) {
			t.Errorf("%q: got %s, want it to contain %q", body, a.body, want)
		}
	}
	var made spec.StatsImport
	s.decode(upload(ga4Export(t)), 201, &made)
	if got, want := fmt.Sprint(made.Source, made.From.Format(time.DateOnly), made.To.Format(time.DateOnly),
		made.Views), "ga42024-01-302024-01-31300"; strings.ReplaceAll(got, " ", "") != want {
		t.Errorf("the import is %s, want %s", got, want)
	}
	for by, want := range map[string]string{
		"pages":     "100 40 50 20 pages:/blog=70/45",
		"sources":   "100 40 50 20 sources:google.com=-/30 sources:direct=-/20",
		"campaigns": "100 40 50 20 campaigns:tet=-/30",
		"countries": "100 40 50 20 countries:VN=60/30 countries:DE=30/10",
		"devices":   "100 40 50 20 devices:mobile=100/50",
		"systems":   "100 40 50 20 systems:macOS=-/50",
	} {
		if got := s.report(path, "from=2024-01-30&to=2024-01-30&by="+by); got != want {
			t.Errorf("%s: got %s, want %s", by, got, want)
		}
	}
}

// report returns the totals and rows of a report of a site.
func (s *server) report(path, query string) string {
	s.t.Helper()
	var r spec.SiteReport
	s.decode(s.send("GET", path+"/report?"+query, nil), 200, &r)
	p := r.Period.Totals
	number := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	text := number(p.Views) + " " + number(p.Visitors) + " " + number(p.Visits) + " " + number(p.Bounces)
	for _, table := range r.Tables {
		for _, row := range table.Rows {
			text += fmt.Sprintf(" %s:%s=%s/%s", table.By, row.Value, number(row.Totals.Views),
				number(row.Totals.Visits))
		}
	}
	return text
}
