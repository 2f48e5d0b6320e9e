package selector

import (
	"slices"

	"golang.org/x/net/html"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
)

// Taken is what one path takes from a page.
type Taken struct {
	Variant string
	Field   string // a field, body or drop
	Path    string
	Matches int
	Values  []string // the first few, shortened
}

// Bounds of what Look shows.
const (
	lookValues = 5
	lookBytes  = 300
)

// Look says what every path of a configuration takes from a page, in the order of the
// configuration, also of variants that do not fit: for people who write selectors.
func (s *Selector) Look(doc *extract.Document) []Taken {
	in := newPage(doc.Root)
	var out []Taken
	for i, v := range s.variants {
		c := s.Config.Variants[i]
		for k, e := range v.body {
			out = append(out, lookAt(v.name, "body", c.Body[k], e.elements(in, nil)))
		}
		body := firstMatch(in, v.body)
		for k, e := range v.drop {
			out = append(out, lookAt(v.name, "drop", c.Drop[k], within(in, body, []*path{e})))
		}
		for _, f := range sortedFields(v.fields) {
			for k, e := range v.fields[f] {
				t := Taken{Variant: v.name, Field: string(f), Path: c.Fields[f][k]}
				for _, value := range e.texts(in) {
					if t.Matches++; len(t.Values) < lookValues {
						t.Values = append(t.Values, cut(value))
					}
				}
				out = append(out, t)
			}
		}
	}
	return out
}

func lookAt(variant, field, path string, nodes []*html.Node) Taken {
	t := Taken{Variant: variant, Field: field, Path: path, Matches: len(nodes)}
	for _, n := range nodes[:min(len(nodes), lookValues)] {
		t.Values = append(t.Values, cut(extract.Text(n, 4*lookBytes)))
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

func cut(s string) string {
	if r := []rune(s); len(r) > lookBytes {
		return string(r[:lookBytes]) + "…"
	}
	return s
}
