package cli

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"dateline/activities"
	"dateline/internal/cli/progress"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/config"
	"dateline/internal/infra/retry"
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

// rebuilds starts and cancels rebuilds of the search index.
func (p *parts) rebuilds() *indexer.Rebuilds {
	return &indexer.Rebuilds{Store: p.store.News.Searches, Workflows: p.workflows}
}

// reindex rebuilds the search index, on the configured engines or on those of a running
// `dateline up`.
func (p *Program) reindex() *cobra.Command {
	c := p.command("reindex", "rebuild the search index without downtime")
	detach := c.Flags().Bool("detach", false, "do not wait for the end; Ctrl-C cancels a rebuild that is waited for")
	open := c.showProgress()
	return c.run(func(ctx context.Context, _ []string) error {
		line := open()
		parts, err := p.assembleRunning(ctx, c)
		if err != nil {
			return err
		}
		defer parts.close()
		rebuilds := parts.rebuilds()
		if _, err := rebuilds.Start(ctx); err != nil {
			return canceled(ctx, err, "no rebuild was started")
		}
		if *detach {
			return p.printResult(nil, "Rebuilding the search index. The dashboard shows the progress.")
		}
		return p.awaitRebuild(ctx, rebuilds, line)
	})
}

// rebuildInterval is the interval in which the progress of a rebuild is read.
const rebuildInterval = 500 * time.Millisecond

// awaitRebuild shows the progress of a rebuild until its end, and cancels it with ctx.
func (p *Program) awaitRebuild(ctx context.Context, rebuilds *indexer.Rebuilds, line *progress.Line) error {
	defer line.End()
	for {
		r, err := rebuilds.Get(ctx)
		at := progress.State{Done: r.Done, Total: r.Total, Unit: "articles"}
		switch {
		case err != nil && ctx.Err() == nil:
			return err
		case r.Status == indexer.RebuildDone:
			line.End()
			return p.printResult(nil, "The search index is rebuilt: %s.", progress.Amount(r.Done, at.Unit))
		case r.Status == indexer.RebuildCanceled:
			return errors.New("the rebuild was canceled by somebody else")
		case err == nil && r.Status == indexer.RebuildRunning:
			line.Update("Rebuilding the search index", at)
		}
		if retry.Sleep(ctx, rebuildInterval) != nil {
			line.End()
			r, err := rebuilds.Cancel(context.WithoutCancel(ctx))
			at.Done, at.Total = r.Done, r.Total
			return errors.Join(canceled(ctx, ctx.Err(), "the search works as before (%s); run the command again to "+
				"start from the beginning", at), err)
		}
	}
}
