// Package article turns the text of a post into what content management systems publish: a
// title, HTML, and a slug by which a draft is found again.
package article

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	renderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"
)

// maxTitle is the number of characters of the longest first line that is a title.
const maxTitle = 200

// Article is a post as a title and safe HTML.
type Article struct{ Title, HTML string }

// New renders a text in Markdown. Without a title, the first line is the title; one that is
// too long for that also begins the body.
func New(title, text string) Article {
	text = strings.TrimSpace(text)
	if title = strings.TrimSpace(title); title != "" {
		return Article{title, Render(text)}
	}
	first, rest, _ := strings.Cut(text, "\n")
	title = strings.Join(strings.Fields(PlainText(Render(first))), " ")
	if runes := []rune(title); len(runes) > maxTitle {
		cut := string(runes[:maxTitle])
		if space := strings.LastIndexByte(cut, ' '); space > 0 {
			cut = cut[:space]
		}
		return Article{strings.TrimRightFunc(cut, unicode.IsPunct) + "…", Render(text)}
	}
	return Article{title, Render(strings.TrimSpace(rest))}
}

// The priorities of goldmark's parsers of HTML (parser.DefaultBlockParsers and
// DefaultInlineParsers).
const (
	priorityHTMLBlock = 900
	priorityHTML      = 400
)

// Render renders Markdown: CommonMark with tables, strikethrough and bare links. HTML in it
// is text, and links that could execute scripts lose their target, so that the result is
// safe. Line breaks are kept.
func Render(text string) string {
	without := func(list []util.PrioritizedValue, priority int) []util.PrioritizedValue {
		return slices.DeleteFunc(list, func(v util.PrioritizedValue) bool { return v.Priority == priority })
	}
	markdown := goldmark.New(
		goldmark.WithParser(parser.NewParser(
			parser.WithBlockParsers(without(parser.DefaultBlockParsers(), priorityHTMLBlock)...),
			parser.WithInlineParsers(without(parser.DefaultInlineParsers(), priorityHTML)...),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
		)),
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify),
		goldmark.WithRendererOptions(renderer.WithHardWraps()),
	)
	var out bytes.Buffer
	_ = markdown.Convert([]byte(text), &out) // fails only if writing fails
	return strings.TrimSpace(out.String())
}

// PlainText returns the text of HTML, with an empty line between its blocks.
func PlainText(source string) string {
	var blocks []string
	var block strings.Builder
	end := func() {
		if text := strings.TrimSpace(block.String()); text != "" {
			blocks = append(blocks, text)
		}
		block.Reset()
	}
	for tokens := html.NewTokenizer(strings.NewReader(source)); ; {
		switch kind := tokens.Next(); kind {
		case html.ErrorToken:
			end()
			return strings.Join(blocks, "\n\n")
		case html.TextToken:
			block.WriteString(strings.ReplaceAll(string(tokens.Text()), "\n", ""))
		case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
			switch name, _ := tokens.TagName(); string(name) {
			case "br":
				block.WriteString("\n")
			case "td", "th":
				if kind == html.StartTagToken {
					block.WriteString(" ")
				}
			case "p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "blockquote", "pre", "figure", "tr", "hr":
				end()
			}
		}
	}
}

// hashDigits is how much of the hash in a slug is enough to tell the drafts of a site apart.
const hashDigits = 12

// Slug returns the slug of a draft, of at most limit characters: the title without accents,
// and a hash of the parts that identify the operation.
func Slug(title string, limit int, operation ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(operation, "\x00")))
	id, words := hex.EncodeToString(sum[:])[:hashDigits], Words(title)
	if words == "" {
		words = "post"
	}
	words = words[:min(len(words), limit-len(id)-1)]
	return strings.TrimRight(words, "-") + "-" + id
}

// Words returns a text as a part of an address: lower-case letters without accents, digits,
// and hyphens between words.
func Words(text string) string {
	var out strings.Builder
	for _, r := range norm.NFD.String(strings.NewReplacer("đ", "d", "Đ", "d").Replace(strings.ToLower(text))) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			out.WriteRune(r)
		case unicode.Is(unicode.Mn, r):
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "-"):
			out.WriteByte('-')
		}
	}
	return strings.TrimRight(out.String(), "-")
}
