// Package selector reads the pages of sites that are known: XPath expressions per field, that
// people write or Induce learns from a few pages, checked on pages that it did not learn from,
// and watched by Monitor for the day the site changes its templates.
package selector

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/antchfx/xpath"

	"dateline/internal/news/article"
)

// ErrConfig is wrapped by what is wrong with a configuration.
var ErrConfig = errors.New("the selectors are not valid")

// Config is how the pages of one site are read. It is stored as JSON, one version per change.
type Config struct {
	Version  int       `json:"version"`
	Variants []Variant `json:"variants"` // templates of the site; the first that fits is taken
}

// Variant is one template of a site: articles, live tickers, picture stories.
type Variant struct {
	Name   string                     `json:"name"`
	Body   []string                   `json:"body"` // XPath of the elements that hold the text; the first that fits
	Drop   []string                   `json:"drop,omitempty"`
	Fields map[article.Field][]string `json:"fields,omitempty"` // XPath of elements or attributes
	// Scores are what validation on held-out pages gave, per field, from 0 to 1.
	Scores map[article.Field]float64 `json:"scores,omitempty"`
}

// Bounds on what a configuration may ask for: people edit them.
const (
	maxVariants      = 8
	maxPathsPerField = 8   // per field
	maxPathBytes     = 400 // bytes
)

// Fields that selectors may name, besides the body.
func isSelectable(f article.Field) bool {
	return slices.Contains([]article.Field{article.FieldTitle, article.FieldAuthors, article.FieldPublished, article.FieldUpdated,
		article.FieldLead, article.FieldImage, article.FieldSection, article.FieldTags}, f)
}

// Validate says what is wrong with a configuration.
func (c Config) Validate() error {
	_, err := Compile(c)
	return err
}

// Selector is a compiled configuration. It may be used by many goroutines.
type Selector struct {
	Config   Config
	variants []variant
}

type variant struct {
	name   string
	body   []*path
	drop   []*path
	fields map[article.Field][]*path
}

// Compile checks a configuration and makes it ready for use.
func Compile(c Config) (*Selector, error) {
	if len(c.Variants) == 0 || len(c.Variants) > maxVariants {
		return nil, fmt.Errorf("%w: there are %d variants, and 1 to %d may be", ErrConfig, len(c.Variants), maxVariants)
	}
	s := &Selector{Config: c}
	for _, v := range c.Variants {
		if len(v.Body) == 0 {
			return nil, fmt.Errorf("%w: variant %q has no path to the body", ErrConfig, v.Name)
		}
		out := variant{name: v.Name, fields: map[article.Field][]*path{}}
		var err error
		if out.body, err = compile("body", v.Body); err != nil {
			return nil, err
		}
		if out.drop, err = compile("drop", v.Drop); err != nil {
			return nil, err
		}
		for f, paths := range v.Fields {
			if !isSelectable(f) {
				return nil, fmt.Errorf("%w: %q is no field that a path can name", ErrConfig, f)
			}
			if out.fields[f], err = compile(string(f), paths); err != nil {
				return nil, err
			}
		}
		s.variants = append(s.variants, out)
	}
	return s, nil
}

func compile(field string, paths []string) ([]*path, error) {
	if len(paths) > maxPathsPerField {
		return nil, fmt.Errorf("%w: %d paths for %s, and at most %d may be", ErrConfig, len(paths), field, maxPathsPerField)
	}
	out := make([]*path, 0, len(paths))
	for _, p := range paths {
		if err := checkPath(p); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrConfig, field, err)
		}
		e, err := compilePath(p)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrConfig, field, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// checkPath refuses what could take quadratic time on a large page: looking through the whole
// page again for each element, and axes that run across it.
func checkPath(p string) error {
	if p == "" || len(p) > maxPathBytes {
		return fmt.Errorf("a path has 1 to %d characters", maxPathBytes)
	}
	for _, axis := range []string{"following", "preceding", "descendant", "ancestor", "self::", "namespace::"} {
		if strings.Contains(p, axis) {
			return fmt.Errorf("%q: the axis %s is not supported", p, strings.TrimSuffix(axis, "::"))
		}
	}
	depth, quote := 0, byte(0)
	for i := range len(p) {
		c := p[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth > 0 && c == '/' && i+1 < len(p) && p[i+1] == '/':
			return fmt.Errorf("%q: no // inside of a condition", p)
		}
	}
	if strings.Count(p, "//") > 3 || strings.Contains(p, "|") {
		return fmt.Errorf("%q: at most three // and no union; give several paths", p)
	}
	return nil
}

// compileXPath guards against expressions that make the library panic.
func compileXPath(p string) (e *xpath.Expr, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, err = nil, fmt.Errorf("%q is no XPath: %v", p, r)
		}
	}()
	e, err = xpath.Compile(p)
	if err != nil {
		return nil, fmt.Errorf("%q is no XPath: %w", p, err)
	}
	return e, nil
}
