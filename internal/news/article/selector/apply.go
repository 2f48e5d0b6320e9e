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
// and all fields count as not found. What a member wrote is used in any case.
func (s *Selector) Article(
	ctx context.Context, doc *extract.Document, p extract.Page,
) (*article.Article, Outcome, error) {
	out := Outcome{Found: map[article.Field]bool{article.FieldBody: false}}
	var given extract.Selection
	isLearned := false
	in := newPage(doc.Root)
	doc.UseTemplate(s.Config.Template)
	for i := range s.variants {
		v := &s.variants[i]
		body := firstMatch(in, v.body)
		if len(body) == 0 {
			continue
		}
		out.Variant = v.name
		isLearned = s.Config.Variants[i].Scores != nil
		given = v.selection(in, body)
		for f := range v.fields {
			out.Found[f] = false
		}
		break
	}
	if isLearned {
		generic, err := doc.Article(ctx, p)
		if err == nil && !isUsable(doc, generic, given) {
			return generic, out, nil
		}
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
