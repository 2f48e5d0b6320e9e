package wordpress

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"dateline/platforms/article"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of an article.
// https://developer.wordpress.org/rest-api/reference/posts/#create-a-post
type PostOptions struct {
	Title         string   `json:"title,omitempty"` // empty: the first line of the text
	Excerpt       string   `json:"excerpt,omitempty"`
	Slug          string   `json:"slug,omitempty"`           // empty: made from the title
	Categories    []string `json:"categories,omitempty"`     // names or slugs; empty: the site's default
	Tags          []string `json:"tags,omitempty"`           // names; missing ones are created
	FeaturedImage string   `json:"featured_image,omitempty"` // first (also if empty) or none
	Visibility    string   `json:"visibility,omitempty"`     // public (also if empty) or editors
	Comments      string   `json:"comments,omitempty"`       // open or closed; empty: the site's default
	Format        string   `json:"format,omitempty"`         // empty: the site's default
	Sticky        bool     `json:"sticky,omitempty"`
}

const (
	visibilityPublic  = "public"
	visibilityPrivate = "editors" // editors and administrators: WordPress's private
	featuredNone      = "none"
)

const (
	maxTerms = 30
	maxSlug  = 150
)

// Following returns nil: an article has no further segments.
func (PostOptions) Following() network.PostOptions { return nil }

// ParseOptions reads the options of an article.
func (*WordPress) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions](title, raw)
}

// problems returns what WordPress would refuse or change of the options.
func (o PostOptions) problems() []network.Violation {
	c := rules.Options{Name: title}
	c.MaxRunes("title", o.Title, 500)
	c.MaxRunes("excerpt", o.Excerpt, 2000)
	if o.Slug != "" && (o.Slug != article.Words(o.Slug) || len(o.Slug) > maxSlug) {
		c.Add("slug", "not_a_slug",
			"Use at most {limit} lower-case letters without accents, digits and single hyphens.", maxSlug)
	}
	for field, names := range map[string][]string{"categories": o.Categories, "tags": o.Tags} {
		if len(names) > maxTerms {
			c.Add(field, "too_many_terms", "There are {used} entries; {network} allows {limit} here.", len(names),
				title, maxTerms)
		}
		for i, name := range names {
			if strings.TrimSpace(name) == "" {
				c.Add(fmt.Sprintf("%s[%d]", field, i), "empty_term", "This entry is empty. Fill it in or remove it.")
			}
			c.MaxRunes(fmt.Sprintf("%s[%d]", field, i), name, 200)
		}
	}
	c.OneOf("featured_image", o.FeaturedImage, "first", featuredNone)
	c.OneOf("visibility", o.Visibility, visibilityPublic, visibilityPrivate)
	c.OneOf("comments", o.Comments, "open", "closed")
	c.OneOf("format", o.Format, "standard", "aside", "gallery", "link", "image", "quote", "status", "video", "audio",
		"chat")
	if o.Sticky && o.Visibility == visibilityPrivate {
		c.Add("sticky", "sticky_private",
			"An article that only editors can see cannot stay at the top of the front page.")
	}
	slices.SortStableFunc(c.Problems, func(a, b network.Violation) int { return strings.Compare(a.Field, b.Field) })
	return c.Problems
}

// status is that of the published article.
func (o PostOptions) status() string {
	if o.Visibility == visibilityPrivate {
		return statusPrivate
	}
	return statusPublished
}
