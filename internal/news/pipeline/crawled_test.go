package pipeline_test

import (
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/crawl"
	"dateline/internal/news/crawl/crawler"
	"dateline/internal/news/pipeline"
	"dateline/internal/testing/crawlrig"
	"dateline/internal/testing/crawltest"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/s3test"
	"dateline/internal/testing/storetest"
)

// Published articles are crawled and extracted exactly once, with title, author, minute
// and text.
func TestRun_CrawledSites(t *testing.T) {
	world, err := crawltest.New(crawltest.Options{Sites: 2, Articles: 12, Traps: true, Seed: 4})
	require.NoError(t, err)
	t.Cleanup(world.Close)
	s := storetest.Open(t)
	redis := enginetest.RedisClient(t, enginetest.Redis(t))
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	rig, err := crawlrig.New(t.Context(), crawlrig.Options{
		Store: s, Redis: redis, Objects: s3test.Bucket(t),
		Policy: crawl.DefaultRevisitPolicy().SpedUp(30), Log: log,
		Limits: crawler.Limits{
			RequestDelay: 5 * time.Millisecond, MaxRobotsDelay: time.Second,
			IPDelay: time.Millisecond, FetchTimeout: 4 * time.Second, LeaseTTL: 4 * time.Second,
			MaxRetryAfter: time.Hour, RunTimeout: time.Minute, BatchSize: 20, Concurrency: 1,
		},
		AllowPrivate: world.AllowPrivate(), Resolver: world.Resolver(),
	})
	require.NoError(t, err)
	t.Cleanup(rig.Fetcher.Close)
	workspace, err := crawlrig.CreateWorkspaceWithSeeds(t.Context(), s, rig.Policy, crawl.Home, world.Site(0).Home(),
		world.Site(1).Home())
	require.NoError(t, err)
	sites := &pipeline.SiteCache{Store: s.News.Articles, Redis: redis, Log: log}
	reader := &pipeline.Consumer{
		Store: s.Extraction(), Extractor: &pipeline.Extractor{Pages: rig.Pages, Sites: sites}, Log: log,
		Learners: learners{&fixture{learner: &pipeline.Learner{Store: s.Extraction(), Pages: rig.Pages, Sites: sites, Log: log}}},
		Timing: pipeline.Timing{
			PollInterval: 10 * time.Millisecond, IdleTimeout: 50 * time.Millisecond, RetryDelay: 10 * time.Millisecond,
		},
	}
	_, err = s.News.Domains.EnqueueDueSeeds(t.Context(), 100)
	require.NoError(t, err)
	for _, site := range world.Sites() {
		_, err := rig.Crawler.Crawl(t.Context(), site.Host(), nil, func(crawler.Result) {})
		require.NoError(t, err)
	}
	_, err = reader.Run(t.Context(), nil, func(pipeline.Stats) {})
	require.NoError(t, err)
	far := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	list, err := s.News.Articles.Articles(t.Context(), pipeline.ArticleQuery{
		Workspace: workspace.ID, To: far, Before: far, Limit: 500,
	})
	require.NoError(t, err)
	byURL := map[string]pipeline.ArticleSummary{}
	for _, e := range list {
		byURL[e.CanonicalURL] = e
	}
	require.Len(t, byURL, len(list), "each article once")
	for _, want := range world.Articles() {
		e, ok := byURL[want.URL]
		require.True(t, ok, "%s was not extracted", want.URL)
		a, err := s.News.Articles.Article(t.Context(), workspace.ID, e.ID)
		require.NoError(t, err)
		require.Equal(t, want.Title, a.Title)
		require.Equal(t, []string{want.Author}, a.Authors)
		require.True(t, want.PublishedAt.Truncate(time.Minute).Equal(a.Published.Truncate(time.Minute)), "%s, want %s",
			a.Published, want.PublishedAt)
		require.Equal(t, "vi", a.Language)
		for paragraph := range strings.SplitSeq(want.Body, "\n\n") {
			require.Contains(t, a.Text, paragraph)
		}
		require.NotContains(t, a.Text, "Xem thêm")
	}
}
