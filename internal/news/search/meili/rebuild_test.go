package meili_test

import (
	"bytes"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"dateline/internal/news/search"
	"dateline/internal/news/search/meili"
	"dateline/internal/news/search/meili/meilitest"
	"dateline/internal/testing/searchtest"
)

func other(key string) search.Document {
	d := article(1)
	d.ID = searchtest.ID(key)
	return d
}

func TestRebuild_ReplacesTheIndex(t *testing.T) {
	f := meilitest.Start(t)
	e := open(t, f, meili.Options{})
	if err := e.Index(t.Context(), []search.Document{article(1)}); err != nil {
		t.Fatal(err)
	}
	f.Open("articles_rebuild_left") // by a rebuild that was interrupted
	f.Open("articles_of_others")
	name, err := e.StartRebuild(t.Context())
	if err != nil || slices.Contains(f.Names(), "articles_rebuild_left") ||
		!slices.Contains(f.Names(), "articles_of_others") {
		t.Fatalf("%v, %v", f.Names(), err)
	}
	if !strings.Contains(f.Settings(name), "searchableAttributes") {
		t.Error("the new index has no settings")
	}
	if err := e.AddToRebuild(t.Context(), name, []search.Document{other("b")}); err != nil {
		t.Fatal(err)
	}
	if f.Document("articles", searchtest.ID("a").String()) == nil ||
		f.Document("articles", searchtest.ID("b").String()) != nil {
		t.Error("the live index has changed too early")
	}
	for range 2 {
		if err := e.FinishRebuild(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	rebuilt(t, f, name)
}

// rebuilt asserts that the new index is live and the old one is deleted.
func rebuilt(t *testing.T, f *meilitest.Server, name string) {
	t.Helper()
	if f.Document("articles", searchtest.ID("b").String()) == nil ||
		f.Document("articles", searchtest.ID("a").String()) != nil || slices.Contains(f.Names(), name) {
		t.Errorf("the old index is live or still exists: %v", f.Names())
	}
}

// A worker may die after swapping the indexes. The next one must not swap them back.
func TestFinishRebuild_SwapsOnce(t *testing.T) {
	for trouble, cause := range map[string]func(f *meilitest.Server){
		"the swap was requested, and not done yet":    func(f *meilitest.Server) { f.LoseAnswer("/swap-indexes") },
		"the swap was done, and the old index exists": func(f *meilitest.Server) { f.FailTasks("indexDeletion") },
		"the swap was refused":                        func(f *meilitest.Server) { f.FailTasks("indexSwap") },
	} {
		t.Run(trouble, func(t *testing.T) {
			f := meilitest.Start(t)
			e := open(t, f, meili.Options{})
			if err := e.Index(t.Context(), []search.Document{article(1)}); err != nil {
				t.Fatal(err)
			}
			name, err := e.StartRebuild(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := e.AddToRebuild(t.Context(), name, []search.Document{other("b")}); err != nil {
				t.Fatal(err)
			}
			cause(f)
			if err := e.FinishRebuild(t.Context(), name); err == nil {
				t.Fatal("got no error")
			}
			f.FailTasks("")
			if err := e.FinishRebuild(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			rebuilt(t, f, name)
		})
	}
}

// An index built before the embedder was configured has articles without vectors.
// Searches use keywords until it is rebuilt.
func TestPrepare_EmbedderAddedLater(t *testing.T) {
	f := meilitest.Start(t)
	if err := open(t, f, meili.Options{}).Index(t.Context(), []search.Document{article(1)}); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	e := open(t, f, meili.Options{Embedder: &searchtest.Embedder{}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if !strings.Contains(log.String(), "dateline reindex") || strings.Contains(log.String(), "secret words") {
		t.Errorf("the log says %s", log.String())
	}
	if err := e.Index(t.Context(), []search.Document{other("b")}); err != nil {
		t.Errorf("articles are accepted: %v", err)
	}
	if _, err := e.Search(t.Context(), search.Request{Text: "Hanoi", Mode: search.Hybrid}); err != nil ||
		f.Last()["hybrid"] != nil {
		t.Errorf("by words: %v", err)
	}
	if _, err := e.Search(t.Context(), search.Request{Text: "Hanoi", Mode: search.Semantic}); err == nil {
		t.Error("a semantic search reports that there are no vectors")
	}
	name, err := e.StartRebuild(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.AddToRebuild(t.Context(), name, []search.Document{article(1), other("b")}); err != nil {
		t.Fatal(err)
	}
	if err := e.FinishRebuild(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Search(t.Context(), search.Request{Text: "Hanoi", Mode: search.Semantic}); err != nil ||
		f.Last()["hybrid"] == nil {
		t.Errorf("after a rebuild: %v", err)
	}
	// When the embedder is removed again, articles without vectors are accepted.
	e = open(t, f, meili.Options{})
	if err := e.Index(t.Context(), []search.Document{other("c")}); err != nil ||
		!strings.Contains(f.Settings("articles"), `"embedders":{}`) {
		t.Errorf("without an embedder: %v, %s", err, f.Settings("articles"))
	}
}

// An article that Meilisearch rejects does not mean that Meilisearch is down.
func TestErrors_DistinguishRejectedFromUnavailable(t *testing.T) {
	f := meilitest.Start(t)
	e := open(t, f, meili.Options{})
	f.Limit(4000)
	large := other("large")
	large.Body = strings.Repeat("words ", 1000)
	if err := e.Index(t.Context(), []search.Document{large}); err == nil || errors.Is(err, search.ErrUnavailable) {
		t.Errorf("too large: %v", err)
	}
	if err := e.Index(t.Context(), []search.Document{other("small")}); err != nil {
		t.Errorf("the next: %v", err)
	}
	f.Busy(true)
	if _, err := e.Search(t.Context(), search.Request{Text: "needle"}); !errors.Is(err, search.ErrBusy) {
		t.Errorf("busy: %v", err)
	}
	f.Busy(false)
	if _, err := e.Search(t.Context(),
		search.Request{
			Text: "needle", Facets: true,
			Filters: search.Filters{VisibleDomains: []string{}, Tags: []string{"t"}, From: searchtest.Now()},
			Sort:    search.ByTime,
		}); err != nil {
		t.Errorf("filters, facets and order are those of the settings: %v", err)
	}
	if err := e.Delete(t.Context(), []uuid.UUID{searchtest.ID("small")}); err != nil {
		t.Error(err)
	}
}
