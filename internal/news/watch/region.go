package watch

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/unicode/norm"
)

// readRegion returns the lines of text of the elements that match a CSS selector.
func readRegion(page []byte, selector string) ([]string, Problem) {
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		return nil, NotHTML
	}
	nodes := []*html.Node{root}
	if selector != "" {
		group, err := cascadia.ParseGroup(selector)
		if err != nil {
			return nil, NoMatch
		}
		nodes = outermost(cascadia.QueryAll(root, group))
	}
	if len(nodes) == 0 {
		return nil, NoMatch
	}
	t := &textLines{}
	for _, n := range nodes {
		t.add(n)
		t.endLine()
	}
	switch {
	case len(t.lines) > maxLines || t.size > maxRegionBytes:
		return nil, TooLong
	case len(t.lines) == 0: // it is filled later, by a script, or the server is in trouble
		return nil, Empty
	}
	return t.lines, ""
}

// outermost leaves out elements inside of others.
func outermost(nodes []*html.Node) (out []*html.Node) {
	matched := map[*html.Node]bool{}
	for _, n := range nodes {
		matched[n] = true
	}
	for _, n := range nodes {
		inside := false
		for p := n.Parent; p != nil && !inside; p = p.Parent {
			inside = matched[p]
		}
		if !inside {
			out = append(out, n)
		}
	}
	return out
}

// textLines collects the visible text of elements, a line for each block.
type textLines struct {
	lines   []string
	size    int
	current strings.Builder
}

func (t *textLines) add(n *html.Node) {
	if t.size > maxRegionBytes || len(t.lines) > maxLines {
		return
	}
	switch n.Type {
	case html.TextNode:
		t.current.WriteString(n.Data)
		return
	case html.ElementNode:
		switch n.DataAtom {
		case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Head, atom.Svg, atom.Iframe:
			return
		case atom.Br:
			t.endLine()
			return
		}
	}
	block := n.Type == html.ElementNode && !isInline(n.DataAtom)
	if block {
		t.endLine()
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		t.add(c)
	}
	if block {
		t.endLine()
	}
}

// endLine adds the current line with single spaces, unless it looks empty.
func (t *textLines) endLine() {
	text := norm.NFC.String(strings.Join(strings.Fields(t.current.String()), " "))
	t.current.Reset()
	visible := visibleText(text)
	if visible == "" {
		return
	}
	if utf8.RuneCountInString(text) > maxLineLength {
		line := []rune(visible) // cut at the same letter with and without invisible characters
		text = string(line[:min(len(line), maxLineLength)])
	}
	t.lines, t.size = append(t.lines, text), t.size+len(text)
}

// visibleText returns a line as readers see it: two lines with the same visible text look
// equal. Letters are composed (NFC), kinds of spaces are equal, and characters without a
// glyph are left out. Those that join or vary others stay in the text that is stored.
func visibleText(line string) string {
	line = strings.Map(func(r rune) rune {
		if isInvisible(r) {
			return -1
		}
		return r
	}, line)
	return norm.NFC.String(strings.Join(strings.Fields(line), " "))
}

// isInvisible reports whether a character has no glyph: controls, and those with the property
// Default_Ignorable_Code_Point (Unicode Standard, section 5.21; DerivedCoreProperties.txt),
// except tag characters, which tell flags apart.
func isInvisible(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' ' && !unicode.IsSpace(r)
	case 0xE0020 <= r && r <= 0xE007F, 0xFFF9 <= r && r <= 0xFFFB, 0x13430 <= r && r <= 0x13440,
		unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	}
	return !unicode.IsSpace(r) &&
		unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// isInline reports whether an element is part of a line. The cells of a row are.
func isInline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Button, atom.Cite, atom.Code, atom.Data, atom.Del,
		atom.Dfn, atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd,
		atom.Label, atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup,
		atom.Time, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}

// compareLines returns the lines that were added and removed. Lines that only moved, or look
// the same, are no change.
func compareLines(before, after []string) (added, removed []string) {
	return missing(after, before), missing(before, after)
}

// missing returns the lines that others do not have as often.
func missing(lines, others []string) (out []string) {
	count := map[string]int{}
	for _, line := range others {
		count[visibleText(line)]++
	}
	for _, line := range lines {
		visible := visibleText(line)
		if count[visible]--; count[visible] < 0 {
			out = append(out, line)
		}
	}
	return out
}
