package sites

import (
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/score"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
	"dateline/internal/testing/crawlrig"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/s3test"
	"dateline/internal/testing/storetest"
)

var ( //nolint:gochecknoglobals // flags
	chosen = flag.String("systems", "", "publishing systems, separated by commas, or all; empty: none")
	cache  = flag.String("systems-cache", "", "folder in which systems stay installed; empty: a temporary one")
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// fields are what is counted, in the order of the report.
func fields() []string {
	return []string{
		"found", "title", "authors", "published", "updated", "section", "tags", "table", "recall",
		"precision",
	}
}

func TestPublishingSystems(t *testing.T) {
	if *chosen == "" {
		t.Skip("builds sites with publishing systems from package registries: make bench/publishing-systems")
	}
	installed := *cache
	if installed == "" {
		installed = t.TempDir()
	}
	report := fmt.Sprintf("%-20s %8s", "", "others")
	for _, name := range fields() {
		report += fmt.Sprintf(" %9s", name)
	}
	for i, y := range systems() {
		if *chosen != "all" && !slices.Contains(strings.Split(*chosen, ","), y.name) {
			continue
		}
		t.Run(y.name, func(t *testing.T) {
			report += "\n" + measure(t, y, installed, fmt.Sprintf("127.0.0.%d", 10+i))
		})
	}
	fmt.Println(report)
}

// measure builds, crawls and reads a site, and returns its line of the report. Each field is the
// number of right articles; "others" are pages stored as articles that are none.
func measure(t *testing.T, y system, installed, address string) string {
	if missing := missingPrograms(y.needs); len(missing) > 0 {
		t.Logf("install %s to measure it", strings.Join(missing, " "))
		return fmt.Sprintf("%-20s is not measured: install %s", y.name, strings.Join(missing, " "))
	}
	listener, err := net.Listen("tcp", address+":0")
	if err != nil {
		t.Fatal(err)
	}
	bin, err := y.install(installed)
	if err != nil {
		t.Fatal(err)
	}
	s := &site{
		dir: filepath.Join(t.TempDir(), "site"), bin: bin, url: "http://" + listener.Addr().String(),
		articles: samples(),
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	root := ""
	if y.serve != nil {
		handler, stop, err := y.serve(s)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		server.Config.Handler = handler
	} else {
		if root, err = y.build(s); err != nil {
			t.Fatal(err)
		}
		server.Config.Handler = http.FileServer(http.Dir(root))
	}
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	counts, others := map[string]float64{}, 0
	for _, page := range crawlSite(t, s, address, root) {
		a, err := extract.Extract(t.Context(), page)
		if err != nil || a.IsListing {
			continue
		}
		n := slices.IndexFunc(s.articles, func(one sample) bool {
			return strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(page.URL, "/"), ".html"), "/"+one.slug)
		})
		if n < 0 {
			others++
			t.Logf("not an article: %s %q", page.URL, a.Title)
			continue
		}
		compare(t, s.articles[n], a, y.omits, counts)
	}
	line := fmt.Sprintf("%-20s %8d", y.name, others)
	for _, name := range fields() {
		switch {
		case slices.Contains(y.omits, name):
			line += fmt.Sprintf(" %9s", "-")
		case name == "recall" || name == "precision":
			line += fmt.Sprintf(" %9.3f", counts[name]/max(counts["found"], 1))
		default:
			line += fmt.Sprintf(" %7.0f/%d", counts[name], len(s.articles))
		}
	}
	return line
}

// crawlSite crawls a site from its front page and, if it has one, its sitemap.
func crawlSite(t *testing.T, s *site, domain, root string) (pages []extract.Page) {
	store, url := storetest.OpenWithURL(t)
	limits := crawler.DefaultLimits()
	limits.RequestDelay, limits.IPDelay, limits.MaxIdleWait = 0, 0, 0
	rig, err := crawlrig.New(t.Context(),
		crawlrig.Options{
			Store: store, Redis: enginetest.RedisClient(t, enginetest.Redis(t)), Objects: s3test.Bucket(t),
			Limits: limits,
			Policy: crawl.DefaultRevisitPolicy(), Log: slog.New(slog.DiscardHandler), AllowPrivate: []string{
				strings.TrimPrefix(s.url, "http://"),
			},
		})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rig.Fetcher.Close)
	seeds := []string{s.url + "/"}
	if _, err := os.Stat(filepath.Join(root, "sitemap.xml")); err == nil {
		seeds = append(seeds, s.url+"/sitemap.xml")
	}
	w, err := crawlrig.CreateWorkspaceWithSeeds(t.Context(), store, rig.Policy, crawl.Home, seeds[0])
	if err == nil && len(seeds) > 1 {
		err = crawlrig.CreateSeeds(t.Context(), store, w, rig.Policy, crawl.Sitemap, seeds[1])
	}
	if err == nil {
		_, err = store.News.Domains.EnqueueDueSeeds(t.Context(), 10)
	}
	if err == nil {
		_, err = rig.Crawler.Crawl(t.Context(), domain, nil, func(crawler.Result) {})
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := db.Query(t.Context(),
		`select u.url, u.id, u.raw_hash, v.final_url, v.header->'Content-Type'->>0 from urls u join page_versions v on v.url_id = u.id and v.raw_hash = u.raw_hash
		where u.kind = 'article' and u.state = 'stored'`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var address, hash, final, contentType string
		var id [16]byte
		if err := rows.Scan(&address, &id, &hash, &final, &contentType); err != nil {
			t.Fatal(err)
		}
		raw, err := rig.Pages.Get(t.Context(), crawl.ObjectKey(domain, id, hash), hash)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, extract.Page{
			HTML: raw, URL: address, ContentType: contentType,
			Header: textproto.MIMEHeader{}, Zone: time.FixedZone("+07", 7*60*60),
			Now: time.Date(2026, time.March, 20, 3, 0, 0, 0, time.UTC),
		})
	}
	return pages
}

// compare counts the fields of an article that are right, and logs the others.
func compare(t *testing.T, sample sample, got *article.Article, omits []string, counts map[string]float64) {
	check := func(field string, right bool, got, want any) {
		if right {
			counts[field]++
		} else if !slices.Contains(omits, field) {
			t.Logf("%s: got the %s %v, want %v", sample.slug, field, got, want)
		}
	}
	counts["found"]++
	check("title", got.Title == sample.title, got.Title, sample.title)
	check("authors", score.SameAuthors(sample.authors, got.Authors), got.Authors, sample.authors)
	check("published", got.Published.Equal(sample.published) && !got.DateOnly, got.Published, sample.published)
	check("updated", got.Updated.Equal(sample.updated) || sample.updated.IsZero() &&
		got.Updated.Equal(sample.published), got.Updated, sample.updated)
	check("section", got.Section == sample.section, got.Section, sample.section)
	check("tags", slices.Equal(sorted(got.Tags), sorted(sample.tags)), got.Tags, sample.tags)
	check("table", hasTable(got.Text, sample.table), "lines without it", sample.table)
	body := score.CompareBody(sample.text(), got.Text)
	counts["recall"] += body.Recall()
	counts["precision"] += body.Precision()
}

func sorted(all []string) []string {
	out := slices.Clone(all)
	slices.Sort(out)
	return out
}

// hasTable reports whether each row is in the text as a line, or as consecutive ones.
func hasTable(text string, table [][]string) bool {
	words := strings.Join(score.Words(text), " ")
	for _, row := range table {
		if !strings.Contains(words, strings.Join(score.Words(strings.Join(row, " ")), " ")) {
			return false
		}
	}
	return true
}
