package meili_test

import (
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"dateline/internal/news/search"
	"dateline/internal/news/search/meili"
	"dateline/internal/news/search/meili/meilitest"
	"dateline/internal/testing/searchtest"
)

func TestIsTooOld(t *testing.T) {
	for version, want := range map[string]bool{
		"1.14.9": true, "0.30.5": true, "1.15.0": false, "1.15.0-rc.2": false,
		"1.50.0": false, "2.0.0": false, "unknown": false, "": false,
	} {
		if got := meili.IsTooOld(version); got != want {
			t.Errorf("%q: got too old %v, want %v", version, got, want)
		}
	}
}

// Help and documentation name the version that is checked.
func TestMinVersion_IsDocumented(t *testing.T) {
	guide, err := os.ReadFile("../../../../docs/how-to/use-meilisearch.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := "Meilisearch " + meili.MinVersion + " or later"; !strings.Contains(string(guide), want) {
		t.Errorf("docs/how-to/use-meilisearch.md lacks %q", want)
	}
}

// Checks detect misconfiguration without changing anything. They also run on a real
// Meilisearch if MEILISEARCH_URL is set.
func TestChecks(t *testing.T) {
	url, key := os.Getenv("MEILISEARCH_URL"), os.Getenv("MEILISEARCH_KEY")
	if url == "" {
		url, key = meilitest.Start(t).URL, meilitest.Key
	}
	for name, embedder := range map[string]search.Embedder{"words": nil, "vectors": &searchtest.Embedder{}} {
		t.Run(name, func(t *testing.T) {
			o := meili.Options{
				URL: url, Key: key, Index: "check_" + uuid.NewString(), Embedder: embedder,
				PollInterval: 5 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
			}
			e := meili.New(o)
			if _, err := e.StaleSettings(t.Context()); !errors.Is(err, meili.ErrNoIndex) {
				t.Errorf("before there is an index: got %v, want %v", err, meili.ErrNoIndex)
			}
			if err := e.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := e.Index(t.Context(), []search.Document{article(1)}); err != nil {
				t.Fatal(err)
			}
			if err := e.Reachable(t.Context()); err != nil {
				t.Error(err)
			}
			if v, err := e.Version(t.Context()); err != nil || meili.IsTooOld(v) {
				t.Errorf("got version %q, %v", v, err)
			}
			if missing, err := e.MissingActions(t.Context()); err != nil || len(missing) != 0 {
				t.Errorf("got missing actions %v, %v, want none", missing, err)
			}
			if stale, err := e.StaleSettings(t.Context()); err != nil || len(stale) != 0 {
				t.Errorf("got stale settings %v, %v, want none", stale, err)
			}
			if n, err := e.Documents(t.Context()); err != nil || n != 1 {
				t.Errorf("got %d articles, %v, want 1", n, err)
			}
			o.Key = "another-key"
			wrong := meili.New(o)
			if missing, err := wrong.MissingActions(t.Context()); err != nil || len(missing) != len(wrong.Actions()) {
				t.Errorf("with a wrong key: got missing actions %v, %v, want all", missing, err)
			}
		})
	}
}

func TestStaleSettings_NamesWhatDiffers(t *testing.T) {
	f := meilitest.Start(t)
	e := open(t, f, meili.Options{})
	f.Change("articles", "rankingRules", []any{"words", "sort"})
	f.Change("articles", "synonyms", map[string]any{"mỹ": []any{"hoa kỳ"}})
	// The order is not significant
	f.Change("articles", "filterableAttributes", []any{
		"published", "authors", "tags", "section", "language", "domain", "id",
	})
	if stale, err := e.StaleSettings(t.Context()); err != nil ||
		!slices.Equal(stale, []string{"rankingRules", "synonyms"}) {
		t.Errorf("got %v, %v, want rankingRules and synonyms", stale, err)
	}
	other := meili.New(meili.Options{
		URL: f.URL, Key: meilitest.Key, Embedder: &searchtest.Embedder{}, Log: slog.New(slog.DiscardHandler),
	})
	if stale, _ := other.StaleSettings(t.Context()); !slices.Contains(stale, "embedders") {
		t.Errorf("got %v, want embedders among them", stale)
	}
}

func TestMissingActions_NamesThem(t *testing.T) {
	f := meilitest.Start(t)
	e := open(t, f, meili.Options{})
	for _, action := range e.Actions() {
		f.Forbid(action)
		if missing, err := e.MissingActions(t.Context()); err != nil || !slices.Equal(missing, []string{action}) {
			t.Errorf("got %v, %v, want %s", missing, err, action)
		}
	}
	f.Forbid()
	if names := f.Names(); !slices.Equal(names, []string{"articles"}) {
		t.Errorf("got the indexes %v, want the check to change none", names)
	}
}
