package selector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/net/html"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
)

// Reasons why nothing was learned. They are wrapped with particulars; use errors.Is.
var (
	ErrTooFewPages = errors.New("too few pages with an article to learn from")
	ErrNoPath      = errors.New("no path selects the article's body on the pages")
	ErrNotBetter   = errors.New("what was learned does not hold on pages it was not learned from")
)

// MinPages is how many pages with an article it takes to learn.
const MinPages = 4

const (
	// minBodyAgreement is the agreement from which on a path to the body is believed.
	minBodyAgreement = 0.85
	// minFieldAccuracy is the share of pages on which a path to another field must be right.
	minFieldAccuracy = 0.9
	// maxCandidates bounds the paths that are tried for one field.
	maxCandidates = 80
)

// Induce learns how a site's pages are read. Its labels are what the generic reading takes
// for the article on each page, without blocks that the pages share. Paths are made from the
// elements that hold the labels, scored on all pages but the held-out ones, and the best are
// checked on those. A second template of the site becomes a variant of its own.
func Induce(ctx context.Context, version int, pages []extract.Page) (Config, error) {
	all, err := labelPages(ctx, pages)
	if err != nil {
		return Config{}, err
	}
	cfg := Config{Version: version}
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
		return Config{}, fmt.Errorf("%w: %d of %d, and it takes %d", ErrTooFewPages, len(all), len(pages), MinPages)
	}
	return cfg, cfg.Validate()
}

// induceVariant learns the most common template and gives back the pages of others.
func induceVariant(ctx context.Context, pages []labeledPage) (Variant, []labeledPage, error) {
	to, err := bodyPath(ctx, pages)
	if err != nil {
		return Variant{}, nil, err
	}
	body, err := compilePath(to)
	if err != nil {
		return Variant{}, nil, err
	}
	var mine, left []labeledPage
	for _, l := range pages {
		if l.bodyAgreement(body.elements(l.page, nil), nil) >= 0.5 {
			mine = append(mine, l)
		} else {
			left = append(left, l)
		}
	}
	if len(mine) < MinPages {
		return Variant{}, nil, fmt.Errorf("%w: the best one, %s, fits %d of %d", ErrNoPath, to, len(mine), len(pages))
	}
	train, held := split(mine)
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
	sum := 0.0
	for _, l := range held {
		nodes := body.elements(l.page, nil)
		sum += l.bodyAgreement(nodes, elementsWithin(l.page, nodes, drop))
	}
	v.Scores[article.FieldBody] = sum / float64(len(held))
	if v.Scores[article.FieldBody] < minBodyAgreement {
		return Variant{}, nil, fmt.Errorf("%w: %s agrees by %.2f", ErrNotBetter, to, v.Scores[article.FieldBody])
	}
	return v, left, nil
}

// split holds every third page back.
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

// bodyPath finds the path to the body that agrees best over the pages it is scored on.
func bodyPath(ctx context.Context, pages []labeledPage) (string, error) {
	train, _ := split(pages)
	pool := map[string]int{}
	for _, l := range train {
		at := smallestContainer(l.body)
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
		// A plainer path is worth a little agreement: it will hold longer.
		if s := sum/float64(len(train)) - 0.001*float64(c.cost); s > top {
			best, top = c.path, s
		}
	}
	if best == "" || top < 0.4 {
		return "", ErrNoPath
	}
	return best, nil
}

// smallestContainer is the smallest element that holds nearly all of a text.
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

// cheapest orders a pool by cost and bounds it.
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

// Propose writes selectors from a single page, for a person to look at and change. They are
// not validated: one page cannot tell what belongs to the template from what belongs to the
// story.
func Propose(ctx context.Context, p extract.Page) (Config, error) {
	pages, err := labelPages(ctx, []extract.Page{p})
	if err != nil {
		return Config{}, err
	}
	if len(pages) == 0 {
		return Config{}, fmt.Errorf("%w: the page has none", ErrTooFewPages)
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
