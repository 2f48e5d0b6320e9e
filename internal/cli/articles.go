package cli

import (
	"dateline/activities"
	"dateline/internal/identity/secret"
	"dateline/internal/news/llm"
	"dateline/internal/news/pipeline"
)

// newLLM returns the LLM client, or nil if none is configured or its budget is zero.
func (p *parts) newLLM() (*llm.Client, error) {
	if p.cfg.LLMURL == "" || p.cfg.LLMTokensPerDay == 0 {
		return nil, nil //nolint:nilnil // the LLM is optional
	}
	return llm.New(llm.Options{
		URL: p.cfg.LLMURL, Model: p.cfg.LLMModel, APIKey: secret.NewText(p.cfg.LLMKey),
		MaxContextTokens: p.cfg.LLMContextTokens,
		MaxTokensPerDay:  int64(p.cfg.LLMTokensPerDay), Timeout: p.cfg.LLMTimeout,
	}, p.store.News.Articles, llm.RedisCache{
		Redis: p.redis,
	})
}

// articleWorker returns the activities that extract articles from crawled pages.
func (p *parts) articleWorker() *activities.Articles {
	reader := &pipeline.Extractor{Pages: p.crawl.pages, Sites: p.crawl.sites}
	learner := &pipeline.Learner{
		Store: p.store.Extraction(), Pages: p.crawl.pages, Sites: p.crawl.sites, Meter: p.telemetry.Articles,
		Log: p.log,
	}
	if p.crawl.model != nil {
		reader.Fallback, learner.Finder = p.crawl.model, p.crawl.model
	}
	return &activities.Articles{
		Learner: learner, Waiting: p.store.News.Articles,
		Consumer: &pipeline.Consumer{
			Store: p.store.Extraction(), Extractor: reader, Learners: p.workflows, Meter: p.telemetry.Articles,
			Log: p.log,
		},
	}
}

// articles returns the article service of the API.
func (p *parts) articles() *pipeline.Service {
	return &pipeline.Service{
		Store: p.store.Extraction(), Pages: p.crawl.pages, Sites: p.crawl.sites, Learners: p.workflows,
		Log: p.log,
	}
}
