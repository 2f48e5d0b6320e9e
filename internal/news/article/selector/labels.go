package selector

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/score"
)

// labeledPage is a page with the result of generic extraction as its label, which is
// usually but not always right.
type labeledPage struct {
	doc      *extract.Document
	page     *page
	label    *article.Article
	body     extract.Body
	text     string          // stated, else the text of body without repeated blocks
	repeated map[string]bool // blocks that other pages have too, or that an editor marked as no part of the text
	dates    dates.Options
	// stated is the text in the metadata of the page, if generic extraction confirms it: a second reading of the page.
	stated string
}

const (
	minStatedBytes     = 250
	minStatedAgreement = 0.5 // with the text of generic extraction; less is an excerpt, or another text
)

// labelPages labels pages and skips those without an article.
func labelPages(ctx context.Context, pages []extract.Page) ([]labeledPage, error) {
	out := make([]labeledPage, 0, len(pages))
	for _, p := range pages {
		doc, err := extract.Parse(ctx, p, extract.DefaultLimits())
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		a, err := doc.Article(ctx, p)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue
		}
		b, ok := doc.UnmarkedBody(a.Title)
		if !ok {
			continue
		}
		l := labeledPage{
			doc: doc, page: newPage(doc.Root), label: a, body: b, dates: doc.DateOptions(p),
			repeated: map[string]bool{},
		}
		if t := doc.StatedBody(); len(t) >= minStatedBytes && score.CompareBody(t, b.Text).F1() >= minStatedAgreement {
			l.stated = t
		}
		// What an editor marked as no part of the text is dropped like what the pages repeat.
		extra, _ := doc.ContradictedMarks(b)
		for _, text := range extra {
			l.repeated[text] = true
		}
		out = append(out, l)
	}
	counts := map[string]int{}
	for _, l := range out {
		seen := map[string]bool{}
		for _, b := range l.body.Blocks {
			if !seen[b] {
				counts[b]++
				seen[b] = true
			}
		}
	}
	for i := range out {
		l := &out[i]
		var unique []string
		for _, b := range l.body.Blocks {
			if len(out) > 2 && counts[b] > 1 {
				l.repeated[b] = true
			}
			if !l.repeated[b] {
				unique = append(unique, b)
			}
		}
		l.text = strings.Join(unique, "\n\n")
		if l.stated != "" {
			l.text = l.stated
		}
	}
	return out, nil
}

// agreement returns how well selected values match a label, from 0 to 1.
func (l *labeledPage) agreement(f article.Field, values []string) float64 {
	if len(values) == 0 {
		return 0
	}
	yes := false
	first := extract.Plain(values[0])
	switch f {
	case article.FieldTitle:
		yes = first == extract.Plain(l.label.Title)
	case article.FieldAuthors:
		all, names := extract.Plain(strings.Join(values, " ")), 0
		yes = len(l.label.Authors) > 0 && len(values) <= 2*len(l.label.Authors)
		for _, a := range l.label.Authors {
			yes = yes && strings.Contains(all, extract.Plain(a))
			names += len(extract.Plain(a))
		}
		yes = yes && len(all) <= 2*names+12
	case article.FieldPublished:
		d, ok := dates.Parse(values[0], l.dates)
		yes = ok && d.HasTime && d.Time.Sub(l.label.Published).Abs() < 60e9
	case article.FieldLead:
		yes = first != "" && strings.HasSuffix(first, extract.Plain(l.label.Lead)) &&
			len(first) < 2*len(extract.Plain(l.label.Lead))
	case article.FieldSection:
		yes = first == extract.Plain(l.label.Section)
	}
	if yes {
		return 1
	}
	return 0
}

// bodyAgreement returns how well the text of selected elements matches the label, from 0
// to 1.
func (l *labeledPage) bodyAgreement(nodes, drop []*html.Node) float64 {
	blocks := l.selectedBlocks(nodes, drop)
	return score.CompareBody(l.text, strings.Join(slices.DeleteFunc(blocks, func(s string) bool {
		return l.repeated[s]
	}), "\n\n")).F1()
}

// selectedBlocks returns the text of selected elements; none: they are no body.
func (l *labeledPage) selectedBlocks(nodes, drop []*html.Node) []string {
	nodes = outermost(nodes)
	if len(nodes) == 0 || len(nodes) > 8 {
		return nil
	}
	b, _ := l.doc.BodyOf(nodes, drop, l.label.Title)
	return b.Blocks
}

// confirmedBody returns the blocks of the body that are in the text that the page states.
func (l *labeledPage) confirmedBody() extract.Body {
	if l.stated == "" {
		return l.body
	}
	out := extract.Body{Root: l.body.Root}
	for i, text := range l.body.Blocks {
		if strings.Contains(l.stated, text) {
			out.Blocks, out.Elements = append(out.Blocks, text), append(out.Elements, l.body.Elements[i])
		}
	}
	if len(out.Blocks) == 0 {
		return l.body
	}
	return out
}

// genericAgreement returns how well generic extraction, including repeated blocks,
// matches the label.
func (l *labeledPage) genericAgreement() float64 {
	return score.CompareBody(l.text, l.body.Text).F1()
}

// findLabel returns the elements whose text or attribute is the label of a field. The
// head is skipped: generic extraction reads metadata anyway, and selectors are for pages
// without it.
func (l *labeledPage) findLabel(f article.Field) (nodes []*html.Node, attrs []string) {
	const maxNodes = 12
	var walk func(n *html.Node, depth int) bool
	walk = func(n *html.Node, depth int) bool {
		if len(nodes) >= maxNodes || depth > 500 {
			return false
		}
		inside := false
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode && walk(c, depth+1) {
				inside = true
			}
		}
		if n.Type != html.ElementNode || inside {
			return inside
		}
		switch n.Data {
		case "title", "script", "meta":
			return false
		}
		for _, k := range []string{"content", "datetime"} {
			for _, a := range n.Attr {
				if a.Key == k && l.agreement(f, []string{a.Val}) == 1 {
					nodes, attrs = append(nodes, n), append(attrs, k)
					return true
				}
			}
		}
		if t := extract.Text(n, 1500); t != "" && l.agreement(f, []string{t}) == 1 {
			nodes, attrs = append(nodes, n), append(attrs, "")
			return true
		}
		return false
	}
	walk(l.doc.Root, 0)
	return nodes, attrs
}
