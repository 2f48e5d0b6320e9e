package api_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"dateline/api/spec"
	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/site"
	"dateline/internal/infra/timezone"
	"dateline/internal/testing/enginetest"
)

// Every table is a CSV file with a row of names, whose columns have the report's
// numbers.
func TestSiteReport_EveryTableAsCSV(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, _ := s.Site()
	for _, day := range []int{3, 2} {
		s.Exec(
			`insert into site_days (site_id, day, views, clicks, conversions, visits, second_views, engaged_visits, recirculation, visitors, sketch_due, pages_due, articles_due)
			values ($1, current_date - $2::int, 100, 0, 0, 50, 20, 30, 10, 40, false, false, false)`, w.ID, day)
	}
	s.Exec(
		`insert into site_engagement (site_id, day, engaged, scrolled) values ($1, current_date - 2, array_fill(8, array[10]) || array_fill(0, array[14]), '{4,3,2,1}')`, w.ID)
	day := func(ago int) string { return time.Now().UTC().AddDate(0, 0, -ago).Format(time.DateOnly) }
	base := "/api/v1/sites/" + w.ID.String() + "/report?from=" + day(3) + "&to=" + day(2) + "&format=csv"
	for _, table := range []spec.ReportTableName{
		spec.ReportTableNamePages, spec.ReportTableNameEntryPages,
		spec.ReportTableNameSources, spec.ReportTableNameChannels, spec.ReportTableNameCampaigns,
		spec.ReportTableNameCountries, spec.ReportTableNameDevices, spec.ReportTableNameBrowsers,
		spec.ReportTableNameSystems, spec.ReportTableNameReferrers, spec.ReportTableNameAuthors,
		spec.ReportTableNameSections, spec.ReportTableNameTags, spec.ReportTableNameAges, spec.ReportTableNamePublished,
		spec.ReportTableNameEvents, spec.ReportTableNameProperties,
		spec.ReportTableNameGoals, spec.ReportTableNamePosts, spec.ReportTableNamePostAccounts,
		spec.ReportTableNamePostNetworks, spec.ReportTableNameHours, spec.ReportTableNameDays,
		spec.ReportTableNameMonths,
	} {
		filter := map[spec.ReportTableName]string{
			spec.ReportTableNameReferrers:  "&filter=page:/a",
			spec.ReportTableNameProperties: "&filter=event:signup",
		}[table]
		a := s.send("GET", base+"&by="+string(table)+filter, nil)
		head, _, _ := strings.Cut(withoutMark(t, a.body), "\n")
		if name, _, _ := strings.Cut(strings.TrimSpace(head), ","); a.StatusCode != http.StatusOK ||
			name != string(table) {
			t.Errorf("%s: got %s with the columns %q, want the first one to be %s", table, a.Status, head, table)
		}
	}
	days := withoutMark(t, s.send("GET", base+"&by=days", nil).body)
	want :=
		"days,views,visitors,visits,second_views,engaged_visits,recirculation,clicks,conversions,engaged_views,median_seconds,completed_views\n" +
			day(3) + ",100,40,50,20,30,10,0,0,,,\n" + day(2) + ",100,40,50,20,30,10,0,0,8,19,1\n"
	if days != want {
		t.Errorf("days: got %q, want %q", days, want)
	}
}

func TestSiteReport_OverviewTablesAndFilters(t *testing.T) {
	s := start(t)
	w, _ := s.Site(func(w *site.Site) { w.Domains = []string{"news.example"} })
	view := func(reader, page, referrer string) {
		t.Helper()
		a := s.send("POST", "/v1/view", object{"site": w.WriteKey, "url": page, "referrer": referrer, "user": reader},
			"Authorization", "",
			"User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0", "Accept-Language",
			"vi")
		if a.StatusCode != http.StatusAccepted {
			t.Errorf("%s %s", a.Status, a.body)
		}
	}
	host := "https://" + w.Domains[0]
	view("a", host+"/=1", "https://chat.zalo.me/")
	view("a", host+"/two", host+"/=1")
	view("b", host+"/two?utm_source=Weekly&utm_medium=email&utm_campaign=T%E1%BA%BFt", "")
	view("c", host+"/two", "")
	f := flush.Flusher{
		Counter: counter.New(enginetest.RedisClient(t, s.RedisURL), counter.Options{}), Store: s.Store.Audience.Views,
		Log: slog.New(slog.DiscardHandler),
	}
	for range 2 { // the first hit creates a new installation
		_, err := f.Flush(t.Context(), func() {})
		s.Must(err)
	}
	_, err := f.Maintain(t.Context(), func() {})
	s.Must(err)

	zone, err := timezone.Load(w.TimeZone)
	s.Must(err)
	day := func(ago int) string { return time.Now().In(zone).AddDate(0, 0, -ago).Format(time.DateOnly) }
	base := "/api/v1/sites/" + w.ID.String() + "/report?from=" + day(2) + "&to=" + day(-1)
	get := func(query string) (r spec.SiteReport) {
		t.Helper()
		s.decode(s.send("GET", base+query, nil), 200, &r)
		return r
	}
	number := func(n *int64) string {
		if n == nil {
			return "-"
		}
		return fmt.Sprint(*n)
	}
	rows := func(r spec.SiteReport, by spec.ReportTableName) string {
		for _, table := range r.Tables {
			if table.By != by {
				continue
			}
			text := ""
			for _, row := range table.Rows {
				text += row.Value + " " + number(row.Totals.Views) + " " + number(row.Totals.Visits) + ", "
			}
			return text + "rest " + number(table.Rest)
		}
		return "none"
	}
	r := get("&compare=previous")
	total := r.Period.Totals
	if got, want := fmt.Sprint(number(total.Views), number(total.Visitors), number(total.Visits), number(total.Bounces),
		number(total.Recirculation), len(r.Period.Series), r.Grain, number(r.Compared.Totals.Views)),
		fmt.Sprint("4", "3", "3", "2", "1", 4, "days", "0"); got != want {
		t.Errorf("totals: got %s, want %s", got, want)
	}
	for by, want := range map[spec.ReportTableName]string{
		"pages": "/two 3 2, /=1 1 1, rest 0", "entry_pages": "/two 3 2, /=1 1 1, rest 0",
		"channels": "direct - 1, email - 1, social - 1, rest 0",
		"sources":  "direct - 1, weekly - 1, zalo.me - 1, rest 0", "campaigns": "tết - 1, rest -",
		"devices": "desktop 4 3, rest 0", "browsers": "Firefox - 3, rest 0", "systems": "Linux - 3, rest 0",
		"countries": "rest 3",
	} {
		if got := rows(r, by); got != want {
			t.Errorf("%s: got %q, want %q", by, got, want)
		}
	}
	if got, want := rows(get("&by=pages&limit=1"), "pages"), "/two 3 2, rest 1"; got != want {
		t.Errorf("one page: got %q, want %q", got, want)
	}

	r = get("&filter=" + url.QueryEscape("page:"+host+"/two"))
	if got, want := number(r.Period.Totals.Views)+" "+number(r.Period.Totals.Visits)+" "+rows(r, "devices")+" "+
		rows(r, "referrers"), "3 3 desktop 3 -, rest - rest -"; got != want {
		t.Errorf("a page: got %q, want %q", got, want)
	}
	if got := rows(r, "browsers"); got != "none" || len(r.Unavailable) != 6 {
		t.Errorf("a page has browsers %q and lacks %v", got, r.Unavailable)
	}
	r = get("&filter=source:zalo.me")
	if got, want := number(r.Period.Totals.Views)+" "+number(r.Period.Totals.Visits)+" "+
		number(r.Period.Totals.Visitors), "- 1 -"; got != want || len(r.Tables) != 1 || rows(r, "sources") == "none" {
		t.Errorf("a source: got %q and %v, want %q and the table of sources", got, r.Tables, want)
	}

	r = get("&filter=page:/two&filter=page:/%3D1")
	if got, want := number(r.Period.Totals.Views)+" "+number(r.Period.Totals.Visits)+" "+
		number(r.Period.Totals.Visitors), "4 - -"; got != want {
		t.Errorf("two pages: got %q, want %q: a visit or visitor may have both", got, want)
	}
	for _, value := range []string{"VN", "FR"} {
		one := get("&filter=page:/two&filter=country:" + value)
		all := get("&filter=page:/two")
		want := "0"
		for _, table := range all.Tables {
			for _, row := range table.Rows {
				if table.By == "countries" && row.Value == value {
					want = number(row.Totals.Views)
				}
			}
		}
		if got := number(one.Period.Totals.Views); got != want {
			t.Errorf("a page in %s: got %s views, want %s as in the table of countries", value, got, want)
		}
		if len(one.CombinableFilters) != 5 {
			t.Errorf("a page in %s: %v can be added, want five filters", value, one.CombinableFilters)
		}
	}

	for query, field := range map[string]string{
		"&by=browsers&filter=page:/two": "by", "&filter=channel:search&filter=country:VN": "filter",
		"&by=pages&filter=country:VN": "by", "&by=sources&filter=page:/two": "by",
		"&by=referrers": "by", "&filter=country:VN&filter=device:mobile": "filter",
		"&filter=event:signup&filter=page:/two": "filter",
	} {
		s.refused(s.send("GET", base+query, nil), 400, "report_not_computable", field)
	}
	s.refused(s.send("GET", base+"&format=csv", nil), 422, "invalid_request", "by")
	s.refused(s.send("GET", "/api/v1/sites/"+w.ID.String()+"/report?from="+day(0)+"&to="+day(1), nil), 422,
		"invalid_request", "to")

	csv := s.send("GET", base+"&by=pages&format=csv", nil)
	if want := "pages,views,visitors,visits,recirculation\r\n/two,3,3,2,0\r\n/=1,1,1,1,1\r\n"; withoutMark(t,
		csv.body) != strings.ReplaceAll(want, "\r\n", "\n") {
		t.Errorf("CSV: got %q, want %q", csv.body, want)
	}
	if got := csv.Header.Get("Content-Type"); !strings.HasPrefix(got, "text/csv") {
		t.Errorf("content type: got %s, want text/csv", got)
	}
}
