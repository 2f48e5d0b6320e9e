package ghost

import (
	"encoding/json"

	"dateline/platforms/article"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of an article. Newsletters are not among them: an email cannot
// be undone, and Ghost's responses do not say whether it was delivered.
// https://docs.ghost.org/admin-api/posts/creating-a-post
type PostOptions struct {
	Title         string   `json:"title,omitempty"` // empty: the first line of the text
	Excerpt       string   `json:"excerpt,omitempty"`
	Slug          string   `json:"slug,omitempty"`           // empty: made from the title
	Tags          []string `json:"tags,omitempty"`           // names or slugs; missing ones are created
	Authors       []string `json:"authors,omitempty"`        // names, slugs or email addresses; empty: the site's owner
	FeaturedImage string   `json:"featured_image,omitempty"` // first (also if empty) or none
	Visibility    string   `json:"visibility,omitempty"`     // empty: the site's default
	Featured      bool     `json:"featured,omitempty"`
	CanonicalURL  string   `json:"canonical_url,omitempty"`
}

const featuredNone = "none"

// visibilities are from the widest to the narrowest.
func visibilities() []string { return []string{"public", "members", "paid"} }

// Following returns nil: an article has no further segments.
func (PostOptions) Following() network.PostOptions { return nil }

// ParseOptions reads the options of an article.
func (*Ghost) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions](title, raw)
}

// problems returns what Ghost would refuse or change of the options.
func (o PostOptions) problems() []network.Violation {
	c := rules.Options{Name: title}
	article.Fields{
		Title: o.Title, MaxTitle: 255, Excerpt: o.Excerpt, MaxExcerpt: 300, Slug: o.Slug,
		Lists: map[string][]string{"authors": o.Authors, "tags": o.Tags},
	}.Check(&c)
	c.OneOf("featured_image", o.FeaturedImage, "first", featuredNone)
	c.OneOf("visibility", o.Visibility, visibilities()...)
	if o.CanonicalURL != "" {
		c.HTTPS("canonical_url", o.CanonicalURL)
	}
	return c.Problems
}
