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

func TestASeedIsMadeChangedAndDeleted(t *testing.T) {
	s := start(t)
	a := s.send("POST", seedsPath, object{"url": "HTTPS://WWW.News.example/?utm_source=x#top", "deny": []string{"/video/"}, "daily_budget": 100}, "Idempotency-Key", "k")
	var made spec.Seed
	s.decode(a, 201, &made)
	if made.Url != "https://www.news.example/" || made.Domain != "news.example" || made.Kind != "home" || made.IntervalSeconds != 900 ||
		made.MinIntervalSeconds != 300 || made.MaxIntervalSeconds != 1200 || made.Depth != 1 || made.Status != "active" || a.Header.Get("ETag") != `"1"` {
		t.Errorf("%+v", made)
	}
	if !slices.Contains(s.temporal.crawls, "run_now news.example") {
		t.Errorf("Temporal was told %v", s.temporal.crawls)
	}
	again := s.send("POST", seedsPath, object{"url": "HTTPS://WWW.News.example/?utm_source=x#top", "deny": []string{"/video/"}, "daily_budget": 100}, "Idempotency-Key", "k")
	if again.StatusCode != http.StatusCreated || again.Header.Get("Idempotent-Replayed") != "true" || !strings.Contains(string(again.body), made.Id.String()) {
		t.Errorf("repeated: %s %s", again.Status, again.body)
	}
	s.refused(s.send("POST", seedsPath, object{"url": "https://www.news.example/"}), 409, "seed_exists")
	path := seedsPath + "/" + made.Id.String()
	var changed spec.Seed
	s.decode(s.send("PATCH", path, object{"status": "paused", "max_interval_seconds": 600}, "If-Match", `"1"`), 200, &changed)
	if changed.Status != "paused" || changed.IntervalSeconds != 600 || changed.Deny[0] != "/video/" {
		t.Errorf("%+v", changed)
	}
	s.refused(s.send("PATCH", path, object{"status": "active"}, "If-Match", `"1"`), 412, "version_mismatch")
	s.refused(s.send("PATCH", path, object{"min_interval_seconds": 900}), 422, "invalid_request", "max_interval_seconds")
	var list spec.SeedPage
	s.decode(s.send("GET", seedsPath+"?domain=news.example", nil), 200, &list)
	if len(list.Seeds) != 1 {
		t.Errorf("%d seeds", len(list.Seeds))
	}
	if a := s.send("DELETE", path, nil); a.StatusCode != http.StatusNoContent {
		t.Errorf("%s", a.Status)
	}
	s.refused(s.send("GET", path, nil), 404, "seed_not_found")
}

// Where a name leads is checked when it is dialled; what is plainly private is
// refused here already, with the field that is wrong.
func TestPrivateSeedsAreRefused(t *testing.T) {
	s := start(t)
	for _, address := range []string{"http://127.0.0.1/", "http://localhost/", "http://LOCALHOST./", "http://0x7f.1/", "http://2130706433/", "http://[::1]/", "http://[::ffff:10.0.0.1]/",
		"http://169.254.169.254/latest/meta-data/", "http://10.1.2.3/", "http://192.168.0.1:8080/", "http://intranet/", "http://db.internal/", "http://printer.local/", "http://0/", "http://100.64.0.1/", "http://[fd00::1]/"} {
		s.refused(s.send("POST", seedsPath, object{"url": address}), 422, "invalid_request", "url")
	}
	for _, address := range []string{"ftp://news.example/", "javascript:alert(1)", "https://user:pass@news.example/", "/relative", "https://"} {
		s.refused(s.send("POST", seedsPath, object{"url": address}), 422, "invalid_request", "url")
	}
	s.refused(s.send("POST", seedsPath, object{"url": "https://news.example/", "allow": []string{"*"}}), 422, "invalid_request", "allow[0]")
	if n := s.Count("select count(*) from seeds"); n != 0 {
		t.Errorf("%d seeds were made", n)
	}
}

func TestSeedsAreImported(t *testing.T) {
	s := start(t)
	var r spec.SeedImportResult
	s.decode(s.send("POST", seedsPath+"/import", object{"format": "list", "text": "# our list\nhttps://a.example/\r\n\nhttps://b.example/the-thao\nhttp://10.0.0.1/\nhttps://a.example/#top\nno address\n"}), 200, &r)
	if r.Created != 2 || r.Known != 1 || r.Refused != 2 || r.Lines[0].Line != 2 || r.Lines[2].Outcome != "refused" || *r.Lines[2].Reason == "" {
		t.Errorf("%+v", r)
	}
	s.decode(s.send("POST", seedsPath+"/import", object{"format": "opml", "text": `<opml version="2.0"><body><outline text="News"><outline type="rss" text="A" xmlUrl="https://a.example/rss"/><outline text="B" type="rss" xmlUrl="https://b.example/feed.xml"/></outline></body></opml>`}), 200, &r)
	if r.Created != 2 || s.Count("select count(*) from seeds where kind = 'feed' and title in ('A', 'B')") != 2 {
		t.Errorf("%+v", r)
	}
	s.refused(s.send("POST", seedsPath+"/import", object{"format": "opml", "text": "<html></html>"}), 422, "invalid_request", "text")
}

func TestADomainIsSteered(t *testing.T) {
	s := start(t)
	var made spec.Seed
	s.decode(s.send("POST", seedsPath, object{"url": "https://news.example/"}), 201, &made)
	path := domainsPath + "/news.example"
	var d spec.Domain
	s.decode(s.send("POST", path+"/pause", nil), 200, &d)
	if d.Status != "paused" || d.PausedAt == nil {
		t.Errorf("%+v", d)
	}
	d = spec.Domain{}
	s.decode(s.send("POST", path+"/resume", nil), 200, &d)
	if d.Status != "idle" || d.PausedAt != nil {
		t.Errorf("%+v", d)
	}
	s.Exec("update seeds set next_crawl = now() + interval '1 hour'")
	s.decode(s.send("POST", path+"/run", nil), 200, &d)
	if s.Count("select count(*) from seeds where next_crawl <= now()") != 1 {
		t.Error("the seed is not due")
	}
	var gone struct{ Forgotten int64 }
	s.decode(s.send("DELETE", path+"/frontier", nil), 200, &gone)
	for _, want := range []string{"pause news.example", "resume news.example", "run_now news.example", "empty news.example"} {
		if !slices.Contains(s.temporal.crawls, want) {
			t.Errorf("Temporal was not told to %s: %v", want, s.temporal.crawls)
		}
	}
	var list spec.DomainPage
	s.decode(s.send("GET", domainsPath, nil), 200, &list)
	if len(list.Domains) != 1 || list.Domains[0].Domain != "news.example" {
		t.Errorf("%+v", list)
	}
	s.refused(s.send("POST", domainsPath+"/nobody.example/pause", nil), 404, "domain_not_found")
	// What others crawl too is not one workspace's to stop.
	other, _, _ := s.Found("Other desk")
	seed := crawl.Seed{ID: someID(), WorkspaceID: other.ID, Kind: crawl.Home, Status: crawl.Active, MinInterval: time.Minute, MaxInterval: time.Hour, Interval: time.Minute}
	s.Must(seed.URL.UnmarshalText([]byte("https://news.example/")))
	_, _, err := s.Store.CreateSeeds(t.Context(), []crawl.Seed{seed}, idempotency.Key{})
	s.Must(err)
	s.refused(s.send("POST", path+"/pause", nil), 409, "shared_domain")
	s.refused(s.send("DELETE", path+"/frontier", nil), 409, "shared_domain")
	// Temporal being away changes nothing about what was decided.
	s.temporal.down = fmt.Errorf("away")
	s.decode(s.send("POST", path+"/resume", nil), 200, &d)
}

func TestADomainSaysHowItIsCrawledAndWhatWentWrong(t *testing.T) {
	s := start(t)
	var made spec.Seed
	s.decode(s.send("POST", seedsPath, object{"url": "https://news.example/"}), 201, &made)
	path := domainsPath + "/news.example"
	var d spec.Domain
	s.decode(s.send("GET", path, nil), 200, &d)
	if d.Render || len(d.IgnoredParameters) != 0 || d.Problems == nil || len(*d.Problems) != 0 {
		t.Errorf("%+v", d)
	}
	s.decode(s.send("PATCH", path, object{"render": true}), 200, &d)
	if !d.Render || s.Count("select count(*) from audit_log where action = 'domain.edited'") != 1 {
		t.Errorf("%+v", d)
	}
	s.refused(s.send("PATCH", path, object{}), 400, "invalid_request", "render")
	s.refused(s.send("PATCH", domainsPath+"/nobody.example", object{"render": true}), 404, "domain_not_found")
	s.Exec("update crawl_domains set rules = '{\"drop\": [\"nguon\"]}'")
	_, err := s.Store.EnqueueDueSeeds(t.Context(), 10)
	s.Must(err)
	s.Exec("update urls set last_error = 'trap: it redirects in a circle', state = 'excluded', last_status = 302, last_crawl = now()")
	d = spec.Domain{}
	s.decode(s.send("GET", path, nil), 200, &d)
	if !slices.Equal(d.IgnoredParameters, []string{"nguon"}) || len(*d.Problems) != 1 || (*d.Problems)[0].Why != "trap: it redirects in a circle" || *(*d.Problems)[0].Status != 302 {
		t.Errorf("%+v", d)
	}
	other, _, _ := s.Found("Other desk")
	seed := crawl.Seed{ID: someID(), WorkspaceID: other.ID, Kind: crawl.Home, Status: crawl.Active, MinInterval: time.Minute, MaxInterval: time.Hour, Interval: time.Minute}
	s.Must(seed.URL.UnmarshalText([]byte("https://news.example/")))
	_, _, err = s.Store.CreateSeeds(t.Context(), []crawl.Seed{seed}, idempotency.Key{})
	s.Must(err)
	s.refused(s.send("PATCH", path, object{"render": false}), 409, "shared_domain")
}

// A domain tells how it is answered, how soon its news are found, and how much of
// it is news.
func TestADomainTellsItsFigures(t *testing.T) {
	s := start(t)
	var made spec.Seed
	s.decode(s.send("POST", seedsPath, object{"url": "https://news.example/"}), 201, &made)
	read := func() (d spec.Domain) {
		t.Helper()
		s.decode(s.send("GET", domainsPath+"/news.example", nil), 200, &d)
		if d.Answers == nil || d.News == nil {
			t.Fatalf("%+v", d)
		}
		return d
	}
	if d := read(); len(*d.Answers) != 0 || d.News.Articles != 0 || d.News.FoundP95Seconds != 0 {
		t.Errorf("before anything is crawled: %+v", d)
	}
	s.article("news.example", "/the-river-rises-4800001.html", paragraphs("river", 12))
	s.article("news.example", "/the-river-rises-again-4800002.html", paragraphs("river", 12))
	s.article("news.example", "/the-bridge-is-closed-4800003.html", paragraphs("bridge", 12))
	s.article("news.example", "/the-mayor-resigns-4800004.html", paragraphs("mayor", 12))
	s.Exec("update crawl_domains set created_at = now() - interval '2 days'")
	s.Exec("update articles set date_only = false, published_at = now() - interval '3 hours', first_seen_at = now() - interval '175 minutes'")
	s.Exec("update articles set first_seen_at = now() - interval '2 hours' where url like '%bridge%'")
	s.Exec("update articles set published_at = now() - interval '3 days' where url like '%mayor%'") // before the site was watched
	s.Exec(`insert into urls (domain_id, id, url, kind, rank, last_status) select d.id, gen_random_uuid(), 'https://news.example/' || i, 'article', 8, case when i < 4 then 200 else 404 end
		from crawl_domains d, generate_series(1, 5) i`)
	d := read()
	if got := *d.Answers; len(got) != 2 || got[0].Status != 200 || got[0].Urls != 3 || got[1].Status != 404 || got[1].Urls != 2 {
		t.Errorf("answers: %+v", got)
	}
	if got := *d.News; got.Articles != 4 || got.Duplicates != 1 || got.Timed != 3 || got.Late != 1 || got.FoundP50Seconds != 300 || got.FoundP95Seconds < 1800 {
		t.Errorf("news: %+v", got)
	}
}

// Where no browser is named, nobody can ask for one; what was asked for may still
// be taken back.
func TestRenderingNeedsABrowser(t *testing.T) {
	s := start(t, func(s *api.Server) { s.Crawl.HasBrowser = false })
	var made spec.Seed
	s.decode(s.send("POST", seedsPath, object{"url": "https://news.example/"}), 201, &made)
	path := domainsPath + "/news.example"
	s.refused(s.send("PATCH", path, object{"render": true}), 409, "no_browser")
	s.Exec("update crawl_domains set render = true")
	var d spec.Domain
	s.decode(s.send("PATCH", path, object{"render": false}), 200, &d)
	if d.Render {
		t.Errorf("%+v", d)
	}
}

func TestStoredPagesAreDownloadedAsWARC(t *testing.T) {
	s := start(t)
	var made spec.Seed
	s.decode(s.send("POST", seedsPath, object{"url": "https://news.example/"}), 201, &made)
	ctx := context.Background()
	d, err := s.Store.GetCrawlDomain(ctx, "news.example")
	s.Must(err)
	raw, err := pagestore.New(s.Objects)
	s.Must(err)
	_, err = s.Store.EnqueueDueSeeds(ctx, 10)
	s.Must(err)
	urls, err := s.Store.LeaseURLs(ctx, crawl.LeaseRequest{Domain: d, LeaseID: someID(), Limit: 10, TTL: time.Minute})
	s.Must(err)
	body := []byte("<html><body>Xin chào</body></html>")
	hash := pagestore.Hash(body)
	key := crawl.ObjectKey(d.Name, urls[0].ID, hash)
	_, err = raw.Put(ctx, key, body)
	s.Must(err)
	u := urls[0]
	u.State, u.RawHash = crawl.Stored, hash
	at := time.Now().UTC().Truncate(time.Microsecond)
	_, err = s.Store.RecordFetches(ctx, []crawl.FetchRecord{{URL: u, Unscheduled: true, ObjectKey: key, Version: &crawl.PageVersion{DomainID: d.ID, URLID: u.ID, URL: u.URL, FetchedAt: at, Status: 200,
		Bytes: len(body), Kind: crawl.Home, RawHash: hash, FinalURL: u.URL, Header: map[string][]string{"Content-Type": {"text/html; charset=utf-8"}}}}})
	s.Must(err)
	span := fmt.Sprintf("?from=%s&to=%s", at.Add(-time.Minute).Format(time.RFC3339), at.Add(time.Minute).Format(time.RFC3339))
	a := s.send("GET", domainsPath+"/news.example/warc"+span, nil)
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "application/warc" {
		t.Fatalf("%s %s", a.Status, a.body)
	}
	z, err := gzip.NewReader(bytes.NewReader(a.body))
	s.Must(err)
	text, err := io.ReadAll(z)
	s.Must(err)
	for _, want := range []string{"WARC/1.1\r\n", "WARC-Type: warcinfo", "WARC-Type: resource", "WARC-Target-URI: https://news.example/\r\n", string(body), "http-status: 200", "Content-Type: text/html; charset=utf-8"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	s.refused(s.send("GET", domainsPath+"/news.example/warc?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", nil), 422, "invalid_request", "to")
	var e spec.Export
	s.decode(s.send("POST", domainsPath+"/news.example/warc", object{"from": "2025-01-01T00:00:00Z", "to": "2026-01-01T00:00:00Z"}), 202, &e)
	s.decode(s.send("GET", domainsPath+"/news.example/exports/"+e.Id.String(), nil), 200, &e)
	if e.Status != "waiting" {
		t.Errorf("%+v", e)
	}
	s.seeded("other.example")
	for _, path := range []string{domainsPath + "/news.example/exports/" + uuid.NewString(), domainsPath + "/other.example/exports/" + e.Id.String()} {
		s.refused(s.send("GET", path, nil), 404, "export_not_found")
	}
}
