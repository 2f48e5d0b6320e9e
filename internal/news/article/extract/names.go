package extract

import (
	"strings"

	"golang.org/x/net/html"
)

// nameCache caches what class names and ids say, most of which occur many times on a page.
type nameCache struct {
	names map[string]*name
	slugs map[slug]bool
	free  []name // allocated together
}

// slug is an element with an id that may be made from its text.
type slug struct {
	node *html.Node
	id   string
}

// name is what a class, id or itemprop attribute says about its element.
type name struct {
	hints          hint
	shown          hint // the same, without hidden if that depends on the screen
	isBreadcrumb   bool
	isCategory     bool // of microformats
	isModification bool // of a date
	groups         group
	hasGroups      bool
	first          string // the first of several class names that has no digits
	hasFirst       bool
}

func newNameCache() *nameCache {
	return &nameCache{names: make(map[string]*name, 512), slugs: map[slug]bool{}}
}

// name returns what an attribute says.
func (c *nameCache) name(text string) *name {
	text = text[:min(len(text), maxValueBytes)] // looked up for each date inside the element
	n := c.names[text]
	if n == nil {
		if len(c.free) == 0 {
			c.free = make([]name, 64)
		}
		n, c.free = &c.free[0], c.free[1:]
		*n = name{
			hints: classHints(text), isBreadcrumb: strings.Contains(text, "breadcrumb"),
			isCategory:     strings.Contains(text, "p-category"),
			isModification: strings.Contains(text, "modified") || strings.Contains(text, "lastmod"),
		}
		if n.shown = n.hints; n.hints&hintHidden != 0 && isShownOnLargeScreens(text) {
			n.shown &^= hintHidden
		}
		c.names[text] = n
	}
	return n
}

// firstClass returns the first class name of an element without digits.
func (s *span) firstClass() string {
	if s.class == nil {
		return ""
	}
	if !s.class.hasFirst {
		s.class.first, s.class.hasFirst = firstClass(attr(s.node, "class")), true
	}
	return s.class.first
}

// firstClass returns the first class name without digits.
func firstClass(class string) string {
	for c := range strings.FieldsSeq(class) {
		if !strings.ContainsAny(c, "0123456789") {
			return c
		}
	}
	return ""
}

// class returns the class attribute of an element; nil: it has none.
func (c *nameCache) class(n *html.Node) *name {
	for i := range n.Attr {
		if n.Attr[i].Key == "class" {
			return c.name(n.Attr[i].Val)
		}
	}
	return nil
}

// isSlug is the cached isSlug.
func (c *nameCache) isSlug(n *html.Node, id string) bool {
	is, ok := c.slugs[slug{n, id}]
	if !ok {
		is = isSlug(n, id)
		c.slugs[slug{n, id}] = is
	}
	return is
}
