package mastodon

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/unicode/norm"

	"dateline/internal/infra/message"
	"dateline/platforms/network"
	"dateline/platforms/rules"
)

func decode(text string) (rune, int)     { return utf8.DecodeRuneInString(text) }
func decodeLast(text string) (rune, int) { return utf8.DecodeLastRuneInString(text) }

// htmlToText converts a status's HTML back to the text that was written, as far
// as Mastodon preserves it (app/lib/text_formatter.rb): paragraphs and line
// breaks become newlines, and the hidden parts of shortened links are included.
func htmlToText(content string) string {
	var text strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(content))
	for {
		switch tokens.Next() {
		case html.ErrorToken: // end of input: the reader cannot fail
			return text.String()
		case html.TextToken:
			text.Write(tokens.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			if name, _ := tokens.TagName(); atom.Lookup(name) == atom.Br {
				text.WriteByte('\n')
			}
		case html.EndTagToken:
			switch name, _ := tokens.TagName(); atom.Lookup(name) {
			case atom.P, atom.Div, atom.Li, atom.Blockquote:
				text.WriteString("\n\n")
			}
		}
	}
}

// normalize converts sent and listed text to a common form: mentions without
// their domain, which Mastodon does not show, NFC, and single spaces.
func normalize(text string) string {
	var short strings.Builder
	at := 0
	for _, e := range entities(text) {
		if !e.url {
			short.WriteString(text[at:e.local])
			at = e.end
		}
	}
	short.WriteString(text[at:])
	return strings.Join(strings.Fields(norm.NFC.String(short.String())), " ")
}

// blank contains what Mastodon strips from both ends of a text.
const blank = "\x00\t\n\v\f\r "

// Count counts the way app/validators/status_length_validator.rb does: grapheme
// clusters, every link at a fixed length, and only the user name of a mention.
// Leading and trailing whitespace does not count, because Mastodon strips it
// first.
func (m *Mastodon) Count(text string, limits network.Limits) int {
	text = strings.Trim(text, blank)
	found := entities(text)
	if len(found) == 0 {
		return uniseg.GraphemeClusterCount(text)
	}
	var counted strings.Builder
	at := 0
	for _, e := range found {
		counted.WriteString(text[at:e.start])
		switch {
		case !e.url:
			counted.WriteString(text[e.start:e.local])
		case limits.CharactersPerURL > 0:
			counted.WriteString(strings.Repeat("x", limits.CharactersPerURL))
		default:
			counted.WriteString(text[e.start:e.end])
		}
		at = e.end
	}
	counted.WriteString(text[at:])
	return uniseg.GraphemeClusterCount(counted.String())
}

// Check returns what the instance would refuse.
func (m *Mastodon) Check(content network.Content, limits network.Limits) []network.Violation {
	options, _ := content.Options.(PostOptions)
	count := m.Count(content.Text, limits) + m.Count(options.ContentWarning, limits)
	return append(rules.Check("Mastodon", content, limits, count), options.problems(content, limits)...)
}

// shownURLLength is the number of characters of a link that are shown.
const shownURLLength = 30

// Preview shows the text the way app/lib/text_formatter.rb formats it: links lose
// their scheme and everything after 30 characters. A post without files gets the
// card of its first link (app/services/fetch_link_card_service.rb).
func (*Mastodon) Preview(content network.Content, limits network.Limits) network.Preview {
	text := strings.Trim(content.Text, blank)
	hidden := regexp.MustCompile(`(?i)^https?://(www\.)?`) // URL_PREFIX_REGEX
	var p network.Preview
	var shown strings.Builder
	at := 0
	plain := func(end int) {
		for _, s := range rules.Spans(text[at:end]) {
			if s.Kind == network.SpanTag {
				p.Spans = append(p.Spans, network.Span{
					Start: shown.Len() + s.Start, End: shown.Len() + s.End, Kind: s.Kind, Target: s.Target,
				})
			}
		}
		shown.WriteString(text[at:end])
	}
	for _, e := range entities(text) {
		plain(e.start)
		reported, span := text[e.start:e.end], network.Span{
			Start: shown.Len(), Kind: network.SpanMention, Target: text[e.start+1 : e.end],
		}
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
	p.Notes = notes(content, limits)
	return p
}

// notes say what the server makes of the text and the options.
func notes(content network.Content, limits network.Limits) message.Messages {
	var all message.Messages
	// CommonMark 2.4, 4.2, 4.4, 5 and 6: what may be read as a mark.
	marks := regexp.MustCompile("(?m)[*_~`\\\\\\[]|^[ \\t]*(?:[-+>#=]|[0-9]{1,9}[.)])|^    ")
	if limits.AppliesMarkdown && marks.MatchString(content.Text) {
		all = append(all, message.New("markdown_applied",
			"{by} renders Markdown: characters such as * and _, and lines that begin with -, > or #, may format the "+
				"text instead of being shown.", limits.AllowedBy))
	}
	options, _ := content.Options.(PostOptions)
	for name, chosen := range map[string]bool{
		"visibility":      options.Visibility != "" && options.Visibility != "public",
		"content_warning": options.ContentWarning != "",
		"poll":            options.Poll != nil, "quote_policy": options.QuotePolicy != "",
	} {
		if chosen && slices.Contains(limits.Ignores, name) {
			all = append(all, message.New("option_may_be_ignored", "{by} may leave out {option}.", limits.AllowedBy,
				name))
		}
	}
	slices.SortFunc(all, func(a, b message.Message) int { return cmp.Compare(a.Text, b.Text) })
	return all
}

func truncate(text string) string {
	if utf8.RuneCountInString(text) <= shownURLLength {
		return text
	}
	return string([]rune(text)[:shownURLLength]) + "…"
}
