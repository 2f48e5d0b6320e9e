package indexer_test

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"dateline/internal/infra/idempotency"
	"dateline/internal/news/search"
	"dateline/internal/news/search/indexer"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/news/search/savedsearch"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
	"dateline/internal/testing/searchtest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// fixture is a newsroom with a search index.
type fixture struct {
	*newsroomtest.Newsroom
	engine *spoilable
	x      *indexer.Indexer
}

// spoilable is an engine with injected failures.
type spoilable struct {
	search.Engine
	refuse  uuid.UUID // an article that it rejects
	down    bool
	before  func() // called when an index is written
	discard func(name string)
}

func (s *spoilable) DiscardRebuild(ctx context.Context, name string) error {
	if s.discard != nil {
		s.discard(name)
	}
	return s.Engine.DiscardRebuild(ctx, name)
}

func (s *spoilable) Index(ctx context.Context, docs []search.Document) error {
	if s.down {
		return search.ErrUnavailable
	}
	for _, d := range docs {
		if d.ID == s.refuse {
			return errors.New("refused")
		}
	}
	if s.before != nil {
		s.before()
	}
	return s.Engine.Index(ctx, docs)
}

func open(t *testing.T) *fixture {
	n := newsroomtest.Open(t)
	log := slog.New(slog.DiscardHandler)
	e := &spoilable{Engine: pgsearch.New(n.Store.Pool(), pgsearch.Options{Log: log})}
	return &fixture{Newsroom: n, engine: e, x: &indexer.Indexer{Store: n.Store.News.Searches, Engine: e, Events: n.Bus, Log: log}}
}

func (d *fixture) sync() int {
	d.T.Helper()
	n, err := d.x.Sync(d.T.Context(), func(int) {})
	d.Must(err)
	return n
}

func (d *fixture) finds(text string) int {
	d.T.Helper()
	a, err := d.engine.Search(d.T.Context(), search.Request{Text: text})
	d.Must(err)
	return a.Total
}

func (d *fixture) open() int { return d.Count("select count(*) from article_changes") }

func article(key, title string) search.Document {
	return search.Document{
		ID: searchtest.ID(key), Title: title, URL: "https://news.example/" + key,
		Domain: "news.example", Published: time.Now(),
	}
}

func TestSync_FollowsChanges(t *testing.T) {
	d := open(t)
	for i := range 230 { // more than one batch
		searchtest.Store(d.Newsroom, article("a"+strconv.Itoa(i), "First wording"), time.Now())
	}
	if n := d.sync(); n != 230 || d.finds("wording") != 230 || d.open() != 0 {
		t.Errorf("processed %d, found %d, left %d", n, d.finds("wording"), d.open())
	}
	searchtest.Store(d.Newsroom, article("a1", "Another expression"), time.Now())
	searchtest.Remove(d.Newsroom, searchtest.ID("a2"))
	if n := d.sync(); n != 2 || d.finds("wording") != 228 || d.finds("expression") != 1 {
		t.Errorf("processed %d, found %d and %d", n, d.finds("wording"), d.finds("expression"))
	}
}

// A worker that read an article before its deletion, and writes it after another worker
// has removed it from the index, does not restore it.
func TestSync_DoesNotRestoreDeletedArticles(t *testing.T) {
	d := open(t)
	searchtest.Store(d.Newsroom, article("a", "Needle"), time.Now())
	d.engine.before = func() {
		d.engine.before = nil
		searchtest.Remove(d.Newsroom, searchtest.ID("a"))
		other := &indexer.Indexer{Store: d.Store.News.Searches, Engine: d.engine.Engine, Events: d.Bus, Log: d.x.Log}
		_, err := other.Sync(t.Context(), func(int) {})
		d.Must(err)
	}
	d.sync()
	if d.finds("needle") != 0 || d.open() != 0 {
		t.Errorf("found %d, left %d", d.finds("needle"), d.open())
	}
}

func TestSync_RejectedArticleBlocksNoOthers(t *testing.T) {
	d := open(t)
	for _, key := range []string{"a", "b", "c"} {
		searchtest.Store(d.Newsroom, article(key, "Needle"), time.Now())
	}
	d.engine.refuse = searchtest.ID("b")
	if n := d.sync(); n != 2 || d.finds("needle") != 2 || d.open() != 1 {
		t.Errorf("processed %d, found %d, left %d", n, d.finds("needle"), d.open())
	}
	d.engine.refuse = uuid.Nil
	d.Exec("update article_changes set leased_until = '-infinity'") // a while later
	if d.sync(); d.finds("needle") != 3 || d.open() != 0 {
		t.Errorf("later found %d, left %d", d.finds("needle"), d.open())
	}
}

func TestSync_RetriesWhileTheEngineIsUnavailable(t *testing.T) {
	d := open(t)
	searchtest.Store(d.Newsroom, article("a", "Needle"), time.Now())
	d.engine.down = true
	if n, err := d.x.Sync(t.Context(), func(int) {}); !errors.Is(err, search.ErrUnavailable) || n != 0 ||
		d.open() != 1 {
		t.Errorf("processed %d, left %d, %v", n, d.open(), err)
	}
	d.engine.down = false
	d.Exec("update article_changes set leased_until = '-infinity'")
	if d.sync(); d.finds("needle") != 1 {
		t.Error("not found")
	}
}

func (d *fixture) save(s savedsearch.Search) savedsearch.Search {
	d.T.Helper()
	service := &savedsearch.Service{Store: d.Store.News.Searches, Engine: d.engine}
	made, _, err := service.Create(d.T.Context(), d.Owner, s, idempotency.Key{})
	d.Must(err)
	return made
}

// Each search alerts once for an article, however often and by however many workers it
// is indexed.
func TestSync_AlertsOncePerArticle(t *testing.T) {
	d := open(t)
	gold := d.save(savedsearch.Search{Name: "Gold", Query: `"giá vàng" -bạc`, Alert: true})
	d.save(savedsearch.Search{Name: "Silent", Query: "vàng"})
	d.save(savedsearch.Search{
		Name: "Elsewhere", Query: "vàng", Alert: true, Filters: search.Filters{Domains: []string{"other.example"}},
	})
	other, owner, _ := d.Found("Another newsroom") // has no seed on the domain
	_, _, err := (&savedsearch.Service{Store: d.Store.News.Searches}).Create(t.Context(), owner,
		savedsearch.Search{Name: "Gold", Query: "vàng", Alert: true}, idempotency.Key{})
	d.Must(err)
	// Was found before the search was created
	searchtest.Store(d.Newsroom, article("old", "Giá vàng hôm qua"), time.Now().Add(-time.Hour))
	searchtest.Store(d.Newsroom, article("new", "Giá vàng hôm nay"), time.Now().Add(time.Minute))
	// In another spelling
	searchtest.Store(d.Newsroom, article("bare", "Gia vang hom nay"), time.Now().Add(time.Minute))
	searchtest.Store(d.Newsroom, article("silver", "Giá vàng và bạc"), time.Now().Add(time.Minute))
	d.sync()
	alerts := func() int { return d.Count("select count(*) from post_events where type = 'article_matched'") }
	if alerts() != 1 {
		t.Fatalf("%d alerts, want 1", alerts())
	}
	if n := d.Count("select count(*) from post_events where type = 'article_matched' and workspace_id = $1 and "+
		"data->>'saved_search_id' = $2 and data->>'article_id' = $3 and data->>'url' = 'https://news.example/new'",
		d.Workspace.ID, gold.ID.String(), searchtest.ID("new").String()); n != 1 ||
		d.Count("select count(*) from post_events where type = 'article_matched' and workspace_id = $1",
			other.ID) != 0 {
		t.Error("the event is another")
	}
	// The article changes repeatedly, with several workers.
	for range 8 {
		searchtest.Store(d.Newsroom, article("new", "Giá vàng hôm nay, mới"), time.Now())
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := d.x.Sync(t.Context(), func(int) {}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if alerts() != 1 {
		t.Errorf("%d alerts, want 1", alerts())
	}
	// The changed headline matches now, and the article was found after the search was
	// created.
	searchtest.Store(d.Newsroom, article("silver", "Giá vàng"), time.Now())
	if d.sync(); alerts() != 2 {
		t.Errorf("%d alerts after a new match, want 2", alerts())
	}
}

// During a rebuild changes are indexed too, and the next worker continues after a crash.
func TestReindex_KeepsServing(t *testing.T) {
	d := open(t)
	for i := range 150 {
		searchtest.Store(d.Newsroom, article("a"+strconv.Itoa(i), "Needle"), time.Now())
	}
	d.sync()
	// Index entries without an article, and articles without an index entry.
	d.Must(d.engine.Index(t.Context(), []search.Document{
		{ID: searchtest.ID("ghost"), Version: 1, Title: "Ghost", Published: time.Now()},
	}))
	d.Must(d.engine.Delete(t.Context(), []uuid.UUID{searchtest.ID("a7")}))
	var at indexer.Progress
	died := errors.New("the worker died")
	ctx, die := context.WithCancelCause(t.Context())
	_, err := d.x.Reindex(ctx, at, func(now indexer.Progress) {
		if at = now; now.Articles > 0 {
			die(died)
		}
	})
	if err == nil || at.Articles != 100 || d.finds("ghost") != 1 {
		t.Fatalf("after %d articles %v", at.Articles, err)
	}
	searchtest.Store(d.Newsroom, article("fresh", "Needle, fresh"), time.Now())
	searchtest.Remove(d.Newsroom, searchtest.ID("a8"))
	d.sync()
	n, err := d.x.Reindex(t.Context(), at, func(indexer.Progress) {})
	require.NoError(t, err)
	require.GreaterOrEqual(t, n, 150)
	require.Equal(t, 150, d.finds("needle"))
	require.Equal(t, 0, d.finds("ghost"))
	require.Equal(t, 0, d.Count("select count(*) from search_rebuild"))
}

// A rebuild that is canceled and requested again while the worker still runs the first one
// starts from the beginning.
func TestReindex_StartsAgainIfRequestedAfterCancellation(t *testing.T) {
	d := open(t)
	for i := range 150 {
		searchtest.Store(d.Newsroom, article("a"+strconv.Itoa(i), "Needle"), time.Now())
	}
	store, canceled, discarded := d.Store.News.Searches, "", []string{}
	d.engine.discard = func(name string) { discarded = append(discarded, name) }
	n, err := d.x.Reindex(t.Context(), indexer.Progress{}, func(at indexer.Progress) {
		if at.Articles == 100 && canceled == "" {
			canceled = at.Name
			d.Must(store.CancelRebuild(t.Context()))
			d.Must(store.RequestRebuild(t.Context()))
		}
	})
	require.NoError(t, err)
	require.Equal(t, 150, n)
	require.Equal(t, []string{canceled}, discarded)
	r, err := store.Rebuild(t.Context())
	require.NoError(t, err)
	require.Equal(t, indexer.RebuildDone, r.Status)
	require.Equal(t, [2]int64{150, 150}, [2]int64{r.Done, r.Total})
}
