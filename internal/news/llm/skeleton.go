package llm

import (
	"strings"

	"golang.org/x/net/html"

	"dateline/internal/news/crawl/change"
)

// Skeleton renders a document in at most maxBytes and keeps its structure: elements with
// the attributes that paths can use, and the start of each text. If it does not fit,
// texts are shortened first, then deep elements are omitted, and finally the end of the
// page.
func Skeleton(root *html.Node, maxBytes int) string {
	for _, l := range []limits{
		{textRunes: 4000, depth: 200},
		{textRunes: 600, depth: 200},
		{textRunes: 160, depth: 60},
		{textRunes: 60, depth: 40},
		{textRunes: 24, depth: 30},
		{textRunes: 24, depth: 14},
	} {
		w := skeletonWriter{limits: l, maxBytes: maxBytes}
		w.node(root, 0)
		if !w.full {
			return w.b.String()
		}
		if l.depth == 14 {
			return w.b.String()
		}
	}
	return ""
}

type limits struct {
	textRunes int // runes of one text
	depth     int
}

type skeletonWriter struct {
	limits
	b        strings.Builder
	maxBytes int
	full     bool
}

// isIgnoredElement reports whether an element contains nothing about an article.
func isIgnoredElement(name string) bool {
	switch name {
	case "script", "style", "svg", "noscript", "template", "iframe", "form", "select", "button", "input", "link",
		"video", "audio", "canvas", "object":
		return true
	}
	return false
}

// isUsefulAttribute reports whether an attribute is useful for paths or contains
// metadata.
func isUsefulAttribute(key string) bool {
	switch key {
	case "class", "id", "itemprop", "rel", "role", "datetime", "property", "name", "content", "data-role":
		return true
	}
	return false
}

func (w *skeletonWriter) write(s string) {
	if w.full = w.full || w.b.Len()+len(s) > w.maxBytes; !w.full {
		w.b.WriteString(s)
	}
}

func (w *skeletonWriter) node(n *html.Node, depth int) {
	if w.full || depth > w.depth {
		return
	}
	switch n.Type {
	case html.TextNode:
		if t := change.NormalizeText(n.Data); t != "" {
			w.write(escape(shorten(t, w.textRunes)))
		}
		return
	case html.ElementNode:
		if isIgnoredElement(n.Data) {
			return
		}
		w.write("<" + n.Data)
		for _, a := range n.Attr {
			if v := change.NormalizeText(a.Val); isUsefulAttribute(a.Key) && v != "" {
				w.write(" " + a.Key + `="` + escape(shorten(v, 160)) + `"`)
			}
		}
		w.write(">")
	case html.DocumentNode:
	default:
		return // comments are not visible
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c, depth+1)
	}
	if n.Type == html.ElementNode {
		w.write("</" + n.Data + ">")
	}
}

// escape prevents a page from closing the element that encloses it in the prompt.
func escape(s string) string {
	return strings.NewReplacer("<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

func shorten(s string, maxRunes int) string {
	n := 0
	for i := range s {
		if n++; n > maxRunes {
			return s[:i] + "…"
		}
	}
	return s
}

// visibleText returns the text of a document without white space, for comparing: models
// change line breaks.
func visibleText(root *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(withoutSpaces(n.Data))
			return
		}
		if n.Type == html.ElementNode && isIgnoredElement(n.Data) {
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	return b.String()
}

func withoutSpaces(s string) string { return strings.ReplaceAll(change.NormalizeText(s), " ", "") }
