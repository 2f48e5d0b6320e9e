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

// forDoctorOnly reports whether an action is only needed for these checks.
func forDoctorOnly(action string) bool { return action == "version" || action == "stats.get" }

// searchEngine checks Meilisearch, if it is configured. The other search engine,
// Postgres, is checked by database.
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
		l.fail("meilisearch", "Check that Meilisearch runs, and that MEILISEARCH_URL is its address.",
			"It does not respond at %s.", o.Config.MeilisearchURL)
		return l
	}
	missing, err := e.MissingActions(ctx)
	if err != nil {
		l.fail("meilisearch", "Check the Meilisearch log.", "Its responses are incomplete: %s", err)
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
	serverEmbedder, err := meili.ParseServerEmbedder(c.MeilisearchEmbedder)
	if err != nil {
		return nil, err
	}
	options := meili.Options{
		URL: c.MeilisearchURL, Key: c.MeilisearchKey, Index: c.MeilisearchIndex,
		ServerEmbedder: serverEmbedder, Log: slog.New(slog.DiscardHandler),
	}
	if c.EmbeddingsURL != "" {
		options.Embedder = &embed.Client{
			URL: c.EmbeddingsURL, Key: secret.NewText(c.EmbeddingsKey), Model: c.EmbeddingsModel,
			VectorLength: c.EmbeddingsDimensions, HTTP: http.DefaultClient,
		}
	}
	return meili.New(options), nil
}

// key checks the permissions of the API key and reports whether the key is valid.
func key(e *meili.Engine, missing []string, l *list) bool {
	all := e.Actions()
	switch {
	case len(missing) == len(all):
		l.fail("meilisearch key", "Set MEILISEARCH_KEY to the master key, or to a key with the actions "+
			strings.Join(all, ", ")+".", "Meilisearch rejects the key.")
		return false
	case slices.ContainsFunc(missing, func(a string) bool { return !forDoctorOnly(a) }):
		l.fail("meilisearch key", "Create a key with these actions too, for all indexes with its name as prefix, and "+
			"set MEILISEARCH_KEY.",
			"The key lacks the actions %s.", strings.Join(missing, ", "))
	case len(missing) > 0:
		l.warn("meilisearch key", "Create a key with these actions too.",
			"The key lacks the actions %s, so not everything can be checked.", strings.Join(missing, ", "))
	default:
		l.ok("meilisearch key", "the key has all required actions")
	}
	return true
}

func version(ctx context.Context, e *meili.Engine, l *list) {
	v, err := e.Version(ctx)
	switch {
	case err != nil:
		l.warn("meilisearch version", "Check the Meilisearch log.", "It cannot be read: %s", err)
	case meili.IsTooOld(v):
		l.fail("meilisearch version", "Update Meilisearch to "+meili.MinVersion+" or later.",
			"Meilisearch %s is too old.", v)
	default:
		l.ok("meilisearch version", "Meilisearch %s", v)
	}
}

// indexSettings checks the settings of the index and reports whether it exists.
func indexSettings(ctx context.Context, e *meili.Engine, l *list) bool {
	stale, err := e.StaleSettings(ctx)
	switch {
	case errors.Is(err, meili.ErrNoIndex):
		l.warn("meilisearch index", "Start a worker: it creates the index. Then run: dateline reindex",
			"The index does not exist yet.")
		return false
	case err != nil:
		l.warn("meilisearch index", "Check the Meilisearch log.", "Its settings cannot be read: %s", err)
	case slices.Equal(stale, []string{"embedders"}):
		l.warn("meilisearch index", "Run: dateline reindex",
			"The embedder of the index differs from the settings; only keyword search works.")
	case len(stale) > 0:
		l.warn("meilisearch index",
			"Restart a worker of this version: it updates the settings. Check that no process of another version "+
				"uses the same index.",
			"These settings differ from those of this version: %s.", strings.Join(stale, ", "))
	default:
		l.ok("meilisearch index", "its settings are current")
	}
	return true
}

// documents compares the number of indexed and stored articles, allowing for pending
// changes.
func documents(ctx context.Context, o Options, e *meili.Engine, l *list) {
	const check = "meilisearch documents"
	indexed, err := e.Documents(ctx)
	if err != nil && !errors.Is(err, search.ErrUnavailable) && !errors.Is(err, meili.ErrNoIndex) {
		l.warn(check, "Check the Meilisearch log.", "They cannot be counted: %s", err)
		return
	}
	conn, connectErr := pgx.Connect(ctx, o.Config.DatabaseURL)
	if err != nil || connectErr != nil {
		return // reported by other checks
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var stored, pending int
	if conn.QueryRow(ctx, "select (select count(*) from articles where removed_at is null), (select count(distinct "+
		"article_id) from article_changes)").Scan(&stored, &pending) != nil {
		return // reported by the checks of the database
	}
	if difference := stored - indexed; max(difference, -difference) > pending {
		l.warn(check, "Run: dateline reindex",
			"The index has %d articles, the database %d, and %d changes are pending.", indexed, stored, pending)
		return
	}
	l.ok(check, "%d in the index, %d in the database, %d changes pending", indexed, stored, pending)
}
