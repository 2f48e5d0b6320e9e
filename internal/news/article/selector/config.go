// Package selector extracts articles from sites with selectors: XPath expressions per
// field, written by members or learned from a few pages by Induce, validated on held-out
// pages, and watched by Monitor, which detects when a site changes its templates.
package selector

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/antchfx/xpath"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
)

// ErrConfig is wrapped by errors of invalid selectors.
var ErrConfig = errors.New("invalid selectors")

// Config is a version of the selectors of a site, stored as JSON.
type Config struct {
	Version  int       `json:"version"`
	Variants []Variant `json:"variants"` // templates of the site; the first whose body matches is used
	// Template is what the pages have in common, learned together with the variants.
	Template *extract.Template `json:"template,omitempty"`
}

// Variant is a template of a site, such as articles, live tickers or picture stories.
type Variant struct {
	Name string `json:"name"`
	// XPath of the elements with the text; the first that matches is used
	Body   []string                   `json:"body"`
	Drop   []string                   `json:"drop,omitempty"`
	Fields map[article.Field][]string `json:"fields,omitempty"` // XPath of elements or attributes
	// GenericBody says that Body only recognizes the template: the text is extracted generically, because what Body
	// selects is not better on held-out pages.
	GenericBody bool `json:"generic_body,omitempty"`
	// Scores are the validation scores on held-out pages, from 0 to 1.
	Scores map[article.Field]float64 `json:"scores,omitempty"`
}

// Limits of a configuration.
const (
	maxVariants      = 8
	maxPathsPerField = 8   // per field
	maxPathBytes     = 400 // bytes
)

// isSelectable reports whether selectors can select a field, besides the body.
func isSelectable(f article.Field) bool {
	return slices.Contains([]article.Field{
		article.FieldTitle, article.FieldAuthors, article.FieldPublished,
		article.FieldUpdated,
		article.FieldLead, article.FieldImage, article.FieldSection, article.FieldTags,
	}, f)
}

// Validate returns an error if the configuration is invalid.
func (c Config) Validate() error {
	_, err := Compile(c)
	return err
}

// Selector is a compiled configuration. It is safe for concurrent use.
type Selector struct {
	Config   Config
	variants []variant
}

type variant struct {
	name        string
	body        []*path
	drop        []*path
	fields      map[article.Field][]*path
	isLearned   bool
	genericBody bool
}

// Compile validates and compiles a configuration.
func Compile(c Config) (*Selector, error) {
	if len(c.Variants) == 0 || len(c.Variants) > maxVariants {
		return nil, fmt.Errorf("%w: got %d variants, want 1 to %d", ErrConfig, len(c.Variants), maxVariants)
	}
	s := &Selector{Config: c}
	for _, v := range c.Variants {
		if len(v.Body) == 0 {
			return nil, fmt.Errorf("%w: variant %q has no path to the body", ErrConfig, v.Name)
		}
		out := variant{
			name: v.Name, fields: map[article.Field][]*path{}, isLearned: v.Scores != nil, genericBody: v.GenericBody,
		}
		var err error
		if out.body, err = compile("body", v.Body); err != nil {
			return nil, err
		}
		if out.drop, err = compile("drop", v.Drop); err != nil {
			return nil, err
		}
		for f, paths := range v.Fields {
			if !isSelectable(f) {
				return nil, fmt.Errorf("%w: %q is not a selectable field", ErrConfig, f)
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
		return nil, fmt.Errorf("%w: %d paths for %s, at most %d are allowed", ErrConfig, len(paths), field,
			maxPathsPerField)
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

// checkPath rejects expressions that could take quadratic time on a large page:
// searching the whole page for each element, and axes across it.
func checkPath(p string) error {
	if p == "" || len(p) > maxPathBytes {
		return fmt.Errorf("a path must have 1 to %d characters", maxPathBytes)
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
			return fmt.Errorf("%q: // is not supported in predicates", p)
		}
	}
	if strings.Count(p, "//") > 3 || strings.Contains(p, "|") {
		return fmt.Errorf("%q: at most three // and no |; use several paths instead", p)
	}
	return nil
}

// compileXPath recovers from expressions that make the library panic.
func compileXPath(p string) (e *xpath.Expr, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, err = nil, fmt.Errorf("%q is not valid XPath: %v", p, r)
		}
	}()
	e, err = xpath.Compile(p)
	if err != nil {
		return nil, fmt.Errorf("%q is not valid XPath: %w", p, err)
	}
	return e, nil
}
