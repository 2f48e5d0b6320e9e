package pipeline

import (
	"context"

	"dateline/internal/news/article"
)

// Meter counts extraction results. A nil meter is ignored.
type Meter interface {
	// PageExtracted counts a processed page: selectors, generic, no_article or failed.
	PageExtracted(ctx context.Context, result string)
	// FieldExtracted counts the result of a field with selectors: filled, empty or
	// wrong.
	FieldExtracted(ctx context.Context, field, result string)
	// SelectorsChanged counts a change of selectors: learned, relearned, rolled_back or
	// failed.
	SelectorsChanged(ctx context.Context, change string)
}

// recordMetrics counts a page that was saved.
func (c *Consumer) recordMetrics(ctx context.Context, r Extraction) {
	if c.Meter == nil {
		return
	}
	c.Meter.PageExtracted(ctx, resultOf(r))
	if r.Article == nil {
		return
	}
	for f, found := range r.Outcome.Found {
		c.Meter.FieldExtracted(ctx, string(f), fieldResult(r, f, found))
	}
}

func resultOf(r Extraction) string {
	switch {
	case r.Failed:
		return "failed"
	case r.Article == nil:
		return "no_article"
	case r.Outcome.Found[article.FieldBody], r.Article.Origins[article.FieldBody].Source == article.FromSelector:
		return "selectors"
	}
	return "generic"
}

// fieldResult distinguishes values that failed verification (wrong) from paths that
// matched nothing (empty).
func fieldResult(r Extraction, f article.Field, found bool) string {
	switch {
	case found:
		return "filled"
	case r.Article.Origins[f].Source == article.FromSelector:
		return "wrong"
	}
	return "empty"
}
