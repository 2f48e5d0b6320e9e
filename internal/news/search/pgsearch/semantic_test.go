package pgsearch_test

import (
	"testing"

	"github.com/google/uuid"

	"dateline/internal/news/search"
	"dateline/internal/testing/searchtest"
)

// While the embedder is unavailable, articles are found by keywords; missing vectors are
// added later, without embedding other articles again.
func TestEmbedMissing_AddsMissingVectors(t *testing.T) {
	model := &searchtest.Embedder{}
	e := open(t, model)
	model.Down.Store(true)
	searchtest.IndexArticles(t, e, 0)
	question := search.Request{
		Text: "which soccer kicker went elsewhere for lots of cash?", Mode: search.Hybrid,
		Now: searchtest.Now(),
	}
	if a, err := e.Search(t.Context(), question); err != nil || a.Total > 5 {
		t.Errorf("%d found without the model, %v", a.Total, err)
	}
	question.Mode = search.Semantic
	if _, err := e.Search(t.Context(), question); err == nil {
		t.Error("a semantic search does not report that the model is unavailable")
	}
	model.Down.Store(false)
	made := 0
	for {
		n, err := e.EmbedMissing(t.Context(), 30)
		if err != nil {
			t.Fatal(err)
		}
		if made += n; n == 0 {
			break
		}
	}
	if a, err := e.Search(t.Context(), question); err != nil || made != 115 ||
		a.Hits[0].ID != searchtest.ID("transfer") {
		t.Errorf("%d vectors added, %v", made, err)
	}
	before := model.Texts.Load()
	searchtest.IndexArticles(t, e, 0)
	if n := model.Texts.Load() - before; n != 0 {
		t.Errorf("%d texts were embedded again", n)
	}
}

// Processes keep the signs of vectors in memory: articles that are indexed or deleted
// afterwards, also by other processes, are considered in the next search.
func TestSearch_SemanticConsidersLaterChanges(t *testing.T) {
	model := &searchtest.Embedder{}
	e := open(t, model)
	searchtest.IndexArticles(t, e, 0)
	question := search.Request{
		Text: "which soccer kicker went elsewhere for lots of cash?", Mode: search.Semantic,
		Now: searchtest.Now(),
	}
	first := func() uuid.UUID {
		t.Helper()
		a, err := e.Search(t.Context(), question)
		if err != nil || len(a.Hits) == 0 {
			t.Fatalf("got %d hits, %v", len(a.Hits), err)
		}
		return a.Hits[0].ID
	}
	if got, want := first(), searchtest.ID("transfer"); got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	later := search.Document{
		ID: searchtest.ID("later"), Version: 1, Title: question.Text, URL: "https://x.example/later",
		Domain: "x.example", Published: searchtest.Now(),
	}
	if err := e.Index(t.Context(), []search.Document{later}); err != nil {
		t.Fatal(err)
	}
	if got := first(); got != later.ID {
		t.Errorf("after indexing, got %s, want %s", got, later.ID)
	}
	if err := e.Delete(t.Context(), []uuid.UUID{later.ID}); err != nil {
		t.Fatal(err)
	}
	if got, want := first(), searchtest.ID("transfer"); got != want {
		t.Errorf("after deletion, got %s, want %s", got, want)
	}
}
