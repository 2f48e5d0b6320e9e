package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"

	"dateline/internal/infra/apperr"
	pages "dateline/internal/news/pipeline"
)

// PageConsumer extracts articles from crawled pages.
type PageConsumer interface {
	Run(ctx context.Context, stop <-chan struct{}, heartbeat func(pages.Stats)) (pages.Stats, error)
}

// SelectorLearner performs the requested action on the selectors of a site.
type SelectorLearner interface {
	Learn(ctx context.Context, domain string, heartbeat func()) (pages.LearnResult, error)
}

// PageCounter counts pages that are not extracted yet.
type PageCounter interface {
	CountWaitingPages(ctx context.Context, limit int) (int, error)
}

// Articles contains the activities of article extraction.
type Articles struct {
	Consumer PageConsumer
	Learner  SelectorLearner
	Waiting  PageCounter
}

const (
	// pagesPerExtractor is the number of waiting pages for each additional extractor.
	pagesPerExtractor = 1000
	// maxExtractors limits concurrent extractors on all workers together.
	maxExtractors = 16
)

// PlanExtraction returns the number of extractors to run.
func (a *Articles) PlanExtraction(ctx context.Context) (extractors int, err error) {
	waiting, err := a.Waiting.CountWaitingPages(ctx, maxExtractors*pagesPerExtractor)
	return min(1+waiting/pagesPerExtractor, maxExtractors), err
}

// ExtractPages extracts crawled pages for some minutes. It is idempotent and may run
// concurrently: pages are leased, and the result of a page is stored in the transaction
// that removes it from the queue.
func (a *Articles) ExtractPages(ctx context.Context) (pages.Stats, error) {
	return a.Consumer.Run(ctx, activity.GetWorkerStopChannel(ctx), func(stats pages.Stats) {
		activity.RecordHeartbeat(ctx, stats.Pages)
	})
}

// LearnInput names a site.
type LearnInput struct {
	Domain string
}

// LearnSelectors learns or rolls back the selectors of a site. The requested action is
// stored in the database, so repeating it does nothing.
func (a *Articles) LearnSelectors(ctx context.Context, in LearnInput) (pages.LearnResult, error) {
	out, err := a.Learner.Learn(ctx, in.Domain, func() { activity.RecordHeartbeat(ctx) })
	var refused *apperr.Error
	if errors.As(err, &refused) {
		return pages.LearnResult{Action: "none"}, nil // unknown domain
	}
	return out, err
}
