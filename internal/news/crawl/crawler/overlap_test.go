package crawler_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
	"dateline/internal/testing/crawltest"
)

// putFunc stores a page, and calls before first.
type putFunc struct {
	crawler.Pages
	before func(ctx context.Context, key string)
}

func (p putFunc) Put(ctx context.Context, key string, raw []byte) (int, error) {
	p.before(ctx, key)
	return p.Pages.Put(ctx, key, raw)
}

func (f *fixture) beforePut(before func(ctx context.Context, key string)) {
	f.Crawler.Pages = putFunc{f.Crawler.Pages, before}
}

// articleRequests counts the requests for articles.
func (f *fixture) articleRequests() (n int) {
	for _, r := range f.world.Log() {
		if strings.HasSuffix(r.Path, ".html") {
			n++
		}
	}
	return n
}

// wantOneAtATime checks that no request of a site arrived while another one was
// answered.
func (f *fixture) wantOneAtATime(latency time.Duration) {
	f.t.Helper()
	last := map[int]crawltest.Request{}
	for _, r := range f.world.Log() {
		if previous, known := last[r.Site]; known && r.At.Sub(previous.At) < latency {
			f.t.Errorf("%s arrived %s after %s, which took %s to answer", r.Path, r.At.Sub(previous.At), previous.Path,
				latency)
		}
		last[r.Site] = r
	}
}

// The next page of a site is fetched while earlier ones are stored, as politely
// as ever: the first article is stored only after five others were requested.
func TestCrawl_StoresWhileFetchingPolitely(t *testing.T) {
	t.Parallel()
	const latency = 20 * time.Millisecond
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 8, ArticlesPerHub: 8, Sections: 1}, limits())
	site := f.world.Site(0)
	site.Slow(latency)
	f.seed(crawl.Home, site.Home())
	var first sync.Once
	f.beforePut(func(ctx context.Context, _ string) {
		if f.articleRequests() == 0 {
			return // the home page
		}
		first.Do(func() {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
			defer cancel()
			if err := f.world.WaitFor(ctx, func() bool { return f.articleRequests() >= 6 }); err != nil {
				t.Errorf("got %d articles requested while the first is stored, want 6", f.articleRequests())
			}
		})
	})
	f.crawl(0)
	f.wantPolite(delay + latency) // the delay begins after the response
	f.wantOneAtATime(latency)
	for _, a := range site.Articles() {
		if !f.stored(a) {
			t.Errorf("%s is not stored", a.URL)
		}
	}
}

// Pages that wait for storage are limited for each domain, and by their size
// for all domains together.
func TestCrawl_LimitsPagesWaitingForStorage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		maxBytes int64
		want     int32
	}{
		"per domain":  {maxBytes: 64 << 20, want: 9},
		"all domains": {maxBytes: 1, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			l := limits()
			l.RequestDelay, l.MaxUnstoredBytes = time.Millisecond, c.maxBytes
			f := newFixture(t, crawltest.Options{Sites: 1, Articles: 25, ArticlesPerHub: 25, Sections: 1}, l)
			f.seed(crawl.Home, f.world.Site(0).Home())
			var storing, maxStoring atomic.Int32
			f.beforePut(func(context.Context, string) {
				n := storing.Add(1)
				defer storing.Add(-1)
				for old := maxStoring.Load(); n > old && !maxStoring.CompareAndSwap(old, n); old = maxStoring.Load() {
				}
				time.Sleep(30 * time.Millisecond)
			})
			if out := f.crawl(0); out.Stored < 25 {
				t.Errorf("got %d pages stored, want 25 or more", out.Stored)
			}
			if got := maxStoring.Load(); got > c.want || c.want > 1 && got < 2 {
				t.Errorf("got %d pages stored at once, want at most %d, but several if possible", got, c.want)
			}
		})
	}
}

// A throttled request stops a run at once, also while other pages of it are
// stored. They are not lost.
func TestCrawl_ThrottledWhileStoringStopsRequests(t *testing.T) {
	t.Parallel()
	l := limits()
	l.RequestDelay = time.Millisecond
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 20, ArticlesPerHub: 20, Sections: 1}, l)
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	var throttle sync.Once
	throttled := func() (n int) {
		for _, r := range f.world.Log() {
			if r.Status == http.StatusTooManyRequests {
				n++
			}
		}
		return n
	}
	f.beforePut(func(ctx context.Context, _ string) {
		if f.articleRequests() < 3 {
			return
		}
		throttle.Do(func() { site.Throttle(http.StatusTooManyRequests, time.Hour) })
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		if err := f.world.WaitFor(ctx, func() bool { return throttled() > 0 }); err != nil {
			t.Error("got no throttled request while pages are stored, want one")
		}
	})
	out := f.crawl(0)
	if got := throttled(); got != 1 {
		t.Errorf("got %d requests after the site throttles, want 1", got)
	}
	if requested := f.articleRequests(); requested >= 20 || out.Stored < requested-1 {
		t.Errorf("got %d pages stored of %d requested, want all but the throttled one", out.Stored, requested)
	}
	if n := f.count("select count(*) from urls where lease is not null"); n != 0 {
		t.Errorf("got %d leased URLs, want 0", n)
	}
	if n := f.count("select count(*) from crawl_domains where not_before > now() + interval '50 minutes'"); n != 1 {
		t.Errorf("got %d blocked domains, want 1", n)
	}
}

// deadURLStore releases no leases, as after kill -9.
type deadURLStore struct{ crawler.URLStore }

func (deadURLStore) ReleaseLeases(context.Context, int, uuid.UUID, []uuid.UUID, time.Duration) error {
	return nil
}

// Pages that were fetched but not recorded when the process dies are fetched
// again after their leases expire.
func TestCrawl_FetchesUnrecordedPagesAgain(t *testing.T) {
	t.Parallel()
	l := limits()
	l.RequestDelay = time.Millisecond
	f := newFixture(t, crawltest.Options{Sites: 1, Articles: 12, ArticlesPerHub: 12, Sections: 1}, l)
	site := f.world.Site(0)
	f.seed(crawl.Home, site.Home())
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	alive, urls := f.Crawler.Record, f.Crawler.URLs
	f.Crawler.URLs = deadURLStore{urls}
	f.Crawler.Record = func(ctx context.Context, r crawl.FetchRecord) (bool, error) {
		if r.URL.Kind != crawl.Article {
			return alive(ctx, r)
		}
		if f.articleRequests() >= 5 {
			kill()
		}
		<-ctx.Done()
		return false, ctx.Err()
	}
	_, err := f.Store.News.Domains.EnqueueDueSeeds(t.Context(), 10)
	f.must(err)
	if _, err := f.Crawler.Crawl(ctx, site.Host(), nil, func(crawler.Result) {}); err == nil {
		t.Error("got no error from the killed run")
	}
	f.Crawler.Record, f.Crawler.URLs = alive, urls
	leased := f.count("select count(*) from urls where kind = 'article' and lease is not null")
	if leased < 5 {
		t.Fatalf("got %d leased articles after the crash, want 5 or more", leased)
	}
	_, err = f.db.Exec(t.Context(), "update urls set due_at = now() where lease is not null") // the leases expire
	f.must(err)
	f.crawl(0)
	for _, a := range site.Articles() {
		if !f.stored(a) {
			t.Errorf("%s is not stored", a.URL)
		}
	}
}
