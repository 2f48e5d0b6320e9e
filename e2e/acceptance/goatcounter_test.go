package acceptance

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/e2e/stack"
	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
)

var goatcounter = flag.String("goatcounter", "", "path of the program goatcounter")

// goat is a GoatCounter with a site.
type goat struct{ at, token string }

// goatHost is the site's address at GoatCounter.
const goatHost = "stats.example"

// The days of the hits. On the first day readers open several pages. On the second one
// each, so that GoatCounter's numbers, which are of readers of pages, are also of visits.
// On the third GoatCounter does not collect sessions.
const (
	manyPages       = "2025-03-01"
	onePage         = "2025-03-02"
	withoutSessions = "2025-03-03"
)

// What a site of GoatCounter collects (its flags CollectReferrer and so on). Single page views,
// which exports consist of, are not stored unless the operator turns it on.
const (
	goatStandard = 2 | 4 | 8 | 16 | 32 | 128
	goatSessions = 128
	goatHits     = 256
)

// goatHit is a page view as GoatCounter's API takes it.
type goatHit struct {
	Path      string    `json:"path"`
	Event     bool      `json:"event"`
	Ref       string    `json:"ref"`
	Query     string    `json:"query"`
	UserAgent string    `json:"user_agent"`
	Session   string    `json:"session"`
	Location  string    `json:"location"`
	CreatedAt time.Time `json:"created_at"`
}

// testGoatCounter imports exports of GoatCounters: the numbers are those that they show.
func testGoatCounter(t *testing.T, program string) {
	s := stack.Open(t, stack.Engines{})
	makeBucket(t, s)
	s.Setup(program)
	api := s.API("api", program)
	var made struct{ Site struct{ ID string } }
	site := map[string]any{"name": "News", "time_zone": "UTC"}
	status, err := s.Call(0, http.MethodPost, "/api/v1/sites", site, &made)
	if err != nil || status != http.StatusCreated {
		t.Fatalf("the site: %d %v", status, err)
	}
	path := "/api/v1/sites/" + made.Site.ID

	standard := startGoatCounter(t, goatStandard)
	standard.count(t, readers(t, manyPages, 20, 1))
	answer := importGoatCounter(t, s, api.At+path, standard.export(t))
	if answer.Status != http.StatusUnprocessableEntity || !strings.Contains(string(answer.Body), "Individual pageviews") {
		t.Errorf("an export of a site that stores no page views: got %d %s, want the setting's name",
			answer.Status, answer.Body)
	}

	g := startGoatCounter(t, goatStandard|goatHits)
	anonymous := startGoatCounter(t, goatStandard&^goatSessions|goatHits)
	hits := append(readers(t, manyPages, 60, 3), readers(t, onePage, 90, 1)...)
	g.count(t, append(notViews(t), hits...))
	unknown := readers(t, withoutSessions, 30, 2)
	anonymous.count(t, unknown)
	for _, g := range []*goat{g, anonymous} {
		if answer := importGoatCounter(t, s, api.At+path, g.export(t)); answer.Status != http.StatusCreated {
			t.Fatalf("the import: %d %s", answer.Status, answer.Body)
		}
	}
	compareDays(t, s, path, append(hits, unknown...))
	for table, name := range map[string]string{
		"sources": "toprefs", "browsers": "browsers", "systems": "systems", "countries": "locations",
	} {
		got := readReport(t, s, path, onePage, table).rows(func(t reportTotals) int { return t.Visits })
		if want := g.stats(t, name); !maps.Equal(got, want) {
			t.Errorf("visits by %s: got %v, want %v", table, got, want)
		}
	}
}

// compareDays compares views, visits and pages of each day with what was counted.
func compareDays(t *testing.T, s *stack.Stack, path string, hits []goatHit) {
	t.Helper()
	visits, views := map[string]map[string]bool{}, map[string]int{}
	pages := map[string]map[string]int{}
	for _, h := range hits {
		day := h.CreatedAt.Format(time.DateOnly)
		if visits[day] == nil {
			visits[day], pages[day] = map[string]bool{}, map[string]int{}
		}
		if day != withoutSessions {
			visits[day][h.Session] = true
		}
		views[day]++
		pages[day][h.Path]++
	}
	for day := range visits {
		report := readReport(t, s, path, day, "pages")
		want := reportTotals{Views: views[day], Visits: len(visits[day])}
		if got := report.Period.Totals; got != want {
			t.Errorf("%s: got %+v, want %+v", day, got, want)
		}
		if got := report.rows(func(t reportTotals) int { return t.Views }); !maps.Equal(got, pages[day]) {
			t.Errorf("%s: got the pages %v, want %v", day, got, pages[day])
		}
	}
}

// goatArrival is how a reader arrives: a referrer or parameters, GoatCounter's name of it,
// and Dateline's.
type goatArrival struct{ ref, query, shown, want string }

func goatArrivals() []goatArrival {
	const discover = "android-app://com.google.android.googlequicksearchbox"
	return []goatArrival{
		{"", "", "", "direct"},
		{"https://www.google.com/", "", "https://www.google.com", "google.com"},
		{"https://news.ycombinator.com/item?id=1", "", "https://news.ycombinator.com/item?id=1", "news.ycombinator.com"},
		{"https://t.me/s/news", "", "https://t.me/s/news", "telegram.org"},
		{"https://example.org/a/b", "", "https://example.org/a/b", "example.org"},
		{discover, "", discover, "discover.google.com"},
		{"https://l.facebook.com/l.php?u=x", "", "https://l.facebook.com/l.php?u=x", "facebook.com"},
		{"https://t.co/c3MITw38Yq", "", "https://t.co/c3MITw38Yq", "x.com"},
		{"", "utm_source=zalo", "zalo", "zalo.me"},
		{"https://old.reddit.com/r/VietNam/new", "", "https://old.reddit.com/r/VietNam/new", "reddit.com"},
		{"android-app://org.telegram.messenger", "", "android-app://org.telegram.messenger", "telegram.org"},
		{"https://www.google.com.vn/", "utm_source=newsletter&utm_campaign=t4", "newsletter", "newsletter"},
		{"https://coccoc.com/search?query=x", "", "https://coccoc.com/search?query=x", "coccoc.com"},
	}
}

// readers returns page views of a day: of each reader one page, or up to a number.
func readers(t *testing.T, day string, count, pages int) (hits []goatHit) {
	t.Helper()
	agents := []string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 " +
			"Safari/605.1.15",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 " +
			"Safari/537.36 Edg/138.0.0.0",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 " +
			"Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (Linux; Android 14; SM-A165F) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 " +
			"Chrome/130.0.0.0 Mobile Safari/537.36",
	}
	paths := []string{"/", "/thời-sự/giá-vàng", "/page/2", "/search?q=gao", "/2025/03/01/a.html"}
	countries := []string{"VN", "US", "DE"}
	start, err := time.Parse(time.DateOnly, day)
	e2etest.Must(t, err)
	for reader := range count {
		for view := range 1 + reader%pages {
			h := goatHit{
				Path: paths[(reader+view)%len(paths)], UserAgent: agents[reader%len(agents)],
				Session: fmt.Sprintf("reader %d of %s", reader, day), Location: countries[reader%len(countries)],
				CreatedAt: start.Add(time.Duration(reader)*15*time.Minute + time.Duration(view)*time.Minute),
			}
			if view == 0 {
				arrival := goatArrivals()[reader%len(goatArrivals())]
				h.Ref, h.Query = arrival.ref, arrival.query
			}
			hits = append(hits, h)
		}
	}
	return hits
}

// notViews returns an event and a bot's visit.
func notViews(t *testing.T) []goatHit {
	t.Helper()
	event, bot := readers(t, manyPages, 1, 1)[0], readers(t, manyPages, 1, 1)[0]
	event.Path, event.Event = "subscribe", true
	bot.UserAgent, bot.Session = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", "bot"
	return []goatHit{event, bot}
}

type reportTotals struct{ Views, Visits int }

// siteReport is a report of a site with one table.
type siteReport struct {
	Period struct{ Totals reportTotals }
	Tables []struct {
		Rows []struct {
			Value  string
			Totals reportTotals
		}
	}
}

func readReport(t *testing.T, s *stack.Stack, path, day, by string) (r siteReport) {
	t.Helper()
	status, err := s.Call(0, http.MethodGet, path+"/report?from="+day+"&to="+day+"&by="+by, nil, &r)
	if err != nil || status != http.StatusOK || len(r.Tables) != 1 {
		t.Fatalf("the report by %s: %d %v %+v", by, status, err, r)
	}
	return r
}

// rows returns a number of each row.
func (r siteReport) rows(number func(reportTotals) int) map[string]int {
	out := map[string]int{}
	for _, row := range r.Tables[0].Rows {
		out[row.Value] = number(row.Totals)
	}
	return out
}

// importGoatCounter imports an export into a site.
func importGoatCounter(t *testing.T, s *stack.Stack, site string, export []byte) e2etest.Answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site+"/imports?source=goatcounter",
		bytes.NewReader(export))
	e2etest.Must(t, err)
	r.Header.Set("Authorization", "Bearer "+s.Token)
	r.Header.Set("Content-Type", "application/octet-stream")
	answer, err := e2etest.Do(r)
	e2etest.Must(t, err)
	return answer
}

// startGoatCounter runs GoatCounter on Postgres with a site that collects something.
func startGoatCounter(t *testing.T, collect int) *goat {
	t.Helper()
	url := enginetest.Postgres(t)
	database := "postgresql+" + url
	run := func(args ...string) {
		t.Helper()
		out, err := exec.Command(*goatcounter, append(args, "-db", database)...).CombinedOutput()
		if err != nil {
			t.Fatalf("goatcounter %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("db", "migrate", "all", "-createdb")
	run("db", "create", "site", "-vhost", goatHost, "-user.email", "editor@news.example", "-user.password",
		"correct horse battery")
	run("db", "create", "apitoken", "-user", "1", "-perm", "count,export,site_read", "-name", "test")
	g := &goat{at: "127.0.0.1:" + e2etest.FreePort(t)}
	db, err := pgx.Connect(t.Context(), url)
	e2etest.Must(t, err)
	// The command cannot give the permission to read statistics.
	e2etest.Must(t, db.QueryRow(t.Context(),
		"update api_tokens set permissions = to_jsonb(permissions::int | 64) returning token").Scan(&g.token))
	// Its API can turn on what a site collects, but not turn it off.
	_, err = db.Exec(t.Context(),
		"update sites set settings = jsonb_set(settings, '{collect}', to_jsonb($1::int))", collect)
	e2etest.Must(t, err)
	e2etest.Must(t, db.Close(t.Context()))
	e2etest.Run(t, t.TempDir(), append(os.Environ(), "TMPDIR="+t.TempDir()), *goatcounter, "serve", "-db", database,
		"-listen", g.at, "-tls", "http", "-store-every", "1", "-ratelimit", "api:1000/1")
	e2etest.Eventually(t, 30*time.Second, "GoatCounter to answer", func() bool {
		answer, err := g.send(t, http.MethodGet, "/me", nil)
		return err == nil && answer.Status == http.StatusOK
	})
	return g
}

func (g *goat) send(t *testing.T, method, path string, body any) (e2etest.Answer, error) {
	t.Helper()
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		e2etest.Must(t, err)
		sent = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+g.at+"/api/v0"+path, sent)
	e2etest.Must(t, err)
	r.Host = goatHost
	r.Header.Set("Authorization", "Bearer "+g.token)
	r.Header.Set("Content-Type", "application/json")
	return e2etest.Do(r)
}

func (g *goat) ask(t *testing.T, method, path string, body, out any) {
	t.Helper()
	answer, err := g.send(t, method, path, body)
	if err != nil || answer.Status >= http.StatusBadRequest {
		t.Fatalf("GoatCounter, %s: %v %d %s", path, err, answer.Status, answer.Body)
	}
	e2etest.Must(t, answer.Into(out))
}

// count sends hits and waits until GoatCounter has stored them, in the order in which
// they came.
func (g *goat) count(t *testing.T, hits []goatHit) {
	t.Helper()
	last := readers(t, "2025-02-01", 1, 1)[0] // a day that nothing compares
	last.Path, last.Event = "last", true
	g.ask(t, http.MethodPost, "/count", map[string]any{"hits": append(slices.Clip(hits), last)}, nil)
	e2etest.Eventually(t, 30*time.Second, "GoatCounter to store the hits", func() bool {
		var stored struct{ Total int }
		g.ask(t, http.MethodGet, "/stats/total?start=2025-02-01&end=2025-02-02", nil, &stored)
		return stored.Total > 0
	})
}

// export returns the export as GoatCounter delivers it.
func (g *goat) export(t *testing.T) []byte {
	t.Helper()
	var made struct {
		ID       int
		Finished *time.Time `json:"finished_at"`
	}
	g.ask(t, http.MethodPost, "/export", map[string]any{}, &made)
	e2etest.Eventually(t, 30*time.Second, "the export", func() bool {
		g.ask(t, http.MethodGet, fmt.Sprintf("/export/%d", made.ID), nil, &made)
		return made.Finished != nil
	})
	answer, err := g.send(t, http.MethodGet, fmt.Sprintf("/export/%d/download", made.ID), nil)
	if err != nil || answer.Status != http.StatusOK {
		t.Fatalf("the export: %v %d", err, answer.Status)
	}
	return answer.Body
}

// stats returns what GoatCounter shows of the second day, by Dateline's names.
func (g *goat) stats(t *testing.T, name string) map[string]int {
	t.Helper()
	names := map[string]string{"Chrome OS": "ChromeOS"}
	for _, a := range goatArrivals() {
		names[a.shown] = a.want
	}
	var got struct {
		Stats []struct {
			ID, Name string
			Count    int
		}
	}
	g.ask(t, http.MethodGet, "/stats/"+name+"?limit=100&start="+onePage+"&end="+onePage+"T23:59:59Z", nil, &got)
	out := map[string]int{}
	for _, one := range got.Stats {
		value := one.Name
		if name == "locations" {
			value = one.ID
		}
		if name, ok := names[value]; ok {
			value = name
		}
		out[value] += one.Count
	}
	return out
}
