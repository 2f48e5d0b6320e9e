package selector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"dateline/internal/article"
	"dateline/internal/article/extract"
)

// ErrDoesNotHold is wrapped by the reason why a path that somebody suggested is not taken.
var ErrDoesNotHold = errors.New("the path does not hold on other pages")

const (
	// suggestedOn is the share of the pages on which a suggested path must find something.
	suggestedOn = 0.75
	// minTried is how many pages a suggestion is tried on at least.
	minTried = 3
)

// Lacking lists the fields that a configuration has no path for and that fewer than half of the
// pages state themselves.
func Lacking(ctx context.Context, c Config, pages []extract.Page) []article.Field {
	counts, read := map[article.Field]int{}, 0
	for _, p := range pages {
		a, err := extract.Extract(ctx, p)
		if err != nil {
			continue
		}
		read++
		for _, f := range learnable() {
			if a.Has(f) {
				counts[f]++
			}
		}
	}
	var out []article.Field
	for _, f := range learnable() {
		named := slices.ContainsFunc(c.Variants, func(v Variant) bool { return len(v.Fields[f]) > 0 })
		if !named && 2*counts[f] < read {
			out = append(out, f)
		}
	}
	return out
}

// Suggest adds a path that somebody suggests for a field, if it holds on the pages given, which
// must be others than the suggestion was made from: it finds the field on most of them, agrees
// with those that state it, and finds different things on different pages where that must be so.
// The path goes into all variants of the configuration.
func Suggest(ctx context.Context, c Config, f article.Field, path string, pages []extract.Page) (Config, error) {
	if !slices.Contains(learnable(), f) {
		return c, fmt.Errorf("%w: %q is no field that is learned", ErrConfig, f)
	}
	better := with(c, f, path)
	s, err := Compile(better)
	if err != nil {
		return c, err
	}
	tried, found, values := 0, 0, map[string]bool{}
	for _, p := range pages {
		label, err := extract.Extract(ctx, p)
		if err != nil {
			continue
		}
		a, o, err := s.Extract(ctx, p)
		if err != nil || o.Variant == "" {
			continue
		}
		tried++
		if !o.Found[f] {
			continue
		}
		found++
		values[valueOf(a, f)] = true
		if label.Has(f) && valueOf(label, f) != valueOf(a, f) {
			return c, fmt.Errorf("%w: it takes %q for the %s where the page states %q", ErrDoesNotHold, short(valueOf(a, f)), f, short(valueOf(label, f)))
		}
	}
	switch {
	case tried < minTried:
		return c, fmt.Errorf("%w: there are %d to try it on, and it takes %d", ErrDoesNotHold, tried, minTried)
	case float64(found) < suggestedOn*float64(tried):
		return c, fmt.Errorf("%w: it finds the %s on %d of %d", ErrDoesNotHold, f, found, tried)
	case f != article.FieldAuthors && f != article.FieldSection && 2*len(values) <= found:
		return c, fmt.Errorf("%w: it finds the same %s on most of them", ErrDoesNotHold, f)
	}
	for i, v := range better.Variants {
		v.Scores = maps.Clone(v.Scores)
		if v.Scores == nil {
			v.Scores = map[article.Field]float64{}
		}
		v.Scores[f] = float64(found) / float64(tried)
		better.Variants[i] = v
	}
	return better, nil
}

// with gives a configuration in which all variants have one path to a field.
func with(c Config, f article.Field, path string) Config {
	c.Variants = slices.Clone(c.Variants)
	for i, v := range c.Variants {
		v.Fields = maps.Clone(v.Fields)
		if v.Fields == nil {
			v.Fields = map[article.Field][]string{}
		}
		v.Fields[f] = []string{path}
		c.Variants[i] = v
	}
	return c
}

// Agree says whether a path takes the same from a page as one of several others, and takes
// something.
func Agree(ctx context.Context, c Config, f article.Field, path string, others []string, p extract.Page) bool {
	value, ok := taken(ctx, with(c, f, path), f, p)
	return ok && slices.ContainsFunc(others, func(other string) bool {
		same, ok := taken(ctx, with(c, f, other), f, p)
		return ok && same == value
	})
}

func taken(ctx context.Context, c Config, f article.Field, p extract.Page) (value string, ok bool) {
	s, err := Compile(c)
	if err != nil {
		return "", false
	}
	a, o, err := s.Extract(ctx, p)
	if err != nil || !o.Found[f] {
		return "", false
	}
	return valueOf(a, f), true
}

// valueOf writes a field down, for comparing.
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

func short(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
