package seen_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/seen"
	"dateline/internal/news/crawl/weburl"
	"dateline/internal/testing/crawlrig"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/storetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func names(from, count int) []crawl.URLKey {
	out := make([]crawl.URLKey, count)
	for i := range out {
		out[i] = crawl.URLKey{DomainID: i % 7, ID: uuid.NewSHA1(uuid.Nil, fmt.Append(nil, from+i))}
	}
	return out
}

func TestFilter_NoFalseNegatives(t *testing.T) {
	r := enginetest.RedisClient(t, enginetest.Redis(t))
	f := &seen.Filter{Redis: r}
	add := func(all []crawl.URLKey) (maybe int) {
		t.Helper()
		for len(all) > 0 {
			part := all[:min(500, len(all))]
			all = all[len(part):]
			got, err := f.Add(t.Context(), part)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range got {
				if m {
					maybe++
				}
			}
		}
		return maybe
	}
	const n = 50_000
	if maybe := add(names(0, n)); maybe > n/500 {
		t.Errorf("%d of %d were found although the filter was empty", maybe, n)
	}
	if maybe := add(names(0, n)); maybe != n {
		t.Errorf("%d of %d are known", maybe, n)
	}
	// A new filter replaces the old one with its contents.
	rebuild := f.BeginRebuild(t.Context(), n)
	if err := f.AddToRebuild(t.Context(), rebuild, names(0, 1000)); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a retry is harmless
		if err := f.FinishRebuild(t.Context(), rebuild); err != nil {
			t.Fatal(err)
		}
	}
	if maybe := add(names(0, 1000)); maybe != 1000 {
		t.Errorf("%d of 1000 are known after the rebuild", maybe)
	}
	if maybe := add(names(n, 1000)); maybe > 20 {
		t.Errorf("%d of 1000 are false positives", maybe)
	}
	if keys, err := r.Keys(t.Context(), "crawl:seen:0:*").Result(); err != nil || len(keys) != 0 {
		t.Errorf("the old filter left %v, %v", keys, err)
	}
}

func TestFilter_FalsePositiveRate(t *testing.T) {
	// The rate of 14.4 bits per key and ten hashes; see the package.
	if p := math.Pow(1-math.Exp(-10/14.4), 10); p > 0.0011 {
		t.Errorf("%f", p)
	}
}

// A false positive, a lost Redis or an emptied frontier loses no URL.
func TestIndex_MaybeAsksStore(t *testing.T) {
	s := storetest.Open(t)
	url, stop := enginetest.StoppableRedis(t)
	r := enginetest.RedisClient(t, url)
	if _, err := crawlrig.CreateWorkspaceWithSeeds(t.Context(), s, crawl.DefaultRevisitPolicy(), crawl.Home,
		"https://news.example/"); err != nil {
		t.Fatal(err)
	}
	d, err := s.News.Domains.GetCrawlDomain(t.Context(), "news.example")
	if err != nil {
		t.Fatal(err)
	}
	k := &seen.Index{Filter: &seen.Filter{Redis: r}, Redis: r, Store: s.News.Frontier}
	there, err := weburl.Parse("https://news.example/there.html", weburl.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	positive := uuid.New()
	ids := []uuid.UUID{crawl.URLID(there), positive}
	// The filter may contain both; the database has one.
	if _, err := k.Filter.Add(t.Context(),
		[]crawl.URLKey{{DomainID: d.ID, ID: ids[0]}, {DomainID: d.ID, ID: ids[1]}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.News.Frontier.AddURLs(t.Context(),
		[]crawl.DiscoveredURL{{DomainID: d.ID, URL: there, Kind: crawl.Article, Rank: 3}}); err != nil {
		t.Fatal(err)
	}
	want := func(epoch int, first, second bool) {
		t.Helper()
		fresh, err := k.New(t.Context(), d.ID, epoch, ids)
		if err != nil || fresh[0] != first || fresh[1] != second {
			t.Errorf("new are %v, %v", fresh, err)
		}
	}
	want(d.Epoch, false, true)
	want(d.Epoch, false, true) // now from the cache
	if n, err := r.Exists(t.Context(), "crawl:known:"+fmt.Sprint(d.ID)+":1:"+string(ids[1][:])).Result(); n != 0 ||
		err != nil {
		t.Error("Redis has a URL that the database does not have")
	}
	if _, err := s.News.Domains.ApplyDomainCommand(t.Context(), uuid.Nil, d.Name, crawl.Empty, "a test"); err != nil {
		t.Fatal(err)
	}
	want(d.Epoch+1, true, true)
	stop()
	want(d.Epoch+1, true, true)
}
