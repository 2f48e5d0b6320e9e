package selector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
	"dateline/internal/news/article/extract"
)

// ErrNotConfirmed is wrapped by the reason why a suggested path is rejected.
var ErrNotConfirmed = errors.New("the path is not confirmed by other pages")

const (
	// minSuggestionCoverage is the share of pages on which a suggested path must match.
	minSuggestionCoverage = 0.75
	// minSuggestionPages is the minimum number of pages to test a suggestion on.
	minSuggestionPages = 3
)

// MissingFields returns the fields that the configuration has no path for and that fewer
// than half of the pages state in their metadata.
func MissingFields(ctx context.Context, c Config, pages []extract.Page) []article.Field {
	counts, read := map[article.Field]int{}, 0
	for _, p := range pages {
		a, err := extract.Extract(ctx, p)
		if err != nil {
			continue
		}
		read++
		for _, f := range learnableFields() {
			if a.Has(f) {
				counts[f]++
			}
		}
	}
	var out []article.Field
	for _, f := range learnableFields() {
		named := slices.ContainsFunc(c.Variants, func(v Variant) bool { return len(v.Fields[f]) > 0 })
		if !named && 2*counts[f] < read {
			out = append(out, f)
		}
	}
	return out
}

// Suggestion is an untrusted suggestion for one field of a page, for example from an
// LLM.
type Suggestion struct {
	Value string   // as written on the page; empty: none
	Paths []string // XPath expressions, the best first
}

// Evidence is a page and the value that was suggested for it independently of other
// pages. It confirms or contradicts its own value only, because pages may manipulate
// suggestions.
type Evidence struct {
	Page  extract.Page
	Value string // as written on the page; empty: unknown or none
}

// minAgreeingPages is the minimum number of pages that must confirm a suggestion.
const minAgreeingPages = 3

// Suggest adds a suggested path for a field if other pages confirm it. pages must not
// contain the page that the suggestion came from.
//
// The expected value of a page is its metadata, else the suggested value. The path must
// match on most pages, select the expected value on at least three pages and on more
// pages than it contradicts, and select different values on different pages. So a few
// manipulated pages cannot change the extraction of others. The path is added to the
// variants whose own pages confirm it.
func Suggest(ctx context.Context, c Config, f article.Field, path string, pages []Evidence) (Config, error) {
	if !slices.Contains(learnableFields(), f) {
		return c, fmt.Errorf("%w: %q is not a learnable field", ErrConfig, f)
	}
	s, err := Compile(withPath(c, f, path, func(Variant) bool { return true }))
	if err != nil {
		return c, err
	}
	all, each, values := pathTrial{}, map[string]*pathTrial{}, map[string]bool{}
	for _, w := range pages {
		one, variant, value := tryPath(ctx, s, f, w)
		if one.tried == 0 {
			continue
		}
		if one.found > 0 {
			values[value] = true
		}
		if each[variant] == nil {
			each[variant] = &pathTrial{}
		}
		all.add(one)
		each[variant].add(one)
	}
	switch {
	case all.tried < minSuggestionPages:
		return c, fmt.Errorf("%w: %d pages to test it on, need %d", ErrNotConfirmed, all.tried, minSuggestionPages)
	case !all.coversPages():
		return c, fmt.Errorf("%w: it finds the %s on %d of %d pages", ErrNotConfirmed, f, all.found, all.tried)
	case all.agree < minAgreeingPages || all.agree <= all.differ:
		return c, fmt.Errorf("%w: %d pages confirm it for the %s, %d contradict it", ErrNotConfirmed, all.agree, f,
			all.differ)
	case f != article.FieldAuthors && f != article.FieldSection && 2*len(values) <= all.found:
		return c, fmt.Errorf("%w: it finds the same %s on most pages", ErrNotConfirmed, f)
	}
	better := withPath(c, f, path, func(v Variant) bool {
		t := each[v.Name]
		return t != nil && t.coversPages() && t.agree > t.differ
	})
	for i, v := range better.Variants {
		t := each[v.Name]
		if len(v.Fields[f]) == 0 || t == nil {
			continue
		}
		v.Scores = maps.Clone(v.Scores)
		if v.Scores == nil {
			v.Scores = map[article.Field]float64{}
		}
		v.Scores[f] = float64(t.found) / float64(t.tried)
		better.Variants[i] = v
	}
	return better, nil
}

// pathTrial counts the results of a path.
type pathTrial struct{ tried, found, agree, differ int }

func (t *pathTrial) add(o pathTrial) {
	t.tried, t.found, t.agree, t.differ = t.tried+o.tried, t.found+o.found, t.agree+o.agree, t.differ+o.differ
}

func (t *pathTrial) coversPages() bool {
	return float64(t.found) >= minSuggestionCoverage*float64(t.tried)
}

// tryPath tests a path on one page.
func tryPath(ctx context.Context, s *Selector, f article.Field, w Evidence) (t pathTrial, variant, value string) {
	doc, err := extract.Parse(ctx, w.Page, extract.DefaultLimits())
	if err != nil {
		return t, "", ""
	}
	l := labeledPage{doc: doc, page: newPage(doc.Root), dates: doc.DateOptions(w.Page)}
	if l.label, err = doc.Article(ctx, w.Page); err != nil {
		return t, "", ""
	}
	a, o, err := s.Article(ctx, doc, w.Page)
	if err != nil || o.Variant == "" {
		return t, "", ""
	}
	t.tried = 1
	if !o.Found[f] {
		return t, o.Variant, ""
	}
	t.found = 1
	value = valueOf(a, f)
	switch stated := l.label.Has(f); {
	case stated && valueOf(l.label, f) == value, !stated && w.Value != "" && l.matchesCopied(f, a, w.Value):
		t.agree = 1
	case stated || w.Value != "":
		t.differ = 1
	}
	if f != article.FieldTitle && extract.Plain(value) == extract.Plain(l.label.Title) {
		t.agree, t.differ = 0, 1 // the headline is never the value of another field
	}
	return t, o.Variant, value
}

// matchesCopied reports whether an extracted value matches a suggested one.
func (l *labeledPage) matchesCopied(f article.Field, a *article.Article, copied string) bool {
	if f == article.FieldPublished {
		d, ok := dates.Parse(copied, l.dates)
		apart := d.Time.Sub(a.Published).Abs()
		return ok && (apart < time.Minute || (a.DateOnly || !d.HasTime) && apart < 24*time.Hour)
	}
	own := *l
	own.label = a
	return own.agreement(f, []string{copied}) == 1
}

// withPath returns a configuration in which the selected variants have one path to a
// field.
func withPath(c Config, f article.Field, path string, which func(Variant) bool) Config {
	c.Variants = slices.Clone(c.Variants)
	for i, v := range c.Variants {
		if !which(v) {
			continue
		}
		v.Fields = maps.Clone(v.Fields)
		if v.Fields == nil {
			v.Fields = map[article.Field][]string{}
		}
		v.Fields[f] = []string{path}
		c.Variants[i] = v
	}
	return c
}

// valueOf returns a field as text, for comparison.
func valueOf(a *article.Article, f article.Field) string {
	switch f {
	case article.FieldTitle:
		return a.Title
	case article.FieldAuthors:
		return fmt.Sprint(a.Authors)
	case article.FieldPublished:
		return a.Published.String()
	case article.FieldLead:
		return a.Lead
	case article.FieldSection:
		return a.Section
	}
	return ""
}
