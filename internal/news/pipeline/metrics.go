package pipeline

import (
	"context"

	"dateline/internal/news/article"
)

// Meter counts what is read. A nil one counts nothing.
type Meter interface {
	// PageExtracted notes a page that was read: selectors, generic, nothing or failed.
	PageExtracted(ctx context.Context, result string)
	// FieldExtracted notes how a site's selector for a field did: filled, empty or wrong.
	FieldExtracted(ctx context.Context, field, result string)
	// SelectorsChanged notes a change of a site's selectors: learned, relearned,
	// rolled_back or failed.
	SelectorsChanged(ctx context.Context, change string)
}

// recordMetrics tells the meter of a page that was read and kept.
func (d *Consumer) recordMetrics(ctx context.Context, r Extraction) {
	if d.Meter == nil {
		return
	}
	d.Meter.PageExtracted(ctx, resultOf(r))
	if r.Article == nil {
		return
	}
	for f, found := range r.Outcome.Found {
		d.Meter.FieldExtracted(ctx, string(f), fieldResult(r, f, found))
	}
}

func resultOf(r Extraction) string {
	switch {
	case r.Failed:
		return "failed"
	case r.Article == nil:
		return "no_article"
	case r.Article.Origins[article.FieldBody].Source == article.FromSelector:
		return "selectors"
	}
	return "generic"
}

// fieldResult tells what was selected and is not believed from what was not
// selected at all.
func fieldResult(r Extraction, f article.Field, found bool) string {
	switch {
	case found:
		return "filled"
	case r.Article.Origins[f].Source == article.FromSelector:
		return "wrong"
	}
	return "empty"
}
