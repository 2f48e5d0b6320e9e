package eval

import (
	"context"

	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/score"
	"dateline/internal/news/article/selector"
)

// maxLearnPages is the number of pages that the pipeline learns from.
const maxLearnPages = 12

// measureLearned extracts each page of a site with several pages with selectors that
// were learned from the others, and generically.
func (r *Result) measureLearned(ctx context.Context, pages []score.Page) {
	sites := map[string][]score.Page{}
	for _, p := range pages {
		if p.Body != "" {
			sites[p.Domain()] = append(sites[p.Domain()], p)
		}
	}
	for i, p := range pages {
		site := sites[p.Domain()]
		if p.Body == "" || len(site) < 2 || ctx.Err() != nil {
			continue
		}
		var others []extract.Page
		for _, o := range site {
			if o.Key != p.Key && len(others) < maxLearnPages {
				others = append(others, extract.Page{HTML: o.HTML, URL: o.URL})
			}
		}
		generic := compare(pages[i], extractOwn(ctx, p))
		learned := compare(pages[i], extractLearned(ctx, p, others))
		for _, g := range r.groupsOf(p) {
			r.Groups[g].LearnedGeneric.merge(generic)
			r.Groups[g].Learned.merge(learned)
		}
	}
}

func extractLearned(ctx context.Context, p score.Page, others []extract.Page) Extracted {
	cfg, err := selector.Induce(ctx, 1, others)
	if err != nil {
		return extractOwn(ctx, p)
	}
	s, err := selector.Compile(cfg)
	if err != nil {
		return extractOwn(ctx, p)
	}
	a, _, err := s.Extract(ctx, extract.Page{HTML: p.HTML, URL: p.URL})
	if err != nil {
		return Extracted{}
	}
	return extractedOf(a)
}
