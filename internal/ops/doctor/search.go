package doctor

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
	"dateline/internal/news/search"
	"dateline/internal/news/search/embed"
	"dateline/internal/news/search/meili"
)

// forDoctorOnly are the actions of a key without which the search works.
func forDoctorOnly(action string) bool { return action == "version" || action == "stats.get" }

// searchEngine checks the Meilisearch of the settings. Postgres, the other
// engine, is checked as the database.
func searchEngine(ctx context.Context, o Options) []Finding {
	var l list
	if o.Config.Search != config.SearchMeilisearch || o.Config.MeilisearchURL == "" {
		return nil
	}
	e, err := meilisearch(o.Config)
	if err != nil {
		l.fail("meilisearch", "Correct MEILISEARCH_EMBEDDER.", "The embedder %s.", err)
		return l
	}
	if err := e.Reachable(ctx); err != nil {
		l.fail("meilisearch", "Check that Meilisearch runs, and that MEILISEARCH_URL is its address.", "It does not answer at %s.", o.Config.MeilisearchURL)
		return l
	}
	missing, err := e.MissingActions(ctx)
	if err != nil {
		l.fail("meilisearch", "See the log of Meilisearch.", "Its answers are incomplete: %s", err)
		return l
	}
	if !key(e, missing, &l) {
		return l
	}
	can := func(action string) bool { return !slices.Contains(missing, action) }
	if can("version") {
		version(ctx, e, &l)
	}
	if can("settings.get") && !indexSettings(ctx, e, &l) {
		return l
	}
	if can("stats.get") {
		documents(ctx, o, e, &l)
	}
	return l
}

func meilisearch(c *config.Config) (*meili.Engine, error) {
	own, err := meili.ParseServerEmbedder(c.MeilisearchEmbedder)
	if err != nil {
		return nil, err
	}
	options := meili.Options{URL: c.MeilisearchURL, Key: c.MeilisearchKey, Index: c.MeilisearchIndex, ServerEmbedder: own, Log: slog.New(slog.DiscardHandler)}
	if c.EmbeddingsURL != "" {
		options.Embedder = &embed.Client{URL: c.EmbeddingsURL, Key: secret.NewText(c.EmbeddingsKey), Model: c.EmbeddingsModel, VectorLength: c.EmbeddingsDimensions, HTTP: http.DefaultClient}
	}
	return meili.New(options), nil
}

// key reports whether the key is one at all.
func key(e *meili.Engine, missing []string, l *list) bool {
	all := e.Actions()
	switch {
	case len(missing) == len(all):
		l.fail("meilisearch key", "Set MEILISEARCH_KEY to the master key, or to a key with the actions "+strings.Join(all, ", ")+".", "Meilisearch refuses the key.")
		return false
	case slices.ContainsFunc(missing, func(a string) bool { return !forDoctorOnly(a) }):
		l.fail("meilisearch key", "Create a key with these actions too, for the index and those whose names begin with its name, and set MEILISEARCH_KEY.",
			"The key lacks the actions %s.", strings.Join(missing, ", "))
	case len(missing) > 0:
		l.warn("meilisearch key", "Create a key with these actions too.", "The key lacks the actions %s, so not everything can be checked.", strings.Join(missing, ", "))
	default:
		l.ok("meilisearch key", "the key has all actions that are needed")
	}
	return true
}

func version(ctx context.Context, e *meili.Engine, l *list) {
	v, err := e.Version(ctx)
	switch {
	case err != nil:
		l.warn("meilisearch version", "See the log of Meilisearch.", "It cannot be read: %s", err)
	case meili.IsTooOld(v):
		l.fail("meilisearch version", "Update Meilisearch to "+meili.MinVersion+" or later.", "Meilisearch %s is too old.", v)
	default:
		l.ok("meilisearch version", "Meilisearch %s", v)
	}
}

// indexSettings reports whether there is an index.
func indexSettings(ctx context.Context, e *meili.Engine, l *list) bool {
	stale, err := e.StaleSettings(ctx)
	switch {
	case errors.Is(err, meili.ErrNoIndex):
		l.warn("meilisearch index", "Start a worker: it creates the index. Then run: dateline reindex", "The index does not exist yet.")
		return false
	case err != nil:
		l.warn("meilisearch index", "See the log of Meilisearch.", "Its settings cannot be read: %s", err)
	case slices.Equal(stale, []string{"embedders"}):
		l.warn("meilisearch index", "Run: dateline reindex", "The embedder of the index is not that of the settings; searches go by words only.")
	case len(stale) > 0:
		l.warn("meilisearch index", "Restart a worker of this version: it updates the settings. Check that no process of another version uses the same index.",
			"These settings differ from those of this version: %s.", strings.Join(stale, ", "))
	default:
		l.ok("meilisearch index", "its settings are those of this version")
	}
	return true
}

// documents compares the index with the articles. What waits to be indexed may
// be missing in it, or be in it still.
func documents(ctx context.Context, o Options, e *meili.Engine, l *list) {
	const check = "meilisearch documents"
	indexed, err := e.Documents(ctx)
	if err != nil && !errors.Is(err, search.ErrUnavailable) && !errors.Is(err, meili.ErrNoIndex) {
		l.warn(check, "See the log of Meilisearch.", "They cannot be counted: %s", err)
		return
	}
	conn, connectErr := pgx.Connect(ctx, o.Config.DatabaseURL)
	if err != nil || connectErr != nil {
		return // the other findings say why
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var stored, waiting int
	if conn.QueryRow(ctx, "select (select count(*) from articles where removed_at is null), (select count(distinct article_id) from article_changes)").Scan(&stored, &waiting) != nil {
		return // the schema is behind, or the database busy: its own findings say so
	}
	if apart := stored - indexed; max(apart, -apart) > waiting {
		l.warn(check, "Run: dateline reindex", "The index has %d articles, the database %d, and %d changes wait to be indexed.", indexed, stored, waiting)
		return
	}
	l.ok(check, "%d in the index, %d in the database, %d changes wait", indexed, stored, waiting)
}
