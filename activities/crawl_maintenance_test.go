package activities_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/sdk/testsuite"

	"dateline/activities"
	"dateline/internal/infra/blob"
	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
	"dateline/internal/storage/objects"
	"dateline/internal/testing/crawlrig"
	"dateline/internal/testing/crawltest"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/s3test"
	"dateline/internal/testing/storetest"
)

// archive is a crawler with a site whose pages are stored in S3.
type archive struct {
	*crawlrig.Rig
	t      *testing.T
	db     *pgx.Conn
	site   *crawltest.Site
	bucket *objects.Bucket
	env    *testsuite.TestActivityEnvironment
}

func newArchive(t *testing.T) *archive {
	t.Helper()
	world, err := crawltest.New(crawltest.Options{Articles: 3, Sections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(world.Close)
	a := &archive{t: t, site: world.Site(0), bucket: s3test.Bucket(t)}
	s, url := storetest.OpenWithURL(t)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	limits := crawler.DefaultLimits()
	limits.RequestDelay, limits.IPDelay, limits.FetchTimeout = 0, 0, 10*time.Second
	a.Rig, err = crawlrig.New(ctx, crawlrig.Options{
		Store: s, Redis: enginetest.RedisClient(t, enginetest.Redis(t)),
		Objects: a.bucket, Limits: limits,
		Policy: crawl.DefaultRevisitPolicy(), Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		AllowPrivate: world.AllowPrivate(), Resolver: world.Resolver(),
	})
	a.must(err)
	t.Cleanup(a.Fetcher.Close)
	a.db, err = pgx.Connect(ctx, url)
	a.must(err)
	_, err = crawlrig.CreateWorkspaceWithSeeds(t.Context(), s, a.Policy, crawl.Home, a.site.Home())
	a.must(err)
	var suite testsuite.WorkflowTestSuite
	a.env = suite.NewTestActivityEnvironment()
	a.env.RegisterActivity(a.Activities.CrawlMaintenance)
	return a
}

func (a *archive) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

func (a *archive) exec(sql string) {
	a.t.Helper()
	_, err := a.db.Exec(a.t.Context(), sql)
	a.must(err)
}

// crawl fetches the front page and all articles.
func (a *archive) crawl() {
	a.t.Helper()
	a.exec("update seeds set next_crawl = now(); update urls set due_at = now() where kind = 'article'")
	_, err := a.Store.News.Domains.EnqueueDueSeeds(a.t.Context(), 10)
	a.must(err)
	_, err = a.Crawler.Crawl(a.t.Context(), a.site.Host(), nil, func(crawler.Result) {})
	a.must(err)
}

// keys returns the objects of all versions in the database, newest first.
func (a *archive) keys(articleURL string) (keys []string) {
	a.t.Helper()
	rows, err := a.db.Query(a.t.Context(),
		`select d.domain, v.url_id, v.raw_hash from page_versions v join crawl_domains d on d.id = v.domain_id
		where v.final_url = $1 order by v.fetched_at desc`, articleURL)
	a.must(err)
	for rows.Next() {
		var domain, hash string
		var id [16]byte
		a.must(rows.Scan(&domain, &id, &hash))
		keys = append(keys, crawl.ObjectKey(domain, id, hash))
	}
	a.must(rows.Err())
	return keys
}

func (a *archive) inS3(key string) bool {
	a.t.Helper()
	_, err := a.bucket.Size(a.t.Context(), key)
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		a.t.Fatal(err)
	}
	return err == nil
}

// The daily activity keeps the newest versions of a page and deletes the others, from
// S3, too.
func TestDeleteOldPageVersions_S3(t *testing.T) {
	a := newArchive(t)
	a.crawl()
	edited, other := a.site.Articles()[0].URL, a.site.Articles()[1].URL
	for range 7 {
		a.site.Edit(1)
		a.crawl()
	}
	before := a.keys(edited)
	if len(before) != 8 || len(a.keys(other)) != 1 {
		t.Fatalf("got %d versions of the changed page and %d of another, want 8 and 1", len(before), len(a.keys(other)))
	}
	maxVersions := a.Activities.CrawlMaintenance.MaxVersions // 5, for an hour
	a.deleteOldVersions()
	if after := a.keys(edited); len(after) != maxVersions || after[0] != before[0] {
		t.Errorf("got %d versions, want the newest %d", len(after), maxVersions)
	}
	for i, key := range before {
		if a.inS3(key) != (i < maxVersions) {
			t.Errorf("version %d, counted from the newest: got in S3 %v, want %v", i, i >= maxVersions, i < maxVersions)
		}
	}
	a.exec("update page_versions set fetched_at = fetched_at - interval '2 hours'")
	a.deleteOldVersions()
	for _, url := range []string{edited, other} {
		if left := a.keys(url); len(left) != 1 || !a.inS3(left[0]) {
			t.Errorf("%s: got old versions %v, want only the newest", url, left)
		}
	}
	if a.inS3(before[1]) {
		t.Error("an old version is still in S3")
	}
}

func (a *archive) deleteOldVersions() {
	a.t.Helper()
	_, err := a.env.ExecuteActivity(a.Activities.CrawlMaintenance.DeleteOldPageVersions)
	a.must(err)
}

// An export of a domain is a readable WARC file in S3.
func TestExportPages_S3(t *testing.T) {
	a := newArchive(t)
	a.crawl()
	const key = "exports/test.warc.gz"
	value, err := a.env.ExecuteActivity(a.Activities.CrawlMaintenance.ExportPages,
		activities.ExportInput{
			Domain: a.site.Host(),
			From:   time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour), Key: key,
		})
	a.must(err)
	var out activities.ExportResult
	a.must(value.Get(&out))
	size, err := a.bucket.Size(t.Context(), key)
	a.must(err)
	body, err := a.bucket.Get(t.Context(), key)
	a.must(err)
	compressed, err := io.ReadAll(body)
	a.must(err)
	a.must(body.Close())
	if out.Bytes != size || int64(len(compressed)) != size {
		t.Errorf("got %d bytes reported and %d read, want %d", out.Bytes, len(compressed), size)
	}
	z, err := gzip.NewReader(bufio.NewReader(bytes.NewReader(compressed)))
	a.must(err)
	text, err := io.ReadAll(z) // all members
	a.must(err)
	file := string(text)
	for _, article := range a.site.Articles() {
		if !strings.Contains(file, "WARC-Target-URI: "+article.URL+"\r\n") || !strings.Contains(file, article.Title) {
			t.Errorf("%s is missing", article.URL)
		}
	}
	if n := strings.Count(file, "WARC-Type: resource\r\n"); n != out.Pages || n < 4 {
		t.Errorf("got %d pages reported, want %d", out.Pages, n)
	}
	// A time range without pages is a file without pages.
	value, err = a.env.ExecuteActivity(a.Activities.CrawlMaintenance.ExportPages,
		activities.ExportInput{
			Domain: a.site.Host(),
			From:   time.Now().Add(-48 * time.Hour), To: time.Now().Add(-24 * time.Hour), Key: key + ".empty",
		})
	a.must(err)
	a.must(value.Get(&out))
	if out.Pages != 0 || !a.inS3(key+".empty") {
		t.Errorf("empty range: got %+v, want an object without pages", out)
	}
}
