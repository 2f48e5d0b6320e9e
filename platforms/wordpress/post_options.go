package wordpress

import (
	"encoding/json"

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

// Following returns nil: an article has no further segments.
func (PostOptions) Following() network.PostOptions { return nil }

// ParseOptions reads the options of an article.
func (*WordPress) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions](title, raw)
}

// problems returns what WordPress would refuse or change of the options.
func (o PostOptions) problems() []network.Violation {
	c := rules.Options{Name: title}
	article.Fields{
		Title: o.Title, MaxTitle: 500, Excerpt: o.Excerpt, MaxExcerpt: 2000, Slug: o.Slug,
		Lists: map[string][]string{"categories": o.Categories, "tags": o.Tags},
	}.Check(&c)
	c.OneOf("featured_image", o.FeaturedImage, "first", featuredNone)
	c.OneOf("visibility", o.Visibility, visibilityPublic, visibilityPrivate)
	c.OneOf("comments", o.Comments, "open", "closed")
	c.OneOf("format", o.Format, "standard", "aside", "gallery", "link", "image", "quote", "status", "video", "audio",
		"chat")
	if o.Sticky && o.Visibility == visibilityPrivate {
		c.Add("sticky", "sticky_private",
			"An article that only editors can see cannot stay at the top of the front page.")
	}
	return c.Problems
}

// status is that of the published article.
func (o PostOptions) status() string {
	if o.Visibility == visibilityPrivate {
		return statusPrivate
	}
	return statusPublished
}
