package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dateline/api"

	"github.com/google/uuid"

	"dateline/api/spec"
	"dateline/internal/infra/idempotency"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/pagestore"
)

const seedsPath, domainsPath = "/api/v1/seeds", "/api/v1/domains"

func TestSeeds_CreateUpdateDelete(t *testing.T) {
	t.Parallel()
	s := start(t)
	a := s.send("POST", seedsPath, object{
		"url":  "HTTPS://WWW.News.example/?utm_source=x#top",
		"deny": []string{"/video/"}, "daily_budget": 100,
	}, "Idempotency-Key", "k")
	var made spec.Seed
	s.decode(a, 201, &made)
	if made.Url != "https://www.news.example/" || made.Domain != "news.example" {
		t.Errorf("got URL %s on domain %s, want https://www.news.example/ on news.example", made.Url, made.Domain)
	}
	if made.Kind != "home" || made.Status != "active" || made.MaxDepth != 1 {
		t.Errorf("got kind %s, status %s, max_depth %d, want home, active, 1", made.Kind, made.Status, made.MaxDepth)
	}
	if got, want := [3]int{made.MinIntervalSeconds, made.IntervalSeconds, made.MaxIntervalSeconds}, [3]int{
		300, 900,
		1200,
	}; got != want {
		t.Errorf("got min, current and max interval %v, want %v", got, want)
	}
	if got := a.Header.Get("ETag"); got != `"1"` {
		t.Errorf("got ETag %s, want \"1\"", got)
	}
	if !slices.Contains(s.temporal.crawls, "run_now news.example") {
		t.Errorf("got signals %v, want run_now news.example", s.temporal.crawls)
	}
	again := s.send("POST", seedsPath, object{
		"url":  "HTTPS://WWW.News.example/?utm_source=x#top",
		"deny": []string{"/video/"}, "daily_budget": 100,
	}, "Idempotency-Key", "k")
	if again.StatusCode != http.StatusCreated || again.Header.Get("Idempotent-Replayed") != "true" ||
		!strings.Contains(string(again.body), made.Id.String()) {
		t.Errorf("repeated request: got %s %s, want the same seed, replayed", again.Status, again.body)
	}
	s.refused(s.send("POST", seedsPath, object{"url": "https://www.news.example/"}), 409, "seed_exists")
	path := seedsPath + "/" + made.Id.String()
	var changed spec.Seed
	s.decode(s.send("PATCH", path, object{"status": "paused", "max_interval_seconds": 600}, "If-Match", `"1"`), 200,
		&changed)
	if changed.Status != "paused" || changed.IntervalSeconds != 600 || changed.Deny[0] != "/video/" {
		t.Errorf("got %+v, want it paused, with an interval of 600 s and the same deny patterns", changed)
	}
	s.refused(s.send("PATCH", path, object{"status": "active"}, "If-Match", `"1"`), 412, "version_mismatch")
	s.refused(s.send("PATCH", path, object{"min_interval_seconds": 900}), 422, "invalid_request",
		"max_interval_seconds")
	var list spec.SeedPage
	s.decode(s.send("GET", seedsPath+"?domain=news.example", nil), 200, &list)
	if len(list.Seeds) != 1 {
		t.Errorf("got %d seeds, want 1", len(list.Seeds))
	}
	if a := s.send("DELETE", path, nil); a.StatusCode != http.StatusNoContent {
		t.Errorf("delete: got %s, want 204", a.Status)
	}
	s.refused(s.send("GET", path, nil), 404, "seed_not_found")
}

// Addresses of host names are checked at connection time. Literal private addresses are
// rejected when the seed is created.
func TestCreateSeed_RejectsPrivateAddresses(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, address := range []string{
		"http://127.0.0.1/", "http://localhost/", "http://LOCALHOST./", "http://0x7f.1/",
		"http://2130706433/", "http://[::1]/", "http://[::ffff:10.0.0.1]/",
		"http://169.254.169.254/latest/meta-data/", "http://10.1.2.3/", "http://192.168.0.1:8080/", "http://intranet/",
		"http://db.internal/", "http://printer.local/", "http://0/", "http://100.64.0.1/", "http://[fd00::1]/",
	} {
		s.refused(s.send("POST", seedsPath, object{"url": address}), 422, "invalid_request", "url")
	}
	for _, address := range []string{
		"ftp://news.example/", "javascript:alert(1)", "https://user:pass@news.example/",
		"/relative", "https://",
	} {
		s.refused(s.send("POST", seedsPath, object{"url": address}), 422, "invalid_request", "url")
	}
	s.refused(s.send("POST", seedsPath, object{"url": "https://news.example/", "allow": []string{"*"}}), 422,
		"invalid_request", "allow[0]")
	if n := s.Count("select count(*) from seeds"); n != 0 {
		t.Errorf("got %d seeds, want 0", n)
	}
}

func TestImportSeeds_ListAndOPML(t *testing.T) {
	t.Parallel()
	s := start(t)
	var r spec.SeedImportResult
	s.decode(s.send("POST", seedsPath+"/import",
		object{
			"format": "list",
			"text": "# our list\nhttps://a.example/\r\n\nhttps://b.example/the-thao\nhttp://10.0.0.1/\n" +
				"https://a.example/#top\nno address\n",
		}), 200, &r)
	if got, want := [3]int{r.Created, r.Existing, r.Invalid}, [3]int{2, 1, 2}; got != want {
		t.Errorf("got %v created, existing and invalid lines, want %v", got, want)
	}
	if r.Lines[0].Line != 2 {
		t.Errorf("first seed: got line %d, want 2", r.Lines[0].Line)
	}
	if got := r.Lines[2]; got.Outcome != "invalid" || got.Problem == nil || got.Problem.Code != "scheme" &&
		got.Problem.Message == "" {
		t.Errorf("private address: got %+v, want it invalid with a reason", got)
	}
	s.decode(s.send("POST", seedsPath+"/import",
		object{
			"format": "opml",
			"text":   `<opml version="2.0"><body><outline text="News"><outline type="rss" text="A" xmlUrl="https://a.example/rss"/><outline text="B" type="rss" xmlUrl="https://b.example/feed.xml"/></outline></body></opml>`,
		}), 200, &r)
	if r.Created != 2 || s.Count("select count(*) from seeds where kind = 'feed' and title in ('A', 'B')") != 2 {
		t.Errorf("OPML: got %+v, want 2 feeds created", r)
	}
	s.refused(s.send("POST", seedsPath+"/import", object{"format": "opml", "text": "<html></html>"}), 422,
		"invalid_request", "text")
}

func TestDomain_Commands(t *testing.T) {
	t.Parallel()
	s := start(t)
	var made spec.Seed
	s.decode(s.send("POST", seedsPath, object{"url": "https://news.example/"}), 201, &made)
	path := domainsPath + "/news.example"
	var d spec.Domain
	s.decode(s.send("POST", path+"/pause", nil), 200, &d)
	if d.Status != "paused" || d.PausedAt == nil {
		t.Errorf("after pause: got status %s, paused_at %v", d.Status, d.PausedAt)
	}
	d = spec.Domain{}
	s.decode(s.send("POST", path+"/resume", nil), 200, &d)
	if d.Status != "idle" || d.PausedAt != nil {
		t.Errorf("after resume: got status %s, paused_at %v", d.Status, d.PausedAt)
	}
	s.Exec("update seeds set next_crawl = now() + interval '1 hour'")
	s.decode(s.send("POST", path+"/run", nil), 200, &d)
	if s.Count("select count(*) from seeds where next_crawl <= now()") != 1 {
		t.Error("after run: the seed is not due")
	}
	var emptied struct{ Deleted int64 }
	s.decode(s.send("DELETE", path+"/frontier", nil), 200, &emptied)
	for _, want := range []string{
		"pause news.example", "resume news.example", "run_now news.example",
		"empty news.example",
	} {
		if !slices.Contains(s.temporal.crawls, want) {
			t.Errorf("got signals %v, want %s", s.temporal.crawls, want)
		}
	}
	var list spec.DomainPage
	s.decode(s.send("GET", domainsPath, nil), 200, &list)
	if len(list.Domains) != 1 || list.Domains[0].Domain != "news.example" {
		t.Errorf("got %+v, want news.example only", list)
	}
	s.refused(s.send("POST", domainsPath+"/nobody.example/pause", nil), 404, "domain_not_found")
	// One workspace cannot pause a domain that another one crawls, too.
	other, _, _ := s.Found("Other desk")
	seed := crawl.Seed{
		ID: someID(), WorkspaceID: other.ID, Kind: crawl.Home, Status: crawl.Active,
		MinInterval: time.Minute, MaxInterval: time.Hour, Interval: time.Minute,
	}
	s.Must(seed.URL.UnmarshalText([]byte("https://news.example/")))
	_, _, err := s.Store.News.Domains.CreateSeeds(t.Context(), []crawl.Seed{seed}, idempotency.Key{})
	s.Must(err)
	s.refused(s.send("POST", path+"/pause", nil), 409, "shared_domain")
	s.refused(s.send("DELETE", path+"/frontier", nil), 409, "shared_domain")
	// Commands are stored in the database, so they succeed while Temporal is down.
	s.temporal.down = fmt.Errorf("away")
	s.decode(s.send("POST", path+"/resume", nil), 200, &d)
}

func TestDomain_RenderingAndRecentErrors(t *testing.T) {
	t.Parallel()
	s := start(t)
	var made spec.Seed
	s.decode(s.send("POST", seedsPath, object{"url": "https://news.example/"}), 201, &made)
	path := domainsPath + "/news.example"
	var d spec.Domain
	s.decode(s.send("GET", path, nil), 200, &d)
	if d.Render || len(d.IgnoredParameters) != 0 {
		t.Errorf("new domain: got render %v, ignored parameters %v", d.Render, d.IgnoredParameters)
	}
	if d.RecentErrors == nil || len(*d.RecentErrors) != 0 {
		t.Errorf("new domain: got errors %v, want an empty list", d.RecentErrors)
	}
	s.decode(s.send("PATCH", path, object{"render": true}), 200, &d)
	if !d.Render || s.Count("select count(*) from audit_log where action = 'domain.changed'") != 1 {
		t.Errorf("got render %v, want true and an entry in the audit log", d.Render)
	}
	s.refused(s.send("PATCH", path, object{}), 400, "invalid_request", "render")
	s.refused(s.send("PATCH", domainsPath+"/nobody.example", object{"render": true}), 404, "domain_not_found")
	s.Exec("update crawl_domains set rules = '{\"drop\": [\"nguon\"]}'")
	_, err := s.Store.News.Domains.EnqueueDueSeeds(t.Context(), 10)
	s.Must(err)
	s.Exec("update urls set last_error = 'trap: it redirects in a circle', state = 'excluded', last_status = 302, " +
		"last_crawl = now()")
	d = spec.Domain{}
	s.decode(s.send("GET", path, nil), 200, &d)
	if want := []string{"nguon"}; !slices.Equal(d.IgnoredParameters, want) {
		t.Errorf("got ignored parameters %v, want %v", d.IgnoredParameters, want)
	}
	if got := *d.RecentErrors; len(got) != 1 || got[0].Reason.Code != "fetch_trap" ||
		got[0].Reason.Message != "It redirects in a circle." || *got[0].Status != 302 {
		t.Errorf("got errors %+v, want the trap with status 302", got)
	}
	other, _, _ := s.Found("Other desk")
	seed := crawl.Seed{
		ID: someID(), WorkspaceID: other.ID, Kind: crawl.Home, Status: crawl.Active,
		MinInterval: time.Minute, MaxInterval: time.Hour, Interval: time.Minute,
	}
	s.Must(seed.URL.UnmarshalText([]byte("https://news.example/")))
	_, _, err = s.Store.News.Domains.CreateSeeds(t.Context(), []crawl.Seed{seed}, idempotency.Key{})
	s.Must(err)
	s.refused(s.send("PATCH", path, object{"render": false}), 409, "shared_domain")
}

func TestDomain_Statistics(t *testing.T) {
	t.Parallel()
	s := start(t)
	var made spec.Seed
	s.decode(s.send("POST", seedsPath, object{"url": "https://news.example/"}), 201, &made)
	read := func() (d spec.Domain) {
		t.Helper()
		s.decode(s.send("GET", domainsPath+"/news.example", nil), 200, &d)
		if d.Responses == nil || d.Weekly == nil {
			t.Fatalf("got %+v, want statistics", d)
		}
		return d
	}
	if d := read(); len(*d.Responses) != 0 || d.Weekly.Articles != 0 || d.Weekly.DiscoveryP95Seconds != 0 {
		t.Errorf("new domain: got %+v, want no figures", d)
	}
	s.article("news.example", "/the-river-rises-4800001.html", paragraphs("river", 12))
	s.article("news.example", "/the-river-rises-again-4800002.html", paragraphs("river", 12))
	s.article("news.example", "/the-bridge-is-closed-4800003.html", paragraphs("bridge", 12))
	s.article("news.example", "/the-mayor-resigns-4800004.html", paragraphs("mayor", 12))
	s.Exec("update crawl_domains set created_at = now() - interval '2 days'")
	s.Exec("update articles set date_only = false, published_at = now() - interval '3 hours', first_seen_at = now() " +
		"- interval '175 minutes'")
	s.Exec("update articles set first_seen_at = now() - interval '2 hours' where url like '%bridge%'")
	// Before the domain was added
	s.Exec("update articles set published_at = now() - interval '3 days' where url like '%mayor%'")
	s.Exec(
		`insert into urls (domain_id, id, url, kind, rank, last_status) select d.id, gen_random_uuid(), 'https://news.example/' || i, 'article', 8, case when i < 4 then 200 else 404 end
		from crawl_domains d, generate_series(1, 5) i`)
	d := read()
	if got, want := fmt.Sprint(*d.Responses), "[{200 3} {404 2}]"; got != want {
		t.Errorf("got responses %s, want %s", got, want)
	}
	weekly := *d.Weekly
	if got, want := [4]int64{weekly.Articles, weekly.Duplicates, weekly.Measured, weekly.Late}, [4]int64{
		4, 1, 3,
		1,
	}; got != want {
		t.Errorf("got %v articles, duplicates, measured and late ones, want %v", got, want)
	}
	if weekly.DiscoveryP50Seconds != 300 || weekly.DiscoveryP95Seconds < 1800 {
		t.Errorf("got discovery after %v s (P50), %v s (P95), want 300 s and at least 1800 s",
			weekly.DiscoveryP50Seconds, weekly.DiscoveryP95Seconds)
	}
}

// Without a browser, rendering can be turned off but not on.
func TestUpdateDomain_RenderingNeedsBrowser(t *testing.T) {
	t.Parallel()
	s := start(t, func(s *api.Server) { s.Crawl.HasBrowser = false })
	var made spec.Seed
	s.decode(s.send("POST", seedsPath, object{"url": "https://news.example/"}), 201, &made)
	path := domainsPath + "/news.example"
	s.refused(s.send("PATCH", path, object{"render": true}), 409, "no_browser")
	s.Exec("update crawl_domains set render = true")
	var d spec.Domain
	s.decode(s.send("PATCH", path, object{"render": false}), 200, &d)
	if d.Render {
		t.Error("got render true, want false")
	}
}

func TestDomain_WARCDownloadAndExport(t *testing.T) {
	t.Parallel()
	s := start(t)
	var made spec.Seed
	s.decode(s.send("POST", seedsPath, object{"url": "https://news.example/"}), 201, &made)
	ctx := context.Background()
	d, err := s.Store.News.Domains.GetCrawlDomain(ctx, "news.example")
	s.Must(err)
	raw, err := pagestore.New(s.Objects)
	s.Must(err)
	_, err = s.Store.News.Domains.EnqueueDueSeeds(ctx, 10)
	s.Must(err)
	urls, err := s.Store.News.Frontier.LeaseURLs(ctx, crawl.LeaseRequest{Domain: d, LeaseID: someID(), Limit: 10, TTL: time.Minute})
	s.Must(err)
	body := []byte("<html><body>Xin chào</body></html>")
	hash := pagestore.Hash(body)
	key := crawl.ObjectKey(d.Name, urls[0].ID, hash)
	_, err = raw.Put(ctx, key, body)
	s.Must(err)
	u := urls[0]
	u.State, u.RawHash = crawl.Stored, hash
	at := time.Now().UTC().Truncate(time.Microsecond)
	_, err = s.Store.News.Frontier.RecordFetches(ctx,
		[]crawl.FetchRecord{{
			URL: u, Unscheduled: true, ObjectKey: key,
			Version: &crawl.PageVersion{
				DomainID: d.ID, URLID: u.ID, URL: u.URL, FetchedAt: at, Status: 200,
				Bytes: len(body), Kind: crawl.Home, RawHash: hash, FinalURL: u.URL, Header: map[string][]string{
					"Content-Type": {"text/html; charset=utf-8"},
				},
			},
		}})
	s.Must(err)
	span := fmt.Sprintf("?from=%s&to=%s", at.Add(-time.Minute).Format(time.RFC3339),
		at.Add(time.Minute).Format(time.RFC3339))
	a := s.send("GET", domainsPath+"/news.example/warc"+span, nil)
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "application/warc" {
		t.Fatalf("got %s, content type %s: %s", a.Status, a.Header.Get("Content-Type"), a.body)
	}
	z, err := gzip.NewReader(bytes.NewReader(a.body))
	s.Must(err)
	text, err := io.ReadAll(z)
	s.Must(err)
	for _, want := range []string{
		"WARC/1.1\r\n", "WARC-Type: warcinfo", "WARC-Type: resource",
		"WARC-Target-URI: https://news.example/\r\n", string(body), "http-status: 200",
		"Content-Type: text/html; charset=utf-8",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("got\n%s\nwant it to contain %q", text, want)
		}
	}
	s.refused(s.send("GET", domainsPath+"/news.example/warc?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", nil),
		422, "invalid_request", "to")
	var e spec.Export
	s.decode(s.send("POST", domainsPath+"/news.example/warc",
		object{"from": "2025-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}), 202, &e)
	s.decode(s.send("GET", domainsPath+"/news.example/exports/"+e.Id.String(), nil), 200, &e)
	if e.Status != "pending" {
		t.Errorf("got export status %s, want pending", e.Status)
	}
	s.seeded("other.example")
	for _, path := range []string{
		domainsPath + "/news.example/exports/" + uuid.NewString(),
		domainsPath + "/other.example/exports/" + e.Id.String(),
	} {
		s.refused(s.send("GET", path, nil), 404, "export_not_found")
	}
}
