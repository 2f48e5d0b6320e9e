package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"

	"dateline/internal/infra/apperr"
	pages "dateline/internal/news/pipeline"
)

// PageDrainer reads the pages that the crawler has stored.
type PageDrainer interface {
	Drain(ctx context.Context, stop <-chan struct{}, beat func(pages.Drained)) (pages.Drained, error)
}

// SelectorLearner does about the selectors of a site what is to be done.
type SelectorLearner interface {
	Learn(ctx context.Context, domain string, beat func()) (pages.Learnt, error)
}

// PageCounter counts pages that wait to be read.
type PageCounter interface {
	CrawledWaiting(ctx context.Context, most int) (int, error)
}

// Articles makes articles of pages.
type Articles struct {
	Drainer PageDrainer
	Learner SelectorLearner
	Waiting PageCounter
}

const (
	// pagesPerReader is how many waiting pages call for one more reader.
	pagesPerReader = 1000
	// mostReaders read at once, on all workers together.
	mostReaders = 16
)

// PlanReading says how many readers there should be.
func (a *Articles) PlanReading(ctx context.Context) (readers int, err error) {
	waiting, err := a.Waiting.CrawledWaiting(ctx, mostReaders*pagesPerReader)
	return min(1+waiting/pagesPerReader, mostReaders), err
}

// ReadPages reads stored pages for some minutes. It is safe to run again, and
// several times at once: pages are leased, and what a page brings is stored in
// the transaction that takes it off the list.
func (a *Articles) ReadPages(ctx context.Context) (pages.Drained, error) {
	return a.Drainer.Drain(ctx, activity.GetWorkerStopChannel(ctx), func(so pages.Drained) { activity.RecordHeartbeat(ctx, so.Pages) })
}

// LearnInput names a site.
type LearnInput struct {
	Domain string
}

// LearnSelectors learns selectors of a site, or takes bad ones back. What is to
// be done stands in the database, so that doing it again does nothing.
func (a *Articles) LearnSelectors(ctx context.Context, in LearnInput) (pages.Learnt, error) {
	out, err := a.Learner.Learn(ctx, in.Domain, func() { activity.RecordHeartbeat(ctx) })
	var refused *apperr.Error
	if errors.As(err, &refused) {
		return pages.Learnt{Action: "nothing"}, nil // of a domain that nobody knows
	}
	return out, err
}
