package extract

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Limits of stored metadata.
const (
	maxValuesPerName = 40      // also of times, headings and bylines
	maxValueBytes    = 4 << 10 // bytes of one value
	maxScripts       = 20
	maxScriptBytes   = 2 << 20 // bytes of one JSON-LD script; those of live blogs contain all entries
)

// Meta is the metadata of a page.
type Meta struct {
	values      map[string][]string // of meta elements by lowercase property, name or itemprop
	microdata   map[string][]string // texts and links of elements by itemprop
	scripts     []string            // JSON-LD
	title       string              // of the head element
	lang        string
	base        string
	links       map[string]string // rel → address
	h1s         []*html.Node      // h1
	times       []*html.Node      // time elements, and elements named as dates
	bylines     []*html.Node      // elements named as authors
	leads       []*html.Node      // elements named as standfirsts
	breadcrumbs []*html.Node      // elements named as breadcrumbs
	authorLinks []*html.Node      // links with rel=author
	terms       []*html.Node      // links to categories and tags, and elements named as such
	authorScope *html.Node        // item of the authors in microdata
	isLiveBlog  bool              // in microdata
	elements    []element         // with hints, in document order
	names       *nameCache
	nodes       int
	maxNodes    int
}

// element is an element and what its names say.
type element struct {
	node  *html.Node
	hints hint
	class *name // nil: none
}

func (d *Document) readMeta(limit int) error {
	m := &Meta{
		values: map[string][]string{}, microdata: map[string][]string{}, links: map[string]string{},
		names: d.names, maxNodes: limit, elements: make([]element, 0, 1024),
	}
	m.walk(d.Root, 0)
	if m.nodes > limit {
		return fmt.Errorf("%w: more than %d", ErrTooManyNodes, limit)
	}
	if m.base != "" {
		if u, err := d.URL.Parse(m.base); err == nil {
			d.Base = u
		}
	}
	d.Meta = m
	return nil
}

func (m *Meta) walk(n *html.Node, depth int) {
	if m.nodes++; m.nodes > m.maxNodes || depth > maxDepth {
		return
	}
	if n.Type == html.ElementNode {
		m.element(n)
		if n.Namespace != "" { // a title in an SVG is not that of the page
			return
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		m.walk(c, depth+1)
	}
}

func (m *Meta) element(n *html.Node) {
	switch n.DataAtom {
	case atom.Html:
		m.lang = attr(n, "lang")
	case atom.Base:
		if m.base == "" {
			m.base = attr(n, "href")
		}
	case atom.Title:
		if m.title == "" {
			m.title = textOf(n, maxValueBytes)
		}
	case atom.Meta:
		m.addMeta(n)
		return
	case atom.Link:
		rel := strings.ToLower(attr(n, "rel"))
		if _, ok := m.links[rel]; !ok && rel != "" && len(m.links) < maxValuesPerName {
			m.links[rel] = attr(n, "href")
		}
	case atom.Script:
		if n.FirstChild != nil && strings.Contains(strings.ToLower(attr(n, "type")), "ld+json") &&
			len(m.scripts) < maxScripts && len(n.FirstChild.Data) <= maxScriptBytes {
			m.scripts = append(m.scripts, n.FirstChild.Data)
		}
		return
	case atom.A:
		if len(m.terms) < maxTerms && termOf(n) != noTerm {
			m.terms = append(m.terms, n)
		}
	case atom.H1:
		m.h1s = appendNode(m.h1s, n)
	case atom.Time:
		m.times = appendNode(m.times, n)
	}
	var named hint
	crumbs := false
	e := element{node: n, hints: tagHint(n.DataAtom)}
	for i := range n.Attr {
		a := &n.Attr[i]
		if a.Key != "class" && a.Key != "id" {
			e.hints |= attrHint(a)
		}
		switch a.Key {
		case "itemprop":
			for p := range strings.FieldsSeq(strings.ToLower(a.Val)) {
				m.addMicrodata(p, n)
			}
		case "rel":
			if n.DataAtom == atom.A && strings.EqualFold(a.Val, "author") {
				m.authorLinks = appendNode(m.authorLinks, n)
			}
		case "class", "id", "data-role":
			own := m.names.name(a.Val)
			if a.Key == "class" && e.class == nil {
				e.class = own
			}
			if own.hints != 0 && a.Key == "id" && m.names.isSlug(n, a.Val) {
				continue
			}
			named |= own.hints
			if a.Key != "data-role" {
				e.hints |= own.shown
			}
			crumbs = crumbs || own.isBreadcrumb
			if own.isCategory && n.DataAtom != atom.A && len(m.terms) < maxTerms {
				m.terms = append(m.terms, n)
			}
			if a.Key == "class" && own.isModification {
				named |= hintDate
			}
		case "datetime", "title": // <relative-time datetime="…">, <span title="2026-03-05 09:15">
			if len(a.Val) >= len("2006-01-02") && len(a.Val) < 40 && a.Val[0] >= '1' && a.Val[0] <= '2' &&
				a.Val[4] == '-' && n.DataAtom != atom.Ins && n.DataAtom != atom.Del {
				named |= hintDate
			}
		case "aria-label", "itemtype":
			m.isLiveBlog = m.isLiveBlog || a.Key == "itemtype" && strings.HasSuffix(a.Val, "/LiveBlogPosting")
			crumbs = crumbs || strings.EqualFold(a.Val, "breadcrumb") || strings.EqualFold(a.Val, "breadcrumbs") ||
				strings.HasSuffix(a.Val, "schema.org/BreadcrumbList")
		}
	}
	m.elements = append(m.elements, e)
	if crumbs {
		m.breadcrumbs = appendNode(m.breadcrumbs, n)
	}
	if named&(hintByline|hintDate|hintLead) != 0 {
		m.addNamed(n, named)
	}
}

// addNamed stores elements whose class indicates a field.
func (m *Meta) addNamed(n *html.Node, h hint) {
	if h&hintByline != 0 {
		m.bylines = appendNode(m.bylines, n)
	}
	if h&hintDate != 0 && n.DataAtom != atom.Time {
		m.times = appendNode(m.times, n)
	}
	if h&hintLead != 0 {
		m.leads = appendNode(m.leads, n)
	}
}

func (m *Meta) addMeta(n *html.Node) {
	content := attr(n, "content")
	if content == "" || len(content) > maxValueBytes {
		return
	}
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "property", "name", "itemprop", "http-equiv":
			for k := range strings.FieldsSeq(strings.ToLower(a.Val)) {
				if a.Key == "itemprop" {
					k = "itemprop:" + k
				}
				if len(m.values[k]) < maxValuesPerName && len(m.values) < 500 {
					m.values[k] = append(m.values[k], content)
				}
			}
		}
	}
}

func (m *Meta) addMicrodata(prop string, n *html.Node) {
	if len(m.microdata[prop]) >= maxValuesPerName || len(m.microdata) >= 100 {
		return
	}
	if prop == "author" {
		// Each post of a thread has its own authors.
		scope := itemScopeAround(n)
		if len(m.microdata[prop]) > 0 && scope != m.authorScope {
			return
		}
		m.authorScope = scope
	}
	if prop == "datepublished" || prop == "datemodified" {
		if scope := itemScopeAround(n); scope != nil &&
			(attr(scope, "itemprop") == "comment" || strings.HasSuffix(attr(scope, "itemtype"), "Comment") ||
				strings.HasSuffix(attr(scope, "itemtype"), "UserComments")) {
			return
		}
	}
	var v string
	switch {
	case attr(n, "content") != "":
		v = attr(n, "content")
	case prop == "image" || prop == "url":
		v = firstOf(attr(n, "src"), attr(n, "href"))
	case n.DataAtom == atom.Time || prop == "datepublished" || prop == "datemodified":
		v = firstOf(attr(n, "datetime"), textOf(n, 300))
	default:
		if prop == "author" {
			v = itemName(n)
		}
		if v != "" {
			break
		}
		switch prop {
		case "headline", "author", "articlesection", "keywords", "isaccessibleforfree":
			v = textOf(n, 1000)
		}
	}
	if v != "" {
		m.microdata[prop] = append(m.microdata[prop], v)
	}
}

// itemScopeAround returns the item that a property belongs to.
func itemScopeAround(n *html.Node) *html.Node {
	for n = n.Parent; n != nil; n = n.Parent {
		for i := range n.Attr {
			if n.Attr[i].Key == "itemscope" {
				return n
			}
		}
	}
	return nil
}

// itemName returns the property "name" of an item.
func itemName(n *html.Node) string {
	for d := range n.Descendants() {
		if attr(d, "itemprop") == "name" {
			return firstOf(attr(d, "content"), textOf(d, 200))
		}
	}
	return ""
}

func appendNode(list []*html.Node, n *html.Node) []*html.Node {
	if len(list) >= maxValuesPerName {
		return list
	}
	return append(list, n)
}

// first returns the first value of the given names.
func (m *Meta) first(names ...string) string {
	for _, n := range names {
		for _, v := range m.values[n] {
			if v = clean(v); v != "" {
				return v
			}
		}
	}
	return ""
}

func attr(n *html.Node, key string) string {
	for i := range n.Attr {
		if n.Attr[i].Key == key {
			return strings.TrimSpace(n.Attr[i].Val)
		}
	}
	return ""
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// textOf returns the text below a node with collapsed white space, or nothing if it is
// longer than limit bytes.
func textOf(n *html.Node, limit int) string {
	if c := n.FirstChild; c != nil && c.NextSibling == nil && c.Type == html.TextNode && len(c.Data) <= limit &&
		isCollapsed(c.Data) && !isWithoutText(n) {
		return strings.TrimSpace(c.Data)
	}
	s := bytes.TrimSpace(appendTextOf(nil, n, limit, 0))
	if len(s) > limit {
		return ""
	}
	return string(s)
}

// appendTextOf appends the text below a node until it is longer than limit bytes.
func appendTextOf(b []byte, n *html.Node, limit, depth int) []byte {
	if len(b) > limit || depth > maxDepth {
		return b
	}
	switch {
	case n.Type == html.TextNode:
		return appendCollapsed(b, n.Data)
	case isWithoutText(n):
		return b
	case n.Type == html.ElementNode && !isInline(n.DataAtom) && len(b) > 0:
		b = appendCollapsed(b, " ")
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		b = appendTextOf(b, c, limit, depth+1)
	}
	return b
}

// isWithoutText reports whether what an element contains is no text of the page.
func isWithoutText(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Svg, atom.Noscript:
		return true
	}
	return isPermalink(n)
}

// clean composes a text, and decodes HTML entities, which some sites escape two or three
// times ("&amp;#7871;").
func clean(s string) string {
	for range 3 {
		if !strings.Contains(s, "&") {
			break
		}
		u := html.UnescapeString(s)
		if u == s {
			break
		}
		s = u
	}
	if s = compose(s); isCollapsed(s) {
		return strings.TrimSpace(s)
	}
	return string(bytes.TrimSpace(appendCollapsed(nil, s)))
}

// Text returns the text below a node with collapsed white space, or nothing if it is
// longer than limit bytes.
func Text(n *html.Node, limit int) string { return textOf(n, limit) }
