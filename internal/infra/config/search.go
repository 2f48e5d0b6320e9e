package config

import (
	"errors"

	"dateline/internal/news/search/meili"
)

// The engines of the search.
const (
	SearchPostgres    = "postgres"
	SearchMeilisearch = "meilisearch"
)

func searchSettings() []Setting {
	return []Setting{
		{Name: "DATELINE_SEARCH", DefaultText: "meilisearch where MEILISEARCH_URL is set, else postgres", Accepts: "postgres or meilisearch",
			Help: "What searches the articles.", set: setSearch, derive: func(c *Config) string {
				if c.MeilisearchURL != "" {
					return SearchMeilisearch
				}
				return SearchPostgres
			}},
		{Name: "MEILISEARCH_URL", Accepts: "http://host:7700", Help: "The address of Meilisearch " + meili.MinVersion + " or later.", set: toWebURL(func(c *Config) *string { return &c.MeilisearchURL })},
		{Name: "MEILISEARCH_KEY", Secret: true, Accepts: "a master or API key", Help: "Its key; dateline doctor lists the actions that it needs.", set: toString(func(c *Config) *string { return &c.MeilisearchKey })},
		{Name: "MEILISEARCH_INDEX", Default: "articles", Accepts: "a name", Help: "The index of the articles; those that are built anew begin with the same name.", set: toString(func(c *Config) *string { return &c.MeilisearchIndex })},
		{Name: "MEILISEARCH_EMBEDDER", Secret: true, Accepts: `JSON such as {"source": "huggingFace", "model": "BAAI/bge-m3"}`,
			Help: "The settings of an embedder that Meilisearch runs itself, in place of EMBEDDINGS_URL.", set: setOwnEmbedder},
		{Name: "EMBEDDINGS_URL", Accepts: "https://host/v1", Help: "An OpenAI-compatible endpoint that makes vectors; empty: the search goes by words.",
			set: toWebURL(func(c *Config) *string { return &c.EmbeddingsURL })},
		{Name: "EMBEDDINGS_KEY", Secret: true, Accepts: "a key", Help: "Its key.", set: toString(func(c *Config) *string { return &c.EmbeddingsKey })},
		{Name: "EMBEDDINGS_MODEL", Accepts: "a name, such as bge-m3", Help: "The model; one that knows Vietnamese and English.", set: toString(func(c *Config) *string { return &c.EmbeddingsModel })},
		{Name: "EMBEDDINGS_DIMENSIONS", Default: "1024", Accepts: "1 to 8192", Help: "The length of its vectors.", set: toNumber(func(c *Config) *int { return &c.EmbeddingsDimensions }, 1, 8192)},
	}
}

func setSearch(c *Config, v string) error {
	if v != SearchPostgres && v != SearchMeilisearch {
		return errors.New("is no engine")
	}
	c.Search = v
	return nil
}

func setOwnEmbedder(c *Config, v string) error {
	_, err := meili.ParseServerEmbedder(v)
	c.MeilisearchEmbedder = v
	return err
}

// searchConflicts finds settings of the search that do not go together.
func (c *Config) searchConflicts() (out Problems) {
	if c.Search == SearchMeilisearch && c.MeilisearchURL == "" {
		out = append(out, Problem{Name: "MEILISEARCH_URL", Wrong: "is not set, and DATELINE_SEARCH is meilisearch", Accepts: "http://host:7700"})
	}
	if (c.EmbeddingsURL == "") != (c.EmbeddingsModel == "") {
		out = append(out, Problem{Name: "EMBEDDINGS_URL", Wrong: "and EMBEDDINGS_MODEL go together, one of them is missing", Accepts: "both or neither"})
	}
	if c.EmbeddingsURL != "" && c.MeilisearchEmbedder != "" {
		out = append(out, Problem{Name: "MEILISEARCH_EMBEDDER", Wrong: "and EMBEDDINGS_URL are both set", Accepts: "one of them"})
	}
	return out
}
