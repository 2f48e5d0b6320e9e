package extract

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxDepth limits the traversal depth. The parser allows 512.
const maxDepth = 520

// block is a run of text that readers see as one unit: a paragraph, a heading, a list
// item, or lines between line breaks.
type block struct {
	texts          []*html.Node // in document order
	text           string       // normalized
	chars          int          // length of the text
	letters        int          // of those
	upper          int          // of those, capitals
	ideographs     int          // of the letters, those of East Asia
	digits         int
	low            string     // the text in lower case, if it was needed
	linkChars      int        // of those, inside links
	punctuation    int        // commas and sentence endings
	container      *html.Node // the enclosing block element
	tag            atom.Atom  // of that element
	span           int        // its index in spans
	hints          hint       // of all enclosing elements
	inList         bool       // inside a list item
	inQuote        bool       // inside a quotation
	inTable        bool
	isBold         bool // entirely bold
	startsWithLink bool // starts with a link
	afterBreak     bool // after a line break in the same element
	unit           int  // the table or list that is selected as a whole, as an index of spans; or noUnit
}

func (b *block) linkShare() float64 {
	if b.chars == 0 {
		return 0
	}
	return float64(b.linkChars) / float64(b.chars)
}

// lower returns the text in lower case.
func (b *block) lower() string {
	if b.low == "" {
		b.low = strings.ToLower(b.text)
	}
	return b.low
}

// span is an element with the blocks inside it.
type span struct {
	node       *html.Node
	parent     int
	first, end int // blocks[first:end]
	hints      hint
	class      *name // nil: none
	depth      int
}

// outline is a page as a list of blocks and the elements around them.
type outline struct {
	blocks []block
	spans  []span
	texts  []*html.Node // of the blocks
	tables map[int]bool // by span: whether it consists of links
	names  *nameCache

	wrappers     map[*html.Node]bool // elements that contain the article, whatever their names say
	isArticle    bool                // the page declares that it is an article
	isDiscussion bool                // the page declares that it is a discussion
	ownText      bool                // there is text outside of comments
}

// outlineBuilder builds an outline in one traversal.
type outlineBuilder struct {
	o     outline
	stack []int
	links int // depth of links
	bolds int
	opens bool
	plain bool   // the block contains text that is not bold
	acc   []byte // the collapsed text of the block
	linkN int
	hints hint
	list  int
	quote int
	table int
	br    bool
	meta  *Meta
	at    int // the next element in its list
	from  int // the first text node of the block in o.texts
}

// newOutline returns the outline of the subtree of a node.
func newOutline(root *html.Node, m *Meta) *outline {
	w := &outlineBuilder{meta: m}
	w.o.names = m.names
	n := len(m.elements)
	w.o.texts = make([]*html.Node, 0, n/2)
	w.o.blocks = make([]block, 0, n/4)
	w.o.spans = make([]span, 0, n*2/3)
	w.element(root, 0)
	w.flush()
	for i := len(w.stack) - 1; i >= 0; i-- {
		w.o.spans[w.stack[i]].end = len(w.o.blocks)
	}
	w.o.findUnits()
	return &w.o
}

func (w *outlineBuilder) element(n *html.Node, depth int) {
	if depth > maxDepth {
		return
	}
	switch n.DataAtom {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Embed, atom.Svg,
		atom.Canvas,
		atom.Input, atom.Head, atom.Link, atom.Meta, atom.Audio, atom.Video, atom.Map, atom.Math, atom.Select,
		atom.Textarea, atom.Img, atom.Hr:
		if n.DataAtom == atom.Hr {
			w.flush()
		}
		return
	case atom.Br:
		w.flush()
		w.br = true
		return
	}
	if isPermalink(n) {
		return
	}
	// The root contains everything else, whatever its type: a selector may select a
	// <span>.
	blocky := len(w.stack) == 0 || n.Type == html.ElementNode && !isInline(n.DataAtom)
	own, class := hint(0), (*name)(nil)
	if n.Type == html.ElementNode {
		own, class = w.namesOf(n)
	}
	if blocky {
		w.flush()
		w.br = false
	} else if own&(hintHidden|hintJunk) != 0 && len(w.acc) > 0 {
		return // a tooltip or button within a sentence
	} else if own&(hintHidden|hintJunk|hintCaption|hintComment) != 0 {
		w.flush()
		blocky = true
	}
	outer := w.hints
	w.hints |= own
	if blocky {
		parent := -1
		if len(w.stack) > 0 {
			parent = w.stack[len(w.stack)-1]
		}
		w.o.spans = append(w.o.spans, span{
			node: n, parent: parent, first: len(w.o.blocks), hints: own, class: class, depth: depth,
		})
		w.stack = append(w.stack, len(w.o.spans)-1)
	}
	a := n.DataAtom
	if a == atom.A && isHeadingLink(n) {
		a = atom.Span // the heading is text
	}
	w.enter(a, 1)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch c.Type {
		case html.TextNode:
			w.text(c)
		case html.ElementNode:
			w.element(c, depth+1)
		}
	}
	if blocky {
		w.flush()
		w.br = false
		at := w.stack[len(w.stack)-1]
		w.o.spans[at].end = len(w.o.blocks)
		w.stack = w.stack[:len(w.stack)-1]
	}
	w.enter(a, -1)
	w.hints = outer
}

// namesOf returns the hints and the class of an element, which are in the list of the elements of the page.
func (w *outlineBuilder) namesOf(n *html.Node) (hint, *name) {
	for ; w.at < len(w.meta.elements); w.at++ {
		if e := &w.meta.elements[w.at]; e.node == n {
			return e.hints, e.class
		}
	}
	return w.meta.names.hints(n), w.meta.names.class(n)
}

func (w *outlineBuilder) enter(a atom.Atom, by int) {
	switch a {
	case atom.A:
		w.links += by
	case atom.B, atom.Strong, atom.Em, atom.I:
		w.bolds += by
	case atom.Li, atom.Dd, atom.Dt:
		w.list += by
	case atom.Blockquote:
		w.quote += by
	case atom.Table:
		w.table += by
	}
}

func (w *outlineBuilder) text(n *html.Node) {
	if len(w.acc) == 0 && isBlank(n.Data) || isLinkNote(n.Data) {
		return
	}
	before := len(w.acc)
	if before == 0 {
		w.opens = w.links > 0
	}
	w.acc = appendCollapsed(w.acc, n.Data)
	if w.links > 0 {
		w.linkN += len(w.acc) - before
	}
	if w.bolds == 0 && !isBlank(n.Data) {
		w.plain = true
	}
	w.o.texts = append(w.o.texts, n)
}

// isPermalink reports whether an element is a link to a place on a page that has no words,
// such as "¶" or "#" next to a heading and "↩" after a footnote. Generators of sites add it;
// it is not part of the text. A heading's link to itself is one, too, if the heading has
// words outside of it ("Link to this heading").
func isPermalink(n *html.Node) bool {
	if n.DataAtom != atom.A {
		return false
	}
	_, place, ok := strings.Cut(attr(n, "href"), "#")
	if !ok {
		return false
	}
	return !hasWords(n, 0) || isLinkToItself(n, place)
}

// isLinkToItself reports whether a link leads to the heading around it, which has words
// outside of the link.
func isLinkToItself(link *html.Node, place string) bool {
	heading := headingAround(link)
	if heading == nil || place == "" {
		return false
	}
	isTarget := attr(link, "id") == place || attr(link, "name") == place
	for n, up := heading, 0; n != nil && up < 3; n, up = n.Parent, up+1 {
		isTarget = isTarget || attr(n, "id") == place
	}
	if !isTarget {
		return false
	}
	for n := link; n != heading; n = n.Parent {
		for s := n.Parent.FirstChild; s != nil; s = s.NextSibling {
			if s != n && hasWords(s, 0) {
				return true
			}
		}
	}
	return false
}

// isHeadingLink reports whether the text of a heading links to a place on its own page.
func isHeadingLink(link *html.Node) bool {
	return strings.HasPrefix(attr(link, "href"), "#") && headingAround(link) != nil
}

// headingAround returns the heading around a link.
func headingAround(link *html.Node) *html.Node {
	n := link.Parent
	for up := 0; n != nil && up < 3; up++ {
		if isHeading(n.DataAtom) {
			return n
		}
		n = n.Parent
	}
	return nil
}

// hasWords reports whether a node contains a letter or a digit.
func hasWords(n *html.Node, depth int) bool {
	switch {
	case n.Type == html.TextNode:
		return strings.ContainsFunc(n.Data, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
	case depth > maxDepth:
		return false
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if hasWords(c, depth+1) {
			return true
		}
	}
	return false
}

// isLinkNote recognizes what screen readers say about a link, such as "(opens in new tab)".
func isLinkNote(s string) bool {
	if len(s) > 60 || !strings.Contains(s, "ew tab") && !strings.Contains(s, "ew window") &&
		!strings.Contains(s, "neuem") {
		return false
	}
	s = strings.Trim(strings.ToLower(s), " ,()[]\u00a0\n\t.")
	switch s {
	case "opens new tab", "opens in new tab", "opens in a new tab", "opens new window", "opens in new window",
		"opens in a new window", "link opens in a new tab", "link opens in new window", "öffnet in neuem fenster",
		"öffnet in neuem tab":
		return true
	}
	return false
}

func (w *outlineBuilder) flush() {
	if text := bytes.TrimSpace(w.acc); len(text) > 0 {
		at := w.stack[len(w.stack)-1]
		in := w.o.spans[at].node
		b := block{
			texts: w.o.texts[w.from:len(w.o.texts):len(w.o.texts)], container: in, tag: in.DataAtom, span: at,
			hints: w.hints, inList: w.list > 0, inQuote: w.quote > 0, inTable: w.table > 0, isBold: !w.plain,
			afterBreak: w.br, startsWithLink: w.opens, unit: noUnit,
		}
		if len(b.texts) == 1 {
			b.text = strings.TrimSpace(b.texts[0].Data)
		}
		if b.text != string(text) {
			b.text = string(text)
		}
		b.measure()
		b.linkChars = min(b.chars, w.linkN*b.chars/len(w.acc))
		w.o.blocks = append(w.o.blocks, b)
	}
	w.acc = w.acc[:0]
	w.from = len(w.o.texts)
	w.linkN = 0
	w.plain = false
}

// isInline reports whether an element flows within a line of text.
func isInline(a atom.Atom) bool {
	switch a {
	case atom.A, atom.Abbr, atom.Acronym, atom.B, atom.Bdi, atom.Bdo, atom.Big, atom.Cite, atom.Code, atom.Data,
		atom.Del, atom.Dfn,
		atom.Em, atom.Font, atom.I, atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.Ruby, atom.S, atom.Samp, atom.Small,
		atom.Span,
		atom.Strike, atom.Strong, atom.Sub, atom.Sup, atom.Time, atom.Tt, atom.U, atom.Var, atom.Wbr, atom.Label,
		atom.Picture:
		return true
	}
	return a == 0 // unknown elements are inline
}

func isBlank(s string) bool {
	for _, r := range s {
		switch r {
		case ' ', '\t', '\n', '\r', '\f', '\u00a0', '\u200b', '\ufeff':
		default:
			return false
		}
	}
	return true
}

// appendCollapsed appends a text with collapsed white space. It copies whole runs,
// because all text of a page passes through it.
func appendCollapsed(b []byte, s string) []byte {
	space := len(b) > 0 && b[len(b)-1] == ' '
	from := 0
	for i := 0; i < len(s); {
		n, gap := 0, false
		switch c := s[i]; {
		case c == ' ' && !space && (i+1 == len(s) || s[i+1] > ' ' && s[i+1] < utf8.RuneSelf):
			i++ // a single space between words is kept
			continue
		case c == ' ' || c >= '\t' && c <= '\r':
			n, gap = 1, true
		case c < 0xC2 || c > 0xC2 && c < 0xE2 || c > 0xE2 && c != 0xEF:
		case strings.HasPrefix(s[i:], "\u00a0"):
			n, gap = 2, true
		case strings.HasPrefix(s[i:], "\u00ad"):
			n = 2
		case strings.HasPrefix(s[i:], "\u200b"), strings.HasPrefix(s[i:], "\ufeff"):
			n = 3
		}
		if n == 0 {
			i++
			continue
		}
		if from < i {
			b = append(b, s[from:i]...)
			space = false
		}
		if gap && !space {
			b = append(b, ' ')
			space = true
		}
		i += n
		from = i
	}
	return append(b, s[from:]...)
}

// isCollapsed reports whether appendCollapsed would leave a text unchanged.
func isCollapsed(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ':
			if i > 0 && s[i-1] == ' ' {
				return false
			}
		case c >= '\t' && c <= '\r':
			return false
		case c != 0xC2 && c != 0xE2 && c != 0xEF:
		case strings.HasPrefix(s[i:], "\u00a0"), strings.HasPrefix(s[i:], "\u00ad"), strings.HasPrefix(s[i:], "\u200b"),
			strings.HasPrefix(s[i:], "\ufeff"):
			return false
		}
	}
	return true
}

// measure counts the characters of the text of a block.
func (b *block) measure() {
	chars, punctuation, digits, letters, upper := 0, 0, 0, 0, 0
	for i := 0; i < len(b.text); {
		n := 1
		chars++
		switch c := b.text[i]; {
		case c >= 'a' && c <= 'z':
			letters++
		case c == ' ':
		case c >= utf8.RuneSelf:
			var r rune
			r, n = utf8.DecodeRuneInString(b.text[i:])
			switch {
			case r == '…', r == '”', r == '。', r == '、', r == '，':
				punctuation++
			case isIdeographic(r):
				b.ideographs++
				letters++
			case unicode.IsUpper(r):
				upper++
				letters++
			case unicode.IsLetter(r):
				letters++
			}
		case c >= 'A' && c <= 'Z':
			upper++
			letters++
		case c >= '0' && c <= '9':
			digits++
		case c == ',', c == '.', c == '?', c == '!', c == ';', c == ':':
			punctuation++
		}
		i += n
	}
	b.chars, b.punctuation, b.digits, b.letters, b.upper = chars, punctuation, digits, letters, upper
}
