package config

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// The search engines that DATELINE_SEARCH accepts.
const (
	SearchPostgres    = "postgres"
	SearchMeilisearch = "meilisearch"
)

func searchSettings() []Setting {
	return []Setting{
		{
			Name: "DATELINE_SEARCH", DefaultText: "meilisearch if MEILISEARCH_URL is set, otherwise postgres",
			Accepts: "postgres or meilisearch",
			Help:    "Engine of the article search.", set: setSearch, derive: func(c *Config) string {
				if c.MeilisearchURL != "" {
					return SearchMeilisearch
				}
				return SearchPostgres
			},
		},
		{
			Name: "MEILISEARCH_URL", Accepts: "http://host:7700", Help: "URL of Meilisearch 1.15 or later.",
			set: toWebURL(func(c *Config) *string { return &c.MeilisearchURL }),
		},
		{
			Name: "MEILISEARCH_KEY", Secret: true, Accepts: "a master or API key",
			Help: "API key of Meilisearch; `dateline doctor` lists the actions it needs.",
			set:  toString(func(c *Config) *string { return &c.MeilisearchKey }),
		},
		{
			Name: "MEILISEARCH_INDEX", Default: "articles", Accepts: "a name",
			Help: "Name of the article index; rebuilt indexes use it as a prefix.",
			set:  toString(func(c *Config) *string { return &c.MeilisearchIndex }),
		},
		{
			Name: "MEILISEARCH_EMBEDDER", Secret: true,
			Accepts: `JSON such as {"source": "huggingFace", "model": "BAAI/bge-m3"}`,
			Help:    "Configuration of an embedder that runs inside Meilisearch, instead of EMBEDDINGS_URL.",
			set:     setMeilisearchEmbedder,
		},
		{
			Name: "DATELINE_STORY_THRESHOLDS", DefaultText: "0.30 for Vietnamese, 0.27 for other languages",
			Accepts: "such as vi=0.32,en=0.25; values between 0.05 and 0.95",
			Help:    "Similarity from which an article joins a story, by language (ISO 639-1).",
			set:     setStoryThresholds,
		},
		{
			Name: "EMBEDDINGS_URL", Accepts: "https://host/v1",
			Help: "Base URL of an OpenAI-compatible embeddings API; empty disables semantic search.",
			set:  toWebURL(func(c *Config) *string { return &c.EmbeddingsURL }),
		},
		{
			Name: "EMBEDDINGS_KEY", Secret: true, Accepts: "an API key", Help: "API key for EMBEDDINGS_URL.",
			set: toString(func(c *Config) *string { return &c.EmbeddingsKey }),
		},
		{
			Name: "EMBEDDINGS_MODEL", Accepts: "a name, such as bge-m3",
			Help: "Embedding model; it should support Vietnamese and English.",
			set:  toString(func(c *Config) *string { return &c.EmbeddingsModel }),
		},
		{
			Name: "EMBEDDINGS_DIMENSIONS", Default: "1024", Accepts: "1 to 8192", Help: "Dimensions of the vectors.",
			set: toNumber(func(c *Config) *int { return &c.EmbeddingsDimensions }, 1, 8192),
		},
	}
}

func setSearch(c *Config, v string) error {
	if v != SearchPostgres && v != SearchMeilisearch {
		return errors.New("is not a search engine")
	}
	c.Search = v
	return nil
}

// Similarities outside of this range put everything into one story, or nothing.
const minStoryThreshold, maxStoryThreshold = .05, .95

func setStoryThresholds(c *Config, v string) error {
	c.StoryThresholds = map[string]float64{}
	for pair := range strings.SplitSeq(v, ",") {
		language, value, found := strings.Cut(strings.TrimSpace(pair), "=")
		n, err := strconv.ParseFloat(value, 64)
		if !found || len(language) != 2 || err != nil || !(n >= minStoryThreshold && n <= maxStoryThreshold) {
			return errors.New("is not a list of languages with similarities")
		}
		c.StoryThresholds[language] = n
	}
	return nil
}

func setMeilisearchEmbedder(c *Config, v string) error {
	var embedder struct {
		Source string `json:"source"`
	}
	if err := json.Unmarshal([]byte(v), &embedder); err != nil || embedder.Source == "" {
		return errors.New("is not a JSON object with a source")
	}
	c.MeilisearchEmbedder = v
	return nil
}

// searchConflicts returns search settings that contradict each other.
func (c *Config) searchConflicts() (out Problems) {
	if c.Search == SearchMeilisearch && c.MeilisearchURL == "" {
		out = append(out, Problem{
			Name: "MEILISEARCH_URL", Wrong: "is required when DATELINE_SEARCH is meilisearch",
			Accepts: "http://host:7700",
		})
	}
	if (c.EmbeddingsURL == "") != (c.EmbeddingsModel == "") {
		out = append(out, Problem{
			Name: "EMBEDDINGS_URL", Wrong: "and EMBEDDINGS_MODEL must be set together", Accepts: "both or neither",
		})
	}
	if c.EmbeddingsURL != "" && c.MeilisearchEmbedder != "" {
		out = append(out, Problem{
			Name: "MEILISEARCH_EMBEDDER", Wrong: "and EMBEDDINGS_URL are mutually exclusive",
			Accepts: "one of them",
		})
	}
	return out
}
