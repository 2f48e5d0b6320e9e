package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"

	"dateline/internal/infra/apperr"
	pages "dateline/internal/news/pipeline"
)

// PageConsumer reads the pages that the crawler has stored.
type PageConsumer interface {
	Run(ctx context.Context, stop <-chan struct{}, beat func(pages.Stats)) (pages.Stats, error)
}

// SelectorLearner does about the selectors of a site what is to be done.
type SelectorLearner interface {
	Learn(ctx context.Context, domain string, beat func()) (pages.LearnResult, error)
}

// PageCounter counts pages that wait to be read.
type PageCounter interface {
	CountWaitingPages(ctx context.Context, most int) (int, error)
}

// Articles makes articles of pages.
type Articles struct {
	Consumer PageConsumer
	Learner  SelectorLearner
	Waiting  PageCounter
}

const (
	// pagesPerExtractor is how many waiting pages call for one more reader.
	pagesPerExtractor = 1000
	// maxExtractors read at once, on all workers together.
	maxExtractors = 16
)

// PlanExtraction says how many readers there should be.
func (a *Articles) PlanExtraction(ctx context.Context) (readers int, err error) {
	waiting, err := a.Waiting.CountWaitingPages(ctx, maxExtractors*pagesPerExtractor)
	return min(1+waiting/pagesPerExtractor, maxExtractors), err
}

// ExtractPages reads stored pages for some minutes. It is safe to run again, and
// several times at once: pages are leased, and what a page brings is stored in
// the transaction that takes it off the list.
func (a *Articles) ExtractPages(ctx context.Context) (pages.Stats, error) {
	return a.Consumer.Run(ctx, activity.GetWorkerStopChannel(ctx), func(so pages.Stats) { activity.RecordHeartbeat(ctx, so.Pages) })
}

// LearnInput names a site.
type LearnInput struct {
	Domain string
}

// LearnSelectors learns selectors of a site, or takes bad ones back. What is to
// be done stands in the database, so that doing it again does nothing.
func (a *Articles) LearnSelectors(ctx context.Context, in LearnInput) (pages.LearnResult, error) {
	out, err := a.Learner.Learn(ctx, in.Domain, func() { activity.RecordHeartbeat(ctx) })
	var refused *apperr.Error
	if errors.As(err, &refused) {
		return pages.LearnResult{Action: "nothing"}, nil // of a domain that nobody knows
	}
	return out, err
}
