package pipeline

import (
	"context"
	"slices"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl/change"
)

// FieldFinder suggests values and paths for the fields of one page. The page is
// untrusted and may influence the suggestions.
type FieldFinder interface {
	Fields(ctx context.Context, p extract.Page, fields []article.Field) (map[article.Field]selector.Suggestion, error)
}

// maxLLMPages is the number of pages that an LLM is asked about, one at a time: one that
// suggests a path, and enough others to confirm it.
const maxLLMPages = 6

// addLLMPaths adds paths for fields that neither induction nor the metadata of the pages
// provides. If the LLM is unavailable or over budget, the fields stay empty.
//
// A page may manipulate the LLM. So a suggested value only counts as evidence for its
// own page, and a suggested path is confirmed by other pages only: see selector.Suggest.
func (l *Learner) addLLMPaths(
	ctx context.Context, cfg selector.Config, pages []extract.Page, heartbeat func(),
) (selector.Config, bool) {
	fields := selector.MissingFields(ctx, cfg, pages)
	if len(fields) == 0 {
		return cfg, false
	}
	suggestions := make([]map[article.Field]selector.Suggestion, len(pages))
	picked := pickPages(ctx, cfg, pages, maxLLMPages)
	for _, i := range picked {
		found, err := l.Finder.Fields(ctx, pages[i], fields)
		heartbeat()
		if err != nil {
			l.Log.Warn("the LLM suggested no fields", "error", err)
		}
		suggestions[i] = found
	}
	changed := false
	for _, f := range fields {
		for _, i := range picked {
			better, ok := l.confirmedPath(ctx, cfg, f, suggestions, i, pages)
			if heartbeat(); ok {
				cfg, changed = better, true
				break
			}
		}
	}
	return cfg, changed
}

// confirmedPath adds the first path suggested for page i that the other pages confirm.
func (l *Learner) confirmedPath(ctx context.Context, cfg selector.Config, f article.Field,
	suggestions []map[article.Field]selector.Suggestion, i int, pages []extract.Page,
) (selector.Config, bool) {
	var others []selector.Evidence
	for k, p := range pages {
		if k != i {
			others = append(others, selector.Evidence{Page: p, Value: suggestions[k][f].Value})
		}
	}
	for _, path := range suggestions[i][f].Paths {
		better, err := selector.Suggest(ctx, cfg, f, path, others)
		if err == nil {
			return better, true
		}
		l.Log.Debug("a path suggested by the LLM was not confirmed", "field", f, "error", err)
	}
	return cfg, false
}

// pickPages selects pages from all templates in turn, without near-duplicates, so that
// copies of a story count only once.
func pickPages(ctx context.Context, cfg selector.Config, pages []extract.Page, limit int) []int {
	s, err := selector.Compile(cfg)
	if err != nil {
		return nil
	}
	var texts []change.SimHash
	var order []string
	templates := map[string][]int{}
	for i, p := range pages {
		a, o, err := s.Extract(ctx, p)
		if err != nil {
			continue
		}
		text := change.SimHashOf(a.Text)
		if slices.ContainsFunc(texts, text.IsNear) {
			continue
		}
		texts = append(texts, text)
		if templates[o.Variant] == nil {
			order = append(order, o.Variant)
		}
		templates[o.Variant] = append(templates[o.Variant], i)
	}
	var out []int
	for turn := 0; len(out) < limit; turn++ {
		before := len(out)
		for _, name := range order {
			if turn < len(templates[name]) && len(out) < limit {
				out = append(out, templates[name][turn])
			}
		}
		if len(out) == before {
			break
		}
	}
	return out
}
