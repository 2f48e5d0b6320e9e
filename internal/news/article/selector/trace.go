package selector

import (
	"slices"

	"golang.org/x/net/html"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
)

// PathMatch is what one path matches on a page.
type PathMatch struct {
	Variant string
	Field   string // a field, body or drop
	Path    string
	Matches int
	Values  []string // the first few, shortened
}

// Limits of a trace.
const (
	maxTraceValues = 5
	maxTraceRunes  = 300
)

// Trace returns the matches of every path of a configuration, in the order of the
// configuration, including variants that don't match. It is for editing selectors.
func (s *Selector) Trace(doc *extract.Document) []PathMatch {
	in := newPage(doc.Root)
	var out []PathMatch
	for i, v := range s.variants {
		c := s.Config.Variants[i]
		for k, e := range v.body {
			out = append(out, pathMatch(v.name, "body", c.Body[k], e.elements(in, nil)))
		}
		body := firstMatch(in, v.body)
		for k, e := range v.drop {
			out = append(out, pathMatch(v.name, "drop", c.Drop[k], elementsWithin(in, body, []*path{e})))
		}
		for _, f := range sortedFields(v.fields) {
			for k, e := range v.fields[f] {
				t := PathMatch{Variant: v.name, Field: string(f), Path: c.Fields[f][k]}
				for _, value := range e.texts(in) {
					if t.Matches++; len(t.Values) < maxTraceValues {
						t.Values = append(t.Values, shorten(value))
					}
				}
				out = append(out, t)
			}
		}
	}
	return out
}

func pathMatch(variant, field, path string, nodes []*html.Node) PathMatch {
	t := PathMatch{Variant: variant, Field: field, Path: path, Matches: len(nodes)}
	for _, n := range nodes[:min(len(nodes), maxTraceValues)] {
		t.Values = append(t.Values, shorten(extract.Text(n, 4*maxTraceRunes)))
	}
	return t
}

func sortedFields(m map[article.Field][]*path) []article.Field {
	out := make([]article.Field, 0, len(m))
	for f := range m {
		out = append(out, f)
	}
	slices.Sort(out)
	return out
}

func shorten(s string) string {
	if r := []rune(s); len(r) > maxTraceRunes {
		return string(r[:maxTraceRunes]) + "…"
	}
	return s
}
