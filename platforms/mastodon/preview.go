package mastodon

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"dateline/platforms/network"
	"dateline/platforms/rules"
)

// shownURLLength is the number of characters of a link that are shown.
const shownURLLength = 30

// Preview shows the text the way app/lib/text_formatter.rb formats it: links lose
// their scheme and everything after 30 characters. A post without files gets the
// card of its first link (app/services/fetch_link_card_service.rb).
func (*Mastodon) Preview(content network.Content, _ network.Limits) network.Preview {
	text := strings.Trim(content.Text, blank)
	hidden := regexp.MustCompile(`(?i)^https?://(www\.)?`) // URL_PREFIX_REGEX
	var p network.Preview
	var shown strings.Builder
	at := 0
	plain := func(end int) {
		for _, s := range rules.Spans(text[at:end]) {
			if s.Kind == network.SpanTag {
				p.Spans = append(p.Spans, network.Span{Start: shown.Len() + s.Start, End: shown.Len() + s.End, Kind: s.Kind, Target: s.Target})
			}
		}
		shown.WriteString(text[at:end])
	}
	for _, e := range entities(text) {
		plain(e.start)
		reported, span := text[e.start:e.end], network.Span{Start: shown.Len(), Kind: network.SpanMention, Target: text[e.start+1 : e.end]}
		if e.url {
			span.Kind, span.Target = network.SpanLink, reported
			if p.Card == "" && len(content.Media) == 0 {
				p.Card = reported
			}
			reported = truncate(hidden.ReplaceAllString(reported, ""))
		}
		shown.WriteString(reported)
		span.End = shown.Len()
		p.Spans = append(p.Spans, span)
		at = e.end
	}
	plain(len(text))
	p.Text = shown.String()
	return p
}

func truncate(text string) string {
	if utf8.RuneCountInString(text) <= shownURLLength {
		return text
	}
	return string([]rune(text)[:shownURLLength]) + "…"
}
