package doctor_test

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"dateline/internal/infra/config"
	"dateline/internal/news/search"
	"dateline/internal/news/search/meili"
	"dateline/internal/news/search/meili/meilitest"
	"dateline/internal/ops/doctor"
	"dateline/internal/testing/searchtest"
)

func TestRun_ChecksMeilisearch(t *testing.T) {
	p := open(t)
	if slices.ContainsFunc(p.examine(), func(f doctor.Finding) bool { return f.Check == "meilisearch" }) {
		t.Error("got a Meilisearch check, want none with Postgres")
	}
	f := meilitest.Start(t)
	c := p.options.Config
	c.Search, c.MeilisearchURL, c.MeilisearchKey, c.MeilisearchIndex = config.SearchMeilisearch, f.URL, meilitest.Key,
		"articles"
	p.want("meilisearch index", doctor.Warning, "does not exist yet", "dateline reindex")

	e := meili.New(meili.Options{
		URL: f.URL, Key: meilitest.Key, PollInterval: time.Millisecond, Log: slog.New(slog.DiscardHandler),
	})
	p.Must(e.Prepare(t.Context()))
	p.want("meilisearch key", doctor.OK, "all required actions", "")
	p.want("meilisearch version", doctor.OK, "1.50.0", "")
	p.want("meilisearch index", doctor.OK, "settings are current", "")
	p.want("meilisearch documents", doctor.OK, "0 in the index, 0 in the database", "")

	d := search.Document{
		ID: searchtest.ID("a"), Version: 1, URL: "https://x.example/a", Domain: "x.example",
		Title: "A", Published: time.Now(),
	}
	searchtest.Store(p.Newsroom, d, time.Now())
	p.want("meilisearch documents", doctor.OK, "0 in the index, 1 in the database, 1 changes pending", "")
	p.Exec("delete from article_changes")
	p.want("meilisearch documents", doctor.Warning, "0 articles, the database 1", "dateline reindex")
	p.Must(e.Index(t.Context(), []search.Document{d}))
	p.want("meilisearch documents", doctor.OK, "1 in the index", "")

	f.Change("articles", "sortableAttributes", []any{})
	p.want("meilisearch index", doctor.Warning, "sortableAttributes", "Restart a worker")
	f.Version("1.14.0")
	p.want("meilisearch version", doctor.Failure, "1.14.0 is too old", meili.MinVersion)
	f.Forbid("indexes.swap", "version")
	p.want("meilisearch key", doctor.Failure, "lacks the actions indexes.swap, version", "Create a key")
	f.Forbid("stats.get")
	p.want("meilisearch key", doctor.Warning, "lacks the actions stats.get", "Create a key")
	f.Forbid()
	c.MeilisearchKey = "another-key"
	p.want("meilisearch key", doctor.Failure, "rejects the key", "indexes.swap")
	c.MeilisearchURL = "http://127.0.0.1:1"
	p.want("meilisearch", doctor.Failure, "does not respond", "MEILISEARCH_URL")
}
