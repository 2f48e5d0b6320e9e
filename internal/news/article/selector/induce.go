package selector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
	"dateline/internal/news/article/score"
)

// Reasons why nothing was learned. They are wrapped with details; use errors.Is.
var (
	ErrTooFewPages = errors.New("too few pages with an article to learn from")
	ErrNoPath      = errors.New("no path selects the body of the articles")
	ErrNotBetter   = errors.New("the learned selectors fail on held-out pages")
	ErrContradicts = errors.New("the learned selectors contradict what editors marked")
)

// MinPages is the number of pages with an article needed to learn.
const MinPages = 4

const (
	// minBodyAgreement is the minimum agreement of a body path with the labels.
	minBodyAgreement = 0.85
	// minStatedPages is the number of held-out pages that must state their text, so that selected bodies can be
	// compared with generic ones.
	minStatedPages = 3
	// minBodyGain is by how much the agreement of selected bodies with these texts must be better, and maxPageLoss by
	// how much it may be worse on a page.
	minBodyGain = 0.005
	maxPageLoss = 0.02
	// maxBodyLoss is by how much the agreement may be below that of generic extraction,
	// from which the labels are made.
	maxBodyLoss = 0.01
	// minFieldAccuracy is the share of pages on which a field path must be right.
	minFieldAccuracy = 0.9
	// maxCandidates limits the paths that are tried for a field.
	maxCandidates = 80
)

// Induce learns selectors from pages of a site. Its labels are the results of generic
// extraction, without blocks that the pages have in common. Candidate paths are derived
// from the elements that contain the labels and scored on most pages; the best are
// validated on held-out pages. Each further template of the site becomes a variant.
func Induce(ctx context.Context, version int, pages []extract.Page) (Config, error) {
	all, err := labelPages(ctx, pages)
	if err != nil {
		return Config{}, err
	}
	cfg := Config{Version: version, Template: templateOf(all)}
	rest := all
	for len(cfg.Variants) < 3 && len(rest) >= MinPages {
		v, left, err := induceVariant(ctx, rest)
		if err != nil {
			if len(cfg.Variants) > 0 {
				break
			}
			return Config{}, err
		}
		v.Name = fmt.Sprintf("template %d", len(cfg.Variants)+1)
		cfg.Variants = append(cfg.Variants, v)
		rest = left
	}
	if len(cfg.Variants) == 0 {
		return Config{}, fmt.Errorf("%w: %d of %d, need %d", ErrTooFewPages, len(all), len(pages), MinPages)
	}
	s, err := Compile(cfg)
	if err != nil {
		return Config{}, err
	}
	for _, l := range all {
		if c := s.Contradictions(l.doc, l.label.Title); len(c) > 0 {
			return Config{}, fmt.Errorf("%w, such as %q", ErrContradicts, c[0].Text)
		}
	}
	return cfg, nil
}

func templateOf(pages []labeledPage) *extract.Template {
	docs := make([]*extract.Document, len(pages))
	for i, l := range pages {
		docs[i] = l.doc
	}
	return extract.NewTemplate(docs)
}

// induceVariant learns the most common template and returns the pages of other
// templates.
func induceVariant(ctx context.Context, pages []labeledPage) (Variant, []labeledPage, error) {
	to, err := bodyPath(ctx, pages)
	if err != nil {
		return Variant{}, nil, err
	}
	body, err := compilePath(to)
	if err != nil {
		return Variant{}, nil, err
	}
	var matching, rest []labeledPage
	for _, l := range pages {
		if l.bodyAgreement(body.elements(l.page, nil), nil) >= 0.5 {
			matching = append(matching, l)
		} else {
			rest = append(rest, l)
		}
	}
	if len(matching) < MinPages {
		return Variant{}, nil, fmt.Errorf("%w: the best, %s, matches %d of %d pages", ErrNoPath, to, len(matching),
			len(pages))
	}
	train, held := split(matching)
	v := Variant{Body: []string{to}, Fields: map[article.Field][]string{}, Scores: map[article.Field]float64{}}
	v.Drop = dropPaths(train, body)
	for _, f := range learnableFields() {
		if p, s := fieldPath(f, train, held); p != "" {
			v.Fields[f], v.Scores[f] = []string{p}, s
		}
	}
	drop, err := compile("drop", v.Drop)
	if err != nil {
		return Variant{}, nil, err
	}
	sum, generic := 0.0, 0.0
	for _, l := range held {
		nodes := body.elements(l.page, nil)
		sum += l.bodyAgreement(nodes, elementsWithin(l.page, nodes, drop))
		generic += l.genericAgreement()
	}
	v.Scores[article.FieldBody] = sum / float64(len(held))
	v.GenericBody = !selectsBetter(train, held, body, drop)
	if sum+float64(len(held))*maxBodyLoss < generic {
		return Variant{}, nil, fmt.Errorf("%w: the agreement of %s is %.3f, that of generic extraction %.3f",
			ErrNotBetter, to, v.Scores[article.FieldBody], generic/float64(len(held)))
	}
	if v.Scores[article.FieldBody] < minBodyAgreement {
		return Variant{}, nil, fmt.Errorf("%w: the agreement of %s is %.2f", ErrNotBetter, to,
			v.Scores[article.FieldBody])
	}
	return v, rest, nil
}

// selectsBetter reports whether selected bodies are better than generic ones on held-out pages: nearer to the text that
// the pages state in their metadata. Labels cannot show it, because they come from generic extraction.
func selectsBetter(train, held []labeledPage, body *path, drop []*path) bool {
	template := templateOf(train)
	gain, pages := 0.0, 0
	for i := range held {
		l := &held[i]
		if l.stated == "" {
			continue
		}
		nodes := body.elements(l.page, nil)
		l.doc.UseTemplate(template)
		generic, _ := l.doc.Body(l.label.Title)
		selected := l.selectedBlocks(nodes, elementsWithin(l.page, nodes, drop))
		l.doc.UseTemplate(nil)
		diff := score.CompareBody(l.stated, strings.Join(selected, "\n\n")).F1() -
			score.CompareBody(l.stated, generic.Text).F1()
		if diff < -maxPageLoss {
			return false
		}
		gain += diff
		pages++
	}
	return pages >= minStatedPages && gain >= minBodyGain*float64(pages)
}

// split holds out every third page.
func split(pages []labeledPage) (train, held []labeledPage) {
	for i, l := range pages {
		if i%3 == 2 {
			held = append(held, l)
		} else {
			train = append(train, l)
		}
	}
	return train, held
}

// bodyPath returns the path to the body with the best agreement.
func bodyPath(ctx context.Context, pages []labeledPage) (string, error) {
	train, _ := split(pages)
	pool := map[string]int{}
	for _, l := range train {
		at := smallestContainer(l.confirmedBody())
		for up := 0; at != nil && at.Type == html.ElementNode && at.Data != "html" && up < 4; up, at = up+1, at.Parent {
			for _, c := range pathsTo(at) {
				addCandidate(pool, candidate{c.path, c.cost + 3*up})
			}
		}
	}
	best, top := "", 0.0
	for _, c := range cheapest(pool) {
		if err := ctx.Err(); err != nil {
			return "", fmt.Errorf("learn selectors: %w", context.Cause(ctx))
		}
		e, err := compilePath(c.path)
		if err != nil || checkPath(c.path) != nil {
			continue
		}
		sum := 0.0
		for i := range train {
			sum += train[i].bodyAgreement(e.elements(train[i].page, nil), nil)
		}
		// Simpler paths are more robust, so their cost counts a little.
		if s := sum/float64(len(train)) - 0.001*float64(c.cost); s > top {
			best, top = c.path, s
		}
	}
	if best == "" || top < 0.4 {
		return "", ErrNoPath
	}
	return best, nil
}

// smallestContainer returns the smallest element that contains nearly all of the text.
func smallestContainer(b extract.Body) *html.Node {
	chars := map[*html.Node]int{}
	all := 0
	for i, n := range b.Elements {
		all += len(b.Blocks[i])
		for ; n != nil; n = n.Parent {
			chars[n] += len(b.Blocks[i])
		}
	}
	at := b.Root
	for {
		var next *html.Node
		for c := at.FirstChild; c != nil; c = c.NextSibling {
			if chars[c]*20 >= all*19 {
				next = c
			}
		}
		if next == nil || next.Type != html.ElementNode {
			return at
		}
		at = next
	}
}

func addCandidate(pool map[string]int, c candidate) {
	if old, ok := pool[c.path]; !ok || c.cost < old {
		pool[c.path] = c.cost
	}
}

// cheapest sorts candidates by cost and limits their number.
func cheapest(pool map[string]int) []candidate {
	out := make([]candidate, 0, len(pool))
	for p, c := range pool {
		out = append(out, candidate{p, c})
	}
	slices.SortFunc(out, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(len(a.path), len(b.path)), cmp.Compare(a.path, b.path))
	})
	return out[:min(len(out), maxCandidates)]
}

// Propose derives selectors from a single page, as a draft for editing. They are not
// validated: a single page does not show what belongs to the template.
func Propose(ctx context.Context, p extract.Page) (Config, error) {
	pages, err := labelPages(ctx, []extract.Page{p})
	if err != nil {
		return Config{}, err
	}
	if len(pages) == 0 {
		return Config{}, fmt.Errorf("%w: the page contains none", ErrTooFewPages)
	}
	to, err := bodyPath(ctx, pages)
	if err != nil {
		return Config{}, err
	}
	v := Variant{Name: "proposal", Body: []string{to}, Fields: map[article.Field][]string{}}
	for _, f := range learnableFields() {
		if to, share := bestPath(f, pages, 1); share > 0 {
			v.Fields[f] = []string{to}
		}
	}
	c := Config{Variants: []Variant{v}}
	return c, c.Validate()
}
