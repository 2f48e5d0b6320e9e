package config_test

import (
	"strings"
	"testing"

	"dateline/internal/infra/config"
)

func TestLoad_SearchDefaultsToMeilisearchIfConfigured(t *testing.T) {
	t.Chdir(t.TempDir())
	for want, environ := range map[string][]string{
		config.SearchPostgres: {},
		config.SearchMeilisearch: {
			"MEILISEARCH_URL=http://meili.internal:7700", "MEILISEARCH_KEY=secret-of-meili",
			`MEILISEARCH_EMBEDDER={"source": "huggingFace", "model": "x"}`,
		},
	} {
		c, err := config.Load("", environ)
		if err != nil || c.Search != want || strings.Contains(c.String(), "secret-of-meili") {
			t.Errorf("%v: %v, %v", environ, c, err)
		}
	}
	if c, err := config.Load("", []string{
		"MEILISEARCH_URL=http://meili.internal:7700", "DATELINE_SEARCH=postgres",
		"EMBEDDINGS_URL=http://llm.internal/v1", "EMBEDDINGS_MODEL=m",
	}); err != nil ||
		c.Search != config.SearchPostgres || c.EmbeddingsDimensions != 1024 {
		t.Errorf("%v, %v", c, err)
	}
	for _, environ := range [][]string{
		{"DATELINE_SEARCH=meilisearch"},
		{"DATELINE_SEARCH=solr"},
		{"EMBEDDINGS_URL=http://llm.internal/v1"},
		{"MEILISEARCH_EMBEDDER=huggingFace"},
		{"EMBEDDINGS_URL=http://llm.internal/v1", "EMBEDDINGS_MODEL=m", `MEILISEARCH_EMBEDDER={"source": "rest"}`},
		{"EMBEDDINGS_DIMENSIONS=0"},
	} {
		if _, err := config.Load("", environ); err == nil {
			t.Errorf("%v: got no error, want one", environ)
		}
	}
}
