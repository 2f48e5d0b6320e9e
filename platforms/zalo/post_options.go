package zalo

import (
	"encoding/json"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of an article.
// https://developers.zalo.me/docs/official-account/bai-viet (article/create)
type PostOptions struct {
	Kind        string `json:"kind,omitempty"`        // article (also if empty) or broadcast
	Title       string `json:"title,omitempty"`       // empty: the first line of the text
	Author      string `json:"author,omitempty"`      // empty: the name of the account
	Description string `json:"description,omitempty"` // empty: the beginning of the text
	Comments    string `json:"comments,omitempty"`    // open (also if empty) or closed
}

const (
	kindArticle   = "article"
	kindBroadcast = "broadcast" // an article that is also sent to the followers

	commentsOpen   = "open"
	commentsClosed = "closed"
)

// Following returns nil: an article has no further segments.
func (PostOptions) Following() network.PostOptions { return nil }

// ParseOptions reads the options of an article.
func (*Zalo) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions](title, raw)
}

// problems returns what Zalo would refuse of the options.
func (o PostOptions) problems(limits Options) []network.Violation {
	c := rules.Options{Name: title}
	c.OneOf("kind", o.Kind, kindArticle, kindBroadcast)
	c.OneOf("comments", o.Comments, commentsOpen, commentsClosed)
	c.MaxRunes("title", o.Title, limits.MaxTitle)
	c.MaxRunes("author", o.Author, limits.MaxAuthor)
	c.MaxRunes("description", o.Description, limits.MaxDescription)
	return c.Problems
}
