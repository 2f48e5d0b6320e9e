package selector

import (
	"context"
	"fmt"

	"dateline/internal/news/article"
	"dateline/internal/news/article/extract"
)

// Propose writes selectors from a single page, for a person to look at and change. They are
// not validated: one page cannot tell what belongs to the template from what belongs to the
// story.
func Propose(ctx context.Context, p extract.Page) (Config, error) {
	pages, err := label(ctx, []extract.Page{p})
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
	for _, f := range learnable() {
		if to, share := bestPath(f, pages, 1); share > 0 {
			v.Fields[f] = []string{to}
		}
	}
	c := Config{Variants: []Variant{v}}
	return c, c.Validate()
}
