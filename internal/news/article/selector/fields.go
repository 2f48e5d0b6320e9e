package selector

import (
	"golang.org/x/net/html"

	"dateline/internal/news/article"
)

// learnableFields returns the fields, besides the body, for which paths are learned.
func learnableFields() []article.Field {
	return []article.Field{
		article.FieldTitle, article.FieldAuthors, article.FieldPublished, article.FieldLead,
		article.FieldSection,
	}
}

// fieldPath returns the path to a field and its accuracy on held-out pages. Fields on
// which the pages disagree use generic extraction.
func fieldPath(f article.Field, train, held []labeledPage) (string, float64) {
	best, _ := bestPath(f, train, 2)
	if best == "" {
		return "", 0
	}
	e, err := compilePath(best)
	if err != nil {
		return "", 0
	}
	s, n := accuracy(f, held, e)
	if n == 0 || s < minFieldAccuracy {
		return "", 0
	}
	return best, s
}

// bestPath returns the path that is right most often, on at least the given number of
// pages.
func bestPath(f article.Field, pages []labeledPage, atLeast int) (best string, share float64) {
	pool := map[string]int{}
	for i := range pages {
		if !pages[i].label.Has(f) {
			continue
		}
		nodes, attrs := pages[i].findLabel(f)
		for k, n := range nodes {
			for _, c := range pathsTo(n) {
				if attrs[k] != "" {
					c.path += "/@" + attrs[k]
				}
				addCandidate(pool, c)
			}
		}
	}
	for _, c := range cheapest(pool) {
		e, err := compilePath(c.path)
		if err != nil || checkPath(c.path) != nil {
			continue
		}
		if s, n := accuracy(f, pages, e); n >= atLeast && s >= minFieldAccuracy && s-0.001*float64(c.cost) > share {
			best, share = c.path, s-0.001*float64(c.cost)
		}
	}
	return best, share
}

// accuracy returns the share of labeled pages on which a path selects the label.
func accuracy(f article.Field, pages []labeledPage, e *path) (share float64, n int) {
	sum := 0.0
	for i := range pages {
		if pages[i].label.Has(f) {
			n++
			sum += pages[i].agreement(f, e.texts(pages[i].page))
		}
	}
	if n == 0 {
		return 0, 0
	}
	return sum / float64(n), n
}

// dropPaths returns paths to elements inside the body that contain only text repeated on
// other pages.
func dropPaths(pages []labeledPage, body *path) []string {
	pool := map[string]int{}
	for _, l := range pages {
		for i, b := range l.body.Blocks {
			if l.repeated[b] {
				el := l.body.Elements[i]
				for up := 0; el != nil && up < 3 && len(steps(el)) == 0; up++ {
					el = el.Parent
				}
				if el == nil || el == l.body.Root {
					continue
				}
				for _, s := range steps(el) {
					addCandidate(pool, candidate{".//" + s.path, s.cost})
				}
			}
		}
	}
	var out []string
	for _, c := range cheapest(pool) {
		e, err := compilePath(c.path)
		if err != nil || len(out) >= maxPathsPerField {
			continue
		}
		if matchesOnlyRepeated(pages, body, e) {
			out = append(out, c.path)
		}
	}
	return out
}

func matchesOnlyRepeated(pages []labeledPage, body, e *path) bool {
	for _, l := range pages {
		for _, n := range elementsWithin(l.page, body.elements(l.page, nil), []*path{e}) {
			for i, el := range l.body.Elements {
				if !l.repeated[l.body.Blocks[i]] && isInside(el, n) {
					return false
				}
			}
		}
	}
	return true
}

func isInside(n, outer *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == outer {
			return true
		}
	}
	return false
}

func elementsWithin(in *page, roots []*html.Node, paths []*path) []*html.Node {
	var out []*html.Node
	for _, e := range paths {
		for _, r := range roots {
			out = append(out, e.elements(in, r)...)
		}
	}
	return out
}
