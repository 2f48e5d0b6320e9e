package cli

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"

	"dateline/activities"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
	"dateline/internal/news/search"
	"dateline/internal/news/search/embed"
	"dateline/internal/news/search/indexer"
	"dateline/internal/news/search/meili"
	"dateline/internal/news/search/pgsearch"
	"dateline/internal/news/search/savedsearch"
)

// searching contains the components of the article search.
type searching struct {
	engine  search.Engine
	service *savedsearch.Service
	missing func(ctx context.Context, limit int) (int, error)
}

// assembleSearch creates the article search, if the crawler is on.
func (p *parts) assembleSearch() error {
	if p.crawl == nil {
		return nil
	}
	var embedder search.Embedder
	if p.cfg.EmbeddingsURL != "" {
		embedder = &embed.Client{
			URL: p.cfg.EmbeddingsURL, Key: secret.NewText(p.cfg.EmbeddingsKey), Model: p.cfg.EmbeddingsModel,
			VectorLength: p.cfg.EmbeddingsDimensions, HTTP: &http.Client{},
		}
	}
	s := &searching{}
	if p.cfg.Search == config.SearchMeilisearch {
		serverEmbedder, err := meili.ParseServerEmbedder(p.cfg.MeilisearchEmbedder)
		if err != nil {
			return err
		}
		s.engine = meili.New(meili.Options{
			URL: p.cfg.MeilisearchURL, Key: p.cfg.MeilisearchKey, Index: p.cfg.MeilisearchIndex, Embedder: embedder,
			ServerEmbedder: serverEmbedder, Log: p.log,
		})
	} else {
		e := pgsearch.New(p.store.Pool(), pgsearch.Options{
			Embedder: embedder, Model: p.cfg.EmbeddingsModel, Log: p.log,
		})
		s.engine = e
		if embedder != nil {
			s.missing = e.EmbedMissing
		}
	}
	s.service = &savedsearch.Service{
		Store: p.store.News.Searches, Engine: s.engine, Meter: p.telemetry.Articles,
		SemanticAvailable: embedder != nil ||
			p.cfg.Search == config.SearchMeilisearch && p.cfg.MeilisearchEmbedder != "",
	}
	p.search = s
	return nil
}

// searchWorker returns the search activities.
func (p *parts) searchWorker() *activities.Search {
	return &activities.Search{
		Prepare: p.search.engine.Prepare, EmbedMissing: p.search.missing,
		Indexer: &indexer.Indexer{
			Store: p.store.News.Searches, Engine: p.search.engine, Events: p.bus, Meter: p.telemetry.Crawl,
			Log: p.log,
		},
	}
}

// reindex starts a workflow that rebuilds the search index, on the configured engines
// or on those of a running `dateline up`.
func (p *Program) reindex() *cobra.Command {
	c := p.command("reindex", "rebuild the search index without downtime")
	return c.run(func(ctx context.Context, _ []string) error {
		parts, err := p.assembleRunning(ctx, c)
		if err != nil {
			return err
		}
		defer parts.close()
		id, err := parts.workflows.StartReindex(ctx)
		if err == nil {
			_, err = fmt.Fprintln(p.Stdout, "Rebuilding the search index. The progress is shown by the workflow "+id+
				".")
		}
		return err
	})
}
