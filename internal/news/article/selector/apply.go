package selector

import (
	"context"
	"maps"

	"golang.org/x/net/html"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/score"
)

// maxMatches bounds what one path selects.
const maxMatches = 50

// maxFieldText is how long the text of a field other than the body is at most, in bytes.
const maxFieldText = 4000

// Outcome is how a page fared, for the site's health.
type Outcome struct {
	Variant string                 // the one that fitted; empty where none did
	Found   map[article.Field]bool // fields of the variant, and whether its paths gave their value
}

// Extract reads the article of a page with what is known of its site. What the selectors do
// not find, and a body that comes out thin, is read as on any other page.
func (s *Selector) Extract(ctx context.Context, p extract.Page) (*article.Article, Outcome, error) {
	doc, err := extract.Parse(ctx, p, extract.DefaultLimits())
	if err != nil {
		return nil, Outcome{}, err
	}
	return s.Article(ctx, doc, p)
}

// Article reads the article of a document that was parsed.
func (s *Selector) Article(ctx context.Context, doc *extract.Document, p extract.Page) (*article.Article, Outcome, error) {
	out := Outcome{Found: map[article.Field]bool{article.FieldBody: false}}
	var given extract.Selection
	in := newPage(doc.Root)
	for i := range s.variants {
		v := &s.variants[i]
		body := firstMatch(in, v.body)
		if len(body) == 0 {
			continue
		}
		out.Variant = v.name
		given = v.selection(in, body)
		for f := range v.fields {
			out.Found[f] = false
		}
		break
	}
	a, err := doc.ArticleFromSelection(ctx, p, given)
	if err != nil {
		return nil, out, err
	}
	for f := range out.Found {
		out.Found[f] = a.Origins[f].Source == article.FromSelector
	}
	return a, out, nil
}

func (v *variant) selection(in *page, body []*html.Node) extract.Selection {
	g := extract.Selection{Body: body, Values: make(map[article.Field][]string, len(v.fields))}
	for _, e := range v.drop {
		for _, b := range body {
			g.Drop = append(g.Drop, e.elements(in, b)...)
		}
	}
	for f, paths := range v.fields {
		for _, e := range paths {
			if values := e.texts(in); len(values) > 0 {
				g.Values[f] = values
				break
			}
		}
	}
	return g
}

func firstMatch(in *page, paths []*path) []*html.Node {
	for _, e := range paths {
		if found := outermost(e.elements(in, nil)); len(found) > 0 {
			return found
		}
	}
	return nil
}

// outermost drops elements that lie in one before them.
func outermost(nodes []*html.Node) []*html.Node {
	var out []*html.Node
next:
	for _, n := range nodes {
		for _, o := range out {
			for p := n; p != nil; p = p.Parent {
				if p == o {
					continue next
				}
			}
		}
		out = append(out, n)
	}
	return out
}

// minBodyOverlap is the agreement with the generic reading below which a selected body counts as
// not found.
const minBodyOverlap = 0.5

// VerifyBody compares a body that was selected with what the generic reading takes for it, for a
// sample of the pages: selectors that select something else do not come out empty. The
// outcome counts the body as not found where the two have little in common.
func VerifyBody(doc *extract.Document, a *article.Article, o Outcome) Outcome {
	if !o.Found[article.FieldBody] {
		return o
	}
	b, ok := doc.Body(a.Title)
	if !ok || score.CompareBody(b.Text, a.Text).F1() >= minBodyOverlap {
		return o
	}
	found := maps.Clone(o.Found)
	found[article.FieldBody] = false
	o.Found = found
	return o
}
