package watch

import (
	"bytes"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
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
	if len(t.lines) > maxLines || t.size > maxRegionBytes {
		return nil, TooLong
	}
	return append([]string{}, t.lines...), ""
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

// endLine adds the current line with single spaces, unless it is empty.
func (t *textLines) endLine() {
	line := []rune(strings.Join(strings.Fields(t.current.String()), " "))
	t.current.Reset()
	if len(line) == 0 {
		return
	}
	text := string(line[:min(len(line), maxLineLength)])
	t.lines, t.size = append(t.lines, text), t.size+len(text)
}

// isInline reports whether an element is part of a line. The cells of a row are.
func isInline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.B, atom.Bdi, atom.Bdo, atom.Button, atom.Cite, atom.Code, atom.Data, atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd,
		atom.Label, atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.U, atom.Var, atom.Wbr:
		return true
	}
	return false
}

// compare returns the lines that were added and removed. Lines that only moved are no
// change.
func compare(before, after []string) (added, removed []string) {
	return missing(after, before), missing(before, after)
}

// missing returns the lines that others do not have as often.
func missing(lines, others []string) (out []string) {
	count := map[string]int{}
	for _, line := range others {
		count[line]++
	}
	for _, line := range lines {
		if count[line]--; count[line] < 0 {
			out = append(out, line)
		}
	}
	return out
}
