package mastodon

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/unicode/norm"
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
