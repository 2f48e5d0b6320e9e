package extract

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxSlugText is the length of the text at the beginning of an element that its id may be
// made from.
const maxSlugText = 200

// isSlug reports whether an id is an address made from the words of the text, such as
// "share-price" on a paragraph or "related-costs" around the section of that name. Unlike
// the name of a component, it says nothing about the role of the element. Generators of
// sites give one to each heading, and editors to paragraphs that they link to.
func isSlug(n *html.Node, id string) bool {
	words := idWords(id)
	switch a := n.DataAtom; {
	case isHeading(a), a == atom.P:
		// Only fields are named this way.
		return classHints(id)&^(hintByline|hintDate|hintLead) != 0 || hasTopicWord(words) || startsWithWords(n, words)
	case isInline(a):
		return startsWithWords(n, words) && (hasTopicWord(words) || headingAround(n) != nil)
	case isItem(a), a == atom.Td, a == atom.Th, a == atom.Tr, a == atom.Blockquote, a == atom.Pre, a == atom.Caption:
		return hasTopicWord(words)
	}
	return hasTopicWord(words) && startsWithWords(n, words)
}

// idWords returns the words of an id in lower case, without numbers.
func idWords(id string) []string {
	var words []string
	from := 0
	flush := func(to int) {
		if w := Plain(strings.TrimFunc(id[from:to], unicode.IsDigit)); w != "" {
			words = append(words, w)
		}
		from = to
	}
	prev := rune(0)
	for i, r := range id {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			from = i + len(string(r))
		case unicode.IsUpper(r) && unicode.IsLower(prev):
			flush(i)
		}
		prev = r
	}
	flush(len(id))
	return words
}

// hasTopicWord reports whether one of several words names neither a role nor a part of a
// page, as "costs" in "related-costs" and unlike "articles" in "related-articles".
func hasTopicWord(words []string) bool {
	if len(words) < 2 {
		return false
	}
	for i, w := range words {
		before := ""
		if i > 0 {
			before = words[i-1]
		}
		if h := wordHint(w) | pairHint(before, w); h&^hintLead == 0 && !isPartName(w) {
			return true
		}
	}
	return false
}

// isPartName reports whether a word names a part of a page, whatever it contains.
func isPartName(w string) bool {
	switch w {
	case "above", "area", "article", "articles", "bar", "below", "block", "blocks", "bottom", "boxes", "button",
		"buttons", "center", "click", "col", "column", "columns", "component", "container", "content", "contents",
		"desktop", "div", "element", "feed", "field", "fixed", "float", "form", "full", "grid", "group", "groups",
		"head", "heading", "headline", "holder", "icon", "icons", "id", "inline", "inner", "item", "items", "js",
		"label", "layout", "left", "link", "list", "lists", "main", "media", "middle", "mobile", "module", "modules",
		"name", "new", "news", "outer", "page", "pages", "panel", "parent", "part", "placeholder", "plugin",
		"position", "post", "posts", "primary", "region", "right", "root", "row", "secondary", "section", "sections",
		"side", "single", "site", "slot", "small", "sticky", "story", "tab", "table", "tabs", "text", "thread",
		"title", "top", "topic", "topics", "unit", "view", "with", "wrap", "wrapper", "zone":
		return true
	}
	return len(w) < 3
}

// startsWithWords reports whether an element begins with the words, ignoring others between them.
func startsWithWords(n *html.Node, words []string) bool {
	start := startOf(n)
	for _, w := range words {
		i := strings.Index(start, w)
		if i < 0 {
			return false
		}
		start = start[i+len(w):]
	}
	return true
}

// startOf returns the letters and digits at the beginning of an element.
func startOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode && !isBlank(d.Data) {
			b.WriteString(d.Data[:min(len(d.Data), maxSlugText)])
			if b.Len() >= maxSlugText {
				break
			}
		}
	}
	return Plain(b.String())
}
