package selector

import (
	"context"
	"maps"

	"golang.org/x/net/html"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/score"
)

// maxMatches limits the matches of a path.
const maxMatches = 50

// maxFieldText limits the text of fields other than the body, in bytes.
const maxFieldText = 4000

// Outcome is the result of selectors on a page, for monitoring.
type Outcome struct {
	Variant string                 // the variant that matched; empty: none
	Found   map[article.Field]bool // for each field of the variant, whether its paths found the value
}

// Extract extracts the article of a page. Fields that selectors don't find, and bodies
// that are too short, use generic extraction.
func (s *Selector) Extract(ctx context.Context, p extract.Page) (*article.Article, Outcome, error) {
	doc, err := extract.Parse(ctx, p, extract.DefaultLimits())
	if err != nil {
		return nil, Outcome{}, err
	}
	return s.Article(ctx, doc, p)
}

// Article extracts the article of a parsed document. Learned selectors are used only if
// generic extraction confirms the body; otherwise the article is extracted generically,
// and all fields count as not found. They are used for the fields of which generic extraction is not sure, and for the
// body if it was better on held-out pages. What a member wrote is used in any case.
func (s *Selector) Article(
	ctx context.Context, doc *extract.Document, p extract.Page,
) (*article.Article, Outcome, error) {
	a, out, _, err := s.article(ctx, doc, p)
	return a, out, err
}

// Explain extracts the article of a parsed document, and explains which blocks of the page are its text.
func (s *Selector) Explain(
	ctx context.Context, doc *extract.Document, p extract.Page,
) (*article.Article, []extract.PageBlock, error) {
	a, _, used, err := s.article(ctx, doc, p)
	return a, doc.Explain(a, used), err
}

func (s *Selector) article(
	ctx context.Context, doc *extract.Document, p extract.Page,
) (a *article.Article, out Outcome, used extract.Selection, err error) {
	out = Outcome{Found: map[article.Field]bool{article.FieldBody: false}}
	in := newPage(doc.Root)
	doc.UseTemplate(s.Config.Template)
	var v *variant
	for i := range s.variants {
		body := firstMatch(in, s.variants[i].body)
		if len(body) == 0 {
			continue
		}
		v = &s.variants[i]
		out.Variant = v.name
		used = v.selection(in, body)
		for f := range v.fields {
			out.Found[f] = false
		}
		break
	}
	if v != nil && v.isLearned {
		generic, err := doc.Article(ctx, p)
		if err == nil && !isUsable(doc, generic, used) {
			return generic, out, extract.Selection{}, nil
		}
		if err == nil && v.useOnlyBetter(generic, &used, out.Found) {
			return generic, out, used, nil
		}
	}
	if v != nil && v.genericBody {
		used.Body, used.Drop, out.Found[article.FieldBody] = nil, nil, true
	}
	if a, err = doc.ArticleFromSelection(ctx, p, used); err != nil {
		return nil, out, used, err
	}
	for f, found := range out.Found {
		out.Found[f] = found || a.Origins[f].Source == article.FromSelector
	}
	return a, out, used, nil
}

// minSureConfidence is the confidence from which the value of generic extraction is used: a statement of the page.
const minSureConfidence = 0.8

// useOnlyBetter removes what generic extraction finds as well from the selection of learned selectors, and notes it as
// found. It reports whether nothing is left.
func (v *variant) useOnlyBetter(generic *article.Article, used *extract.Selection, found map[article.Field]bool) bool {
	if v.genericBody {
		used.Body, used.Drop, found[article.FieldBody] = nil, nil, true
	}
	for f, values := range used.Values {
		if len(values) > 0 && generic.Has(f) && generic.Origins[f].Confidence >= minSureConfidence {
			found[f] = true
			delete(used.Values, f)
		}
	}
	return len(used.Body) == 0 && len(used.Values) == 0
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

// outermost removes elements that are inside an earlier one.
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

// A learned body may lack what generic extraction finds, because it drops what the pages
// of the site have in common, but it must add little.
const (
	minUsableHit   = 0.8 // share of the body that generic extraction finds too
	minUsableShare = 0.6 // share of the generic body that the body contains
)

// isUsable reports whether generic extraction confirms a selected body.
func isUsable(doc *extract.Document, generic *article.Article, given extract.Selection) bool {
	b, ok := doc.BodyOf(given.Body, given.Drop, generic.Title)
	if !ok {
		return true // the body is extracted generically
	}
	b, _ = doc.WithMarks(b, ok)
	c := score.CompareBody(generic.Text, b.Text)
	return c.Precision() >= minUsableHit && c.Recall() >= minUsableShare
}

// minBodyOverlap is the agreement with generic extraction below which a selected body
// counts as not found.
const minBodyOverlap = 0.5

// VerifyBody compares a selected body with generic extraction, for a sample of pages,
// because selectors that match the wrong element still return text. If the two have
// little in common, the body counts as not found.
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
