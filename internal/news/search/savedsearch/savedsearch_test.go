package savedsearch_test

import (
	"log/slog"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/idempotency"
	"dateline/internal/news/search"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/news/search/savedsearch"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/newsroomtest"
	"dateline/internal/testing/searchtest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// A feed uses the mode of its search: keyword feeds contain all exact matches, semantic
// feeds the nearest recent articles. Both are sorted by time.
func TestFeed_AppliesSearchMode(t *testing.T) {
	n := newsroomtest.Open(t)
	engine := pgsearch.New(n.Store.Pool(), pgsearch.Options{
		Embedder: &searchtest.Embedder{}, Model: "test", Log: slog.New(slog.DiscardHandler),
	})
	s := &savedsearch.Service{Store: n.Store.News.Searches, Engine: engine}
	var docs []search.Document
	for i, text := range []string{
		"The footballer and the goalkeeper", "A striker, a defender and a kicker",
		"Soccer on Sunday", "The river rises in the night", "An old football story",
	} {
		d := search.Document{
			ID: searchtest.ID(text), Version: 1, URL: "https://news.example/" + url.PathEscape(text),
			Domain: "news.example", Title: text, Body: text + ".", Language: "en",
			Published: time.Now().Add(-time.Duration(i+1) * time.Hour),
		}
		if i == 4 {
			d.Published = time.Now().AddDate(0, -3, 0)
		}
		searchtest.Store(n, d, d.Published)
		docs = append(docs, d)
	}
	n.Must(engine.Index(t.Context(), docs))
	_, err := engine.EmbedMissing(t.Context(), 100)
	n.Must(err)
	for mode, want := range map[search.Mode][]string{
		search.Keyword: {"The footballer and the goalkeeper"},
		search.Semantic: {
			"The footballer and the goalkeeper", "A striker, a defender and a kicker",
			"Soccer on Sunday",
		},
	} {
		made, _, err := s.Create(t.Context(), n.Owner, savedsearch.Search{
			Name: "Sport", Query: "goalkeeper",
			Mode: mode,
		}, idempotency.Key{})
		n.Must(err)
		token, err := s.CreateFeed(t.Context(), n.Owner, made.ID)
		n.Must(err)
		_, hits, err := s.Feed(t.Context(), made.ID, token.Reveal())
		n.Must(err)
		var got []string
		for _, h := range hits {
			if h.Title != "The river rises in the night" { // semantic ranking has no cutoff
				got = append(got, h.Title)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", mode, got, want)
		}
	}
}

// A workspace sees the articles of its sources. Without sources it sees none: an empty
// list of domains must not mean all domains.
func TestFind_WorkspaceWithoutSourcesSeesNothing(t *testing.T) {
	n := newsroomtest.Open(t)
	engine := pgsearch.New(n.Store.Pool(), pgsearch.Options{Log: slog.New(slog.DiscardHandler)})
	s := &savedsearch.Service{Store: n.Store.News.Searches, Engine: engine}
	d := search.Document{
		ID: searchtest.ID("river"), Version: 1, URL: "https://news.example/river",
		Domain: "news.example", Title: "The river rises", Published: time.Now().Add(-time.Hour),
	}
	searchtest.Store(n, d, d.Published)
	n.Must(engine.Index(t.Context(), []search.Document{d}))
	made, _, err := s.Create(t.Context(), n.Owner, savedsearch.Search{Name: "Rivers", Query: "river", Alert: true},
		idempotency.Key{})
	n.Must(err)
	n.Exec("update saved_searches set alert_since = now() - interval '1 day'")
	token, err := s.CreateFeed(t.Context(), n.Owner, made.ID)
	n.Must(err)
	// seen counts the results of each way to list articles.
	seen := func() map[string]int {
		out := map[string]int{}
		for text, r := range map[string]search.Request{
			"everything": {}, "by words": {Text: "river"}, "by time": {Text: "river", Sort: search.ByTime},
			"by domain": {Filters: search.Filters{Domains: []string{"news.example"}}},
		} {
			a, err := s.Search(t.Context(), n.Workspace.ID, r)
			n.Must(err)
			out[text] = len(a.Hits) + a.Total
		}
		_, hits, err := s.Feed(t.Context(), made.ID, token.Reveal())
		n.Must(err)
		out["feed"] = len(hits)
		alerts, err := n.Store.News.Searches.RecordMatches(t.Context(), []uuid.UUID{made.ID}, []uuid.UUID{d.ID})
		n.Must(err)
		out["alert"] = int(alerts)
		matches, err := s.Matches(t.Context(), n.Owner, made.ID, uuid.Nil, 10)
		n.Must(err)
		out["matches"] = len(matches)
		n.Exec("delete from saved_search_matches")
		return out
	}
	for way, got := range seen() {
		if got == 0 {
			t.Errorf("%s: got nothing with a source", way)
		}
	}
	n.Exec("delete from seeds")
	for way, got := range seen() {
		if got != 0 {
			t.Errorf("%s: got %d without sources, want 0", way, got)
		}
	}
}
