package selector

import (
	"strings"

	"github.com/antchfx/htmlquery"
	"github.com/antchfx/xpath"
	"golang.org/x/net/html"

	"dateline/internal/news/article/extract"
)

// path is a compiled XPath expression. Expressions of the form that Induce writes are
// matched directly, which is several times as fast as the general XPath evaluation:
//
//	//div[contains(concat(' ',normalize-space(@class),' '),' story ')]/p
//	.//section[@id='x']//time/@datetime
type path struct {
	steps    []step
	attr     string      // of the last step; empty for the element itself
	relative bool        // starts with a dot
	expr     *xpath.Expr // for all other expressions
}

type step struct {
	isDescendant bool // after // rather than /
	tag          string
	conds        []cond
}

type cond struct {
	attr, value string
	token       bool // the value is one of a list of names
}

func compilePath(p string) (*path, error) {
	if out, ok := simplePath(p); ok {
		return out, nil
	}
	e, err := compileXPath(p)
	if err != nil {
		return nil, err
	}
	return &path{expr: e}, nil
}

// simplePath parses an expression of the simple form; ok is false for others.
func simplePath(p string) (*path, bool) {
	out := &path{}
	if strings.HasPrefix(p, ".//") {
		out.relative, p = true, p[1:]
	}
	for p != "" {
		isDescendant := strings.HasPrefix(p, "//")
		if !isDescendant && !strings.HasPrefix(p, "/") {
			return nil, false
		}
		p = strings.TrimPrefix(p[1:], "/")
		if strings.HasPrefix(p, "@") {
			if isDescendant || len(out.steps) == 0 || !isPlainName(p[1:]) {
				return nil, false
			}
			out.attr = p[1:]
			return out, true
		}
		n := 0
		for n < len(p) && p[n] != '/' && p[n] != '[' {
			n++
		}
		s := step{isDescendant: isDescendant, tag: p[:n]}
		if !isPlainName(s.tag) {
			return nil, false
		}
		p = p[n:]
		for strings.HasPrefix(p, "[") {
			c, rest, ok := simpleCond(p[1:])
			if !ok {
				return nil, false
			}
			s.conds = append(s.conds, c)
			p = rest
		}
		out.steps = append(out.steps, s)
	}
	return out, len(out.steps) > 0 && out.steps[0].isDescendant
}

func simpleCond(p string) (c cond, rest string, ok bool) {
	const open, middle, end = "contains(concat(' ',normalize-space(@", "),' '),' ", " ')]"
	if q, found := strings.CutPrefix(p, open); found {
		if c.attr, q, found = strings.Cut(q, middle); !found {
			return c, "", false
		}
		if c.value, q, found = strings.Cut(q, end); !found {
			return c, "", false
		}
		c.token = true
		return c, q, isPlainName(c.attr) && c.value != "" && !strings.ContainsAny(c.value, " '")
	}
	q, found := strings.CutPrefix(p, "@")
	if !found {
		return c, "", false
	}
	if c.attr, q, found = strings.Cut(q, "='"); !found {
		return c, "", false
	}
	if c.value, q, found = strings.Cut(q, "']"); !found {
		return c, "", false
	}
	return c, q, isPlainName(c.attr) && !strings.Contains(c.value, "'")
}

// isPlainName reports whether s is just the name of an element or attribute.
func isPlainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9' || i == 0) && (c != '-' || i == 0) {
			return false
		}
	}
	return s != ""
}

// page is a document with an index of its elements by name.
type page struct {
	root  *html.Node
	byTag map[string][]*html.Node
	cost  int // estimated worst case of an XPath evaluation, in bytes of scanned text
}

// maxXPathCost is the cost up to which expressions are evaluated by the library, which
// cannot be interrupted. Some predicates are expensive: string-length(.) reads the text
// of an element again for each ancestor, and p[last()] counts all siblings. Real pages
// stay far below this limit.
const maxXPathCost = 64 << 20

func newPage(root *html.Node) *page {
	p := &page{root: root, byTag: map[string][]*html.Node{}}
	p.add(root, 0)
	return p
}

func (p *page) add(n *html.Node, depth int) {
	const node, pair = 16, 24 // cost of a node, and of a pair of siblings
	p.cost += depth * node
	switch n.Type {
	case html.ElementNode:
		p.byTag[n.Data] = append(p.byTag[n.Data], n)
	case html.TextNode:
		p.cost += depth * len(n.Data)
	}
	children := 0
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.add(c, depth+1)
		children++
	}
	p.cost += children * children * pair
}

func (s *step) matches(n *html.Node) bool {
	if n.Type != html.ElementNode || n.Data != s.tag {
		return false
	}
next:
	for _, c := range s.conds {
		for i := range n.Attr {
			if n.Attr[i].Key == c.attr {
				if c.token && hasToken(n.Attr[i].Val, c.value) || !c.token && n.Attr[i].Val == c.value {
					continue next
				}
				return false
			}
		}
		return false
	}
	return true
}

func hasToken(list, name string) bool {
	for {
		i := strings.Index(list, name)
		if i < 0 {
			return false
		}
		end := i + len(name)
		if (i == 0 || isSpace(list[i-1])) && (end == len(list) || isSpace(list[end])) {
			return true
		}
		list = list[end:]
	}
}

func isSpace(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', '\f':
		return true
	default:
		return false
	}
}

// findSimple returns up to maxMatches elements that match the last step and whose
// ancestors match the previous steps.
func (p *path) findSimple(in *page, below *html.Node) []*html.Node {
	last := len(p.steps) - 1
	var out []*html.Node
	for _, n := range in.byTag[p.steps[last].tag] {
		if len(out) >= maxMatches {
			break
		}
		if below != nil && (n == below || !isInside(n, below)) {
			continue
		}
		if p.steps[last].matches(n) && p.ancestorsMatch(n, last, below) {
			out = append(out, n)
		}
	}
	return out
}

// ancestorsMatch reports whether the ancestors of an element match the previous steps.
func (p *path) ancestorsMatch(n *html.Node, at int, top *html.Node) bool {
	if at == 0 {
		return true
	}
	for a := n.Parent; a != nil && a != top; a = a.Parent {
		if p.steps[at-1].matches(a) && p.ancestorsMatch(a, at-1, top) {
			return true
		}
		if !p.steps[at].isDescendant {
			return false
		}
	}
	return false
}

// elements returns the elements that the path selects, below an element if given.
func (p *path) elements(in *page, below *html.Node) []*html.Node {
	if p.expr == nil {
		if p.attr != "" {
			return nil
		}
		if !p.relative {
			below = nil
		}
		return p.findSimple(in, below)
	}
	var out []*html.Node
	p.evaluate(in, below, func(nav *htmlquery.NodeNavigator) {
		if nav.NodeType() == xpath.ElementNode {
			out = append(out, nav.Current())
		}
	})
	return out
}

// texts returns the values that the path selects: attributes, or the text of elements.
func (p *path) texts(in *page) []string {
	var out []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" && len(s) <= maxFieldText {
			out = append(out, s)
		}
	}
	if p.expr != nil {
		p.evaluate(in, nil, func(nav *htmlquery.NodeNavigator) {
			if nav.NodeType() == xpath.ElementNode {
				add(extract.Text(nav.Current(), maxFieldText))
			} else {
				add(nav.Value())
			}
		})
		return out
	}
	for _, n := range p.findSimple(in, nil) {
		if p.attr == "" {
			add(extract.Text(n, maxFieldText))
			continue
		}
		for i := range n.Attr {
			if n.Attr[i].Key == p.attr {
				add(n.Attr[i].Val)
			}
		}
	}
	return out
}

// evaluate evaluates a general expression. If the library panics, it returns no further
// matches.
func (p *path) evaluate(in *page, below *html.Node, each func(*htmlquery.NodeNavigator)) {
	defer func() { _ = recover() }()
	if in.cost > maxXPathCost {
		return // the page falls back to generic extraction
	}
	if below == nil {
		below = in.root
	}
	it := p.expr.Select(htmlquery.CreateXPathNavigator(below))
	for n := 0; n < maxMatches && it.MoveNext(); n++ {
		if nav, ok := it.Current().(*htmlquery.NodeNavigator); ok {
			each(nav)
		}
	}
}
