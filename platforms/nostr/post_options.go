package nostr

import (
	"encoding/json"

	"dateline/platforms/article"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of a post.
type PostOptions struct {
	Kind              string `json:"kind,omitempty"`                // note (also if empty) or article
	Title             string `json:"title,omitempty"`               // of an article; empty: the first line of the text
	Summary           string `json:"summary,omitempty"`             // of an article
	Slug              string `json:"slug,omitempty"`                // of an article; empty: made from the title
	ContentWarning    string `json:"content_warning,omitempty"`     // why clients hide the post until a reader opens it
	ExpiresAfterHours int    `json:"expires_after_hours,omitempty"` // 0: never; some relays keep it longer
}

const (
	kindOfNote  = "note"
	kindArticle = "article"

	maxExpiry  = 24 * 366 // hours
	maxTitle   = 300
	maxSummary = 1000
	maxWarning = 200
	maxSlug    = 100
)

// Following returns what applies to the replies that follow, too.
func (o PostOptions) Following() network.PostOptions {
	next := PostOptions{ContentWarning: o.ContentWarning, ExpiresAfterHours: o.ExpiresAfterHours}
	if next == (PostOptions{}) {
		return nil
	}
	return next
}

// ParseOptions reads the options of a post.
func (*Nostr) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions](title, raw)
}

// problems returns what contradicts the content or cannot be published.
func (o PostOptions) problems(content network.Content) []network.Violation {
	c := rules.Options{Name: title}
	c.OneOf("kind", o.Kind, kindOfNote, kindArticle)
	c.MaxRunes("title", o.Title, maxTitle)
	c.MaxRunes("summary", o.Summary, maxSummary)
	c.MaxRunes("content_warning", o.ContentWarning, maxWarning)
	if o.Slug != "" && (o.Slug != article.Words(o.Slug) || len(o.Slug) > maxSlug) {
		c.Add("slug", "not_a_slug",
			"Use at most {limit} lower-case letters without accents, digits and single hyphens.", maxSlug)
	}
	if o.Kind != kindArticle && (o.Title != "" || o.Summary != "" || o.Slug != "") {
		c.Add("kind", "only_articles", "Only articles have a title, a summary and a slug. Choose the kind article, or "+
			"remove them.")
	}
	if o.Kind == kindArticle && content.Reply {
		c.Add("kind", "no_article_replies", "An article cannot be a reply. Choose the kind note.")
	}
	if o.ExpiresAfterHours < 0 || o.ExpiresAfterHours > maxExpiry {
		c.Add("expires_after_hours", "expiry_hours", "Choose {min} to {max} hours, or remove it.", 1, maxExpiry)
	}
	return c.Problems
}
