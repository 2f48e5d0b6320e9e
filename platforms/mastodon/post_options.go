package mastodon

import (
	"encoding/json"
	"slices"
	"strings"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of a status.
// https://docs.joinmastodon.org/methods/statuses/#create
type PostOptions struct {
	// Public, unlisted, private or direct; empty: the account's default
	Visibility     string `json:"visibility,omitempty"`
	ContentWarning string `json:"content_warning,omitempty"` // spoiler_text
	Sensitive      bool   `json:"sensitive,omitempty"`
	Language       string `json:"language,omitempty"` // ISO 639; empty: the post's
	Poll           *Poll  `json:"poll,omitempty"`
	QuotePolicy    string `json:"quote_policy,omitempty"` // public, followers or nobody; since Mastodon 4.5
}

// Poll is a poll in place of attachments.
type Poll struct {
	Choices         []string `json:"choices"`
	DurationMinutes int      `json:"duration_minutes"`
	Multiple        bool     `json:"multiple,omitempty"`
	HideTotals      bool     `json:"hide_totals,omitempty"`
}

var _ network.OptionParser = (*Mastodon)(nil)

// Following returns all options but the poll: a warned or private thread is one
// in all of its parts.
func (o PostOptions) Following() network.PostOptions {
	o.Poll = nil
	return o
}

// ParseOptions reads the options of a status.
func (*Mastodon) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions]("Mastodon", raw)
}

// problems returns what an instance would refuse of the options.
func (o PostOptions) problems(content network.Content, limits network.Limits) []network.Violation {
	c := rules.Options{Name: "Mastodon"}
	c.OneOf("visibility", o.Visibility, "public", "unlisted", "private", "direct")
	c.OneOf("quote_policy", o.QuotePolicy, "public", "followers", "nobody")
	c.MaxRunes("content_warning", o.ContentWarning, 5000)
	if o.Language != "" && (len(o.Language) < 2 || len(o.Language) > 3 ||
		strings.Trim(o.Language, "abcdefghijklmnopqrstuvwxyz") != "") {
		c.Add("language", "not_a_language", `"{value}" is not a language code. Use ISO 639, such as vi or en.`,
			o.Language)
	}
	if (o.Visibility == "private" || o.Visibility == "direct") &&
		(o.QuotePolicy == "public" || o.QuotePolicy == "followers") {
		c.Add("quote_policy", "quote_of_private",
			"A {visibility} post cannot be quoted on Mastodon. Choose nobody, or another visibility.", o.Visibility)
	}
	if o.Poll != nil {
		c.Poll("", o.Poll.Choices, o.Poll.DurationMinutes, limits.Poll)
		if len(content.Media) > 0 {
			c.Add("poll", "poll_with_attachments",
				"{network} accepts no attachments with a poll. Remove the poll or the attachments.", c.Name)
		}
		if content.Text == "" {
			c.Add("poll", "poll_without_text", "{network} needs a text with a poll. Write one.", c.Name)
		}
	}
	return c.Problems
}

// pollRequest is the poll of POST /api/v1/statuses.
type pollRequest struct {
	Options    []string `json:"options"`
	ExpiresIn  int      `json:"expires_in"` // seconds
	Multiple   bool     `json:"multiple,omitempty"`
	HideTotals bool     `json:"hide_totals,omitempty"`
}

func (p *Poll) request() *pollRequest {
	if p == nil {
		return nil
	}
	return &pollRequest{
		Options: p.Choices, ExpiresIn: p.DurationMinutes * 60, Multiple: p.Multiple,
		HideTotals: p.HideTotals,
	}
}

// differs reports whether a listed status was made with other options. Visibility
// is not compared: a server lowers it for accounts that it limits.
func (o PostOptions) differs(s status) bool {
	var wanted []string
	if o.Poll != nil {
		wanted = o.Poll.Choices
	}
	return normalize(s.SpoilerText) != normalize(o.ContentWarning) || !slices.Equal(s.choices(), wanted)
}
