package slack

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// PostOptions are the options of a message.
// https://docs.slack.dev/reference/methods/chat.postMessage
type PostOptions struct {
	PlainText        bool `json:"plain_text,omitempty"`        // do not apply Slack's formatting
	SuppressPreviews bool `json:"suppress_previews,omitempty"` // no cards of links
	BroadcastReplies bool `json:"broadcast_replies,omitempty"` // show replies in the channel too
}

// Following returns the options of replies: all of them.
func (o PostOptions) Following() network.PostOptions { return o }

// ParseOptions reads the options of a message.
func (*Slack) ParseOptions(raw json.RawMessage) (network.PostOptions, []network.Violation) {
	return rules.ParseOptions[PostOptions]("Slack", raw)
}

// maxSection is the length of a text next to pictures, which is a block
// (https://docs.slack.dev/reference/block-kit/blocks/section-block). A message has at most
// 50 blocks, and a picture a description of 1,000 characters
// (https://docs.slack.dev/reference/methods/files.getUploadURLExternal).
const (
	maxSection = 3000
	maxMedia   = 10
	maxAltText = 1000
)

// Limits are the same for all channels. A message can only show pictures
// (https://docs.slack.dev/reference/block-kit/composition-objects/slack-file-object): other
// files make a message of their own when they are shared, which has no metadata.
func (s *Slack) Limits(ctx context.Context, account network.Account) (network.Limits, error) {
	if _, err := s.base(account.BaseURL); err != nil {
		return network.Limits{}, err
	}
	s.permalink(ctx, account, "", "") // caches ahead of the scheduled time what it needs
	return network.Limits{
		AllowedBy: "Slack", MaxCharacters: s.options.MaxCharacters, MaxMedia: maxMedia, SupportsReply: true,
		MIMETypes: []string{"image/jpeg", "image/png", "image/gif"}, MaxImageBytes: s.options.MaxFileBytes,
		MaxAltText: maxAltText, FinishesWithin: network.UsualFinish,
		// https://docs.slack.dev/apis/web-api/rate-limits; responses report nothing.
		Quotas: []network.Quota{{
			Bucket: "messages", Scope: network.ScopeAccount, Requests: 1, Per: time.Second,
			Costs: map[network.CallKind]int{network.CallPublish: 1},
		}},
	}, nil
}

// LimitsOf returns the shorter limit of a text next to pictures, whose links are in brackets.
func (*Slack) LimitsOf(content network.Content, limits network.Limits) network.Limits {
	if len(content.Media) > 0 {
		brackets := utf8.RuneCountInString(linked(content.Text)) - utf8.RuneCountInString(escape(content.Text))
		limits.MaxCharacters = min(limits.MaxCharacters, maxSection-brackets)
	}
	return limits
}

// Count returns the number of code points that are sent: three characters are escaped.
func (*Slack) Count(text string, _ network.Limits) int { return utf8.RuneCountInString(escape(text)) }

// Check returns what Slack would refuse.
func (s *Slack) Check(content network.Content, limits network.Limits) []network.Violation {
	return rules.Check("Slack", content, s.LimitsOf(content, limits), s.Count(content.Text, limits))
}

// escape makes a text say what it says: the three characters begin links and mentions
// (https://docs.slack.dev/messaging/formatting-message-text#escaping).
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// linked escapes a text and puts its links in brackets, which a verbatim text needs
// (https://docs.slack.dev/reference/block-kit/composition-objects/text-object).
func linked(text string) string {
	var out strings.Builder
	at := 0
	for _, link := range rules.Links(text) {
		if !strings.Contains(link.Target, "|") { // it would end the address
			out.WriteString(escape(text[at:link.Start]) + "<" + escape(link.Target) + ">")
			at = link.End
		}
	}
	return out.String() + escape(text[at:])
}

// unescape returns the text of a message as it was written: Slack returns links in
// brackets (https://docs.slack.dev/messaging/retrieving-messages).
func unescape(shown string) string {
	shown = regexp.MustCompile(`<(?:[^<>|]*\|)?([^<>]*)>`).ReplaceAllString(shown, "$1")
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(shown)
}

// withoutEmoji removes emoji and their names, by which Slack replaces them.
func withoutEmoji(text string) string {
	text = regexp.MustCompile(`:[a-z0-9_'+-]+:|[0-9#*]\x{FE0F}?\x{20E3}`).ReplaceAllString(text, "")
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.So, unicode.Sk, unicode.Sm) || strings.ContainsRune("‼⁉ℹ〰", r) {
			return -1
		}
		return r
	}, text)
}

// Preview shows the text as it is, with the card of the first link.
func (s *Slack) Preview(content network.Content, _ network.Limits) network.Preview {
	p := network.Preview{Text: content.Text, Spans: rules.Links(content.Text)}
	options, _ := content.Options.(PostOptions)
	if len(p.Spans) > 0 && !options.SuppressPreviews {
		p.Card = p.Spans[0].Target
	}
	if strings.ContainsAny(p.Text, "*_~`") && !options.PlainText {
		p.Notes = append(p.Notes, network.NewNote("slack_formatting",
			"Slack formats *bold*, _italic_, ~strike~ and `code`: these characters may not be shown."))
	}
	if strings.Contains(p.Text, "@") {
		p.Notes = append(p.Notes,
			network.NewNote("mentions_not_notified", "Mentions are shown, but do not notify anyone."))
	}
	return p
}
