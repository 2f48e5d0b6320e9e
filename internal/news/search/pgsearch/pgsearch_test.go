package pgsearch_test

import (
	"log/slog"
	"testing"

	"dateline/internal/news/search"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/searchtest"
	"dateline/internal/testing/storetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func open(t *testing.T, embedder search.Embedder) *pgsearch.Engine {
	t.Helper()
	return pgsearch.New(storetest.Open(t).Pool(), pgsearch.Options{
		Embedder: embedder, Model: "test", Log: slog.New(slog.DiscardHandler),
	})
}

func TestSuite(t *testing.T) {
	searchtest.Run(t, searchtest.Rig{
		Open: func(t *testing.T, e search.Embedder) search.Engine { return open(t, e) },
		NDCG: 0.95, Recall: 0.96, First: 0.93, Corrects: true,
	})
}
