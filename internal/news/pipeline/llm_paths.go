package pipeline

import (
	"context"
	"slices"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/selector"
	"dateline/internal/news/crawl/change"
)

// FieldFinder is shown one page and says of its fields what they hold and how
// they are selected. The page may make it say anything.
type FieldFinder interface {
	Fields(ctx context.Context, p extract.Page, fields []article.Field) (map[article.Field]selector.Suggestion, error)
}

// maxLLMPages is how many pages a model is asked about, each by itself: one that
// suggests a path, and enough others to bear it out against some that lie.
const maxLLMPages = 6

// addLLMPaths has fields found that neither induction nor the pages' own statements
// give. A model that is away, or has used up its day, leaves them empty.
//
// A page may talk the model into anything. So a page's word counts as one vote
// for its own value, and a path that it suggests is judged by the other pages
// alone: see selector.Suggest.
func (l *Learner) addLLMPaths(ctx context.Context, cfg selector.Config, pages []extract.Page, beat func()) (selector.Config, bool) {
	fields := selector.MissingFields(ctx, cfg, pages)
	if len(fields) == 0 {
		return cfg, false
	}
	said := make([]map[article.Field]selector.Suggestion, len(pages))
	asked := pickPages(ctx, cfg, pages, maxLLMPages)
	for _, i := range asked {
		found, err := l.Finder.Fields(ctx, pages[i], fields)
		beat()
		if err != nil {
			l.Log.Warn("the language model was of no help", "error", err)
		}
		said[i] = found
	}
	more := false
	for _, f := range fields {
		for _, i := range asked {
			better, ok := l.confirmedPath(ctx, cfg, f, said, i, pages)
			if beat(); ok {
				cfg, more = better, true
				break
			}
		}
	}
	return cfg, more
}

// confirmedPath takes the first path of what was said of page i that the other pages
// bear out.
func (l *Learner) confirmedPath(ctx context.Context, cfg selector.Config, f article.Field, said []map[article.Field]selector.Suggestion, i int, pages []extract.Page) (selector.Config, bool) {
	var others []selector.Evidence
	for k, p := range pages {
		if k != i {
			others = append(others, selector.Evidence{Page: p, Value: said[k][f].Value})
		}
	}
	for _, path := range said[i][f].Paths {
		better, err := selector.Suggest(ctx, cfg, f, path, others)
		if err == nil {
			return better, true
		}
		l.Log.Debug("a path of the language model does not hold", "field", f, "error", err)
	}
	return cfg, false
}

// pickPages chooses pages to ask about: of all templates in turn, and no text
// twice, so that one story at many addresses has one vote.
func pickPages(ctx context.Context, cfg selector.Config, pages []extract.Page, most int) []int {
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
	for turn := 0; len(out) < most; turn++ {
		before := len(out)
		for _, name := range order {
			if turn < len(templates[name]) && len(out) < most {
				out = append(out, templates[name][turn])
			}
		}
		if len(out) == before {
			break
		}
	}
	return out
}
