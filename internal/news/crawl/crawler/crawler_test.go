package crawler_test

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/identity/workspace"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
	"dateline/internal/news/crawl/fetch"
	"dateline/internal/testing/crawlrig"
	"dateline/internal/testing/crawltest"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/s3test"
	"dateline/internal/testing/storetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// fixture is a crawler and the web that it crawls.
type fixture struct {
	*crawlrig.Rig
	t         *testing.T
	world     *crawltest.World
	db        *pgx.Conn
	workspace workspace.Workspace
}

const delay = 60 * time.Millisecond

func limits() crawler.Limits {
	return crawler.Limits{
		RequestDelay: delay, MaxRobotsDelay: time.Second, IPDelay: time.Millisecond,
		FetchTimeout: 4 * time.Second, LeaseTTL: 4 * time.Second,
		MaxRetryAfter: time.Hour, RunTimeout: time.Minute, BatchSize: 20, Concurrency: 1, MaxSimilarSections: 20,
		MaxUnstoredBytes: 64 << 20,
	}
}

func newFixture(t *testing.T, o crawltest.Options, l crawler.Limits) *fixture {
	t.Helper()
	return newFixtureWith(t, o, l, nil)
}

func newFixtureWith(t *testing.T, o crawltest.Options, l crawler.Limits, browser fetch.Renderer) *fixture {
	t.Helper()
	world, err := crawltest.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	f := newRigFixture(t, l, crawlrig.Options{
		AllowPrivate: world.AllowPrivate(), Resolver: world.Resolver(), Browser: browser,
	})
	f.world = world
	return f
}

// newRigFixture returns a crawler with access to some sites.
func newRigFixture(t *testing.T, l crawler.Limits, o crawlrig.Options) *fixture {
	t.Helper()
	s, url := storetest.OpenWithURL(t)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	f := &fixture{t: t}
	o.Store, o.Redis, o.Objects, o.Limits = s, enginetest.RedisClient(t, enginetest.Redis(t)), s3test.Bucket(t), l
	o.Policy, o.Log = crawl.DefaultRevisitPolicy().SpedUp(30), slog.New(slog.NewTextHandler(os.Stderr,
		&slog.HandlerOptions{Level: slog.LevelWarn}))
	var err error
	f.Rig, err = crawlrig.New(ctx, o)
	f.must(err)
	t.Cleanup(f.Fetcher.Close)
	f.db, err = pgx.Connect(ctx, url)
	f.must(err)
	return f
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) seed(kind crawl.Kind, addresses ...string) {
	f.t.Helper()
	var err error
	f.workspace, err = crawlrig.CreateWorkspaceWithSeeds(f.t.Context(), f.Store, f.Policy, kind, addresses...)
	f.must(err)
}

// crawl makes all seeds due and crawls the domain until nothing is due.
func (f *fixture) crawl(site int) crawler.Result {
	f.t.Helper()
	return f.crawlDomain(f.world.Site(site).Host())
}

func (f *fixture) crawlDomain(domain string) crawler.Result {
	f.t.Helper()
	_, err := f.db.Exec(f.t.Context(), "update seeds set next_crawl = now()")
	f.must(err)
	_, err = f.Store.News.Domains.EnqueueDueSeeds(f.t.Context(), 1000)
	f.must(err)
	out, err := f.Crawler.Crawl(f.t.Context(), domain, nil, func(crawler.Result) {})
	f.must(err)
	return out
}

func (f *fixture) count(sql string, args ...any) (n int) {
	f.t.Helper()
	f.must(f.db.QueryRow(f.t.Context(), sql, args...).Scan(&n))
	return n
}

// page returns the stored page of an article.
func (f *fixture) page(a crawltest.Article) (page string, stored bool) {
	f.t.Helper()
	var domain, hash string
	var id [16]byte
	err := f.db.QueryRow(f.t.Context(),
		`select d.domain, u.id, u.raw_hash from urls u join crawl_domains d on d.id = u.domain_id
		where u.url = $1 and u.state = 'stored' and u.raw_hash <> ''`, a.URL).Scan(&domain, &id, &hash)
	if err != nil {
		return "", false
	}
	raw, err := f.Pages.Get(f.t.Context(), crawl.ObjectKey(domain, id, hash), hash)
	f.must(err)
	return string(raw), true
}

// stored reports whether the current page of an article is stored.
func (f *fixture) stored(a crawltest.Article) bool {
	f.t.Helper()
	page, stored := f.page(a)
	return stored && strings.Contains(page, a.Title)
}

func (f *fixture) wantPolite(delay time.Duration) {
	f.t.Helper()
	for i, sentence := range f.world.PolitenessViolations(delay, 2*time.Millisecond) {
		if i < 10 {
			f.t.Error(sentence)
		}
	}
}

func TestCrawl_StoresSitePolitely(t *testing.T) {
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 12, Traps: true}, limits())
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	out := f.crawl(0)
	for _, a := range site.Articles() {
		if !f.stored(a) {
			t.Errorf("%s is not stored", a.URL)
		}
	}
	if out.Fetched == 0 || out.Found == 0 || out.Stored == 0 {
		t.Errorf("got %+v, want pages fetched, found and stored", out)
	}
	f.wantPolite(delay)
	if n := f.count("select count(*) from crawled_pages where is_first_version"); n < 12 {
		t.Errorf("got %d pages queued for extraction, want 12", n)
	}
	for url, n := range f.world.Fetches() {
		if n > 1 && !strings.HasSuffix(url, "/robots.txt") {
			t.Logf("%s was fetched %d times", url, n)
		}
	}
	// A new teaser on a hub is news, whatever else changes.
	site.Churn()
	a := site.Publish()
	f.crawl(0)
	if !f.stored(a) {
		t.Error("the new article was not found")
	}
	f.wantPolite(delay)
	// Without news, nothing is stored.
	before := f.count("select count(*) from page_versions")
	site.Churn()
	f.crawl(0)
	if n := f.count("select count(*) from page_versions"); n != before {
		t.Errorf("got %d new versions without news, want 0", n-before)
	}
}
