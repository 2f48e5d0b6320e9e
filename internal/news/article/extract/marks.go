package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Mark is the decision of an editor that something on the pages of a site is part of the text of their articles, or is
// not. It is about blocks with a text, wherever they are, or about all blocks in elements of a kind. It has the last
// word: over the rules, the block classifier, the template of the site and its selectors. A mark of a text overrides
// one of an element, and that of an inner element overrides one of an outer element.
type Mark struct {
	Text    int64  `json:"text,omitempty"`    // hash of the text, see TextHash; 0: the mark is about an element
	Element string `json:"element,omitempty"` // as in PageBlock.Elements
	IsBody  bool   `json:"is_body"`
}

// TextHash identifies the text of a block, ignoring case and punctuation. It is 0 for a text without letters and
// digits, and fits into a number of JavaScript.
func TextHash(text string) int64 {
	if fold(text) == "" {
		return 0
	}
	return textHash(text)
}

// markIndex finds the marks of the blocks of a page.
type markIndex struct {
	texts    map[int64]bool
	elements map[string]bool
	bySpan   map[int]elementMark // of the outline of the page; found on first use
}

// elementMark is what the innermost mark of an element and those around it says.
type elementMark struct{ isBody, ok bool }

func newMarkIndex(marks []Mark) *markIndex {
	if len(marks) == 0 {
		return nil
	}
	out := &markIndex{texts: map[int64]bool{}, elements: map[string]bool{}, bySpan: map[int]elementMark{}}
	for _, m := range marks {
		if m.Text != 0 {
			out.texts[m.Text] = m.IsBody
		} else {
			out.elements[m.Element] = m.IsBody
		}
	}
	return out
}

// find returns what a mark says about a block. A table is marked as a whole, by the first of its cells that is.
func (m *markIndex) find(o *outline, i int) (isBody, ok bool) {
	if m == nil {
		return false, false
	}
	if unit := o.blocks[i].unit; o.isTable(unit) {
		for k := o.spans[unit].first; k < o.spans[unit].end; k++ {
			if isBody, ok = m.findBlock(o, k); ok {
				return isBody, true
			}
		}
		return false, false
	}
	return m.findBlock(o, i)
}

func (m *markIndex) findBlock(o *outline, i int) (isBody, ok bool) {
	if len(m.texts) > 0 {
		if isBody, ok = m.texts[TextHash(o.blocks[i].text)]; ok {
			return isBody, true
		}
	}
	e := m.findElement(o, o.blocks[i].span)
	return e.isBody, e.ok
}

func (m *markIndex) findElement(o *outline, span int) elementMark {
	if span < 0 || len(m.elements) == 0 {
		return elementMark{}
	}
	out, known := m.bySpan[span]
	if !known {
		if out.isBody, out.ok = m.elements[o.elementName(span)]; !out.ok {
			out = m.findElement(o, o.spans[span].parent)
		}
		m.bySpan[span] = out
	}
	return out
}

// maxElementName is the length from which names of elements are cut off, in bytes.
const maxElementName = 60

// elementName names the kind of an element by itself and the two elements around it, each with its first class name
// that has no digits: "main > div.story > p". Elements of a kind are on all pages of a site.
func (o *outline) elementName(span int) string {
	var names []string
	for ; span >= 0 && len(names) < 3; span = o.spans[span].parent {
		s := &o.spans[span]
		name := s.node.Data
		if class := s.firstClass(); class != "" {
			name += "." + class
		}
		names = append(names, strings.ToValidUTF8(name[:min(len(name), maxElementName)], ""))
	}
	slices.Reverse(names)
	return strings.Join(names, " > ")
}

// bodyBlocks tells which blocks of a page are in a body, whichever outline it was made from.
type bodyBlocks struct {
	texts  map[*html.Node][]string
	tables map[*html.Node]bool
	all    map[string]bool // texts
}

func newBodyBlocks(b Body) bodyBlocks {
	out := bodyBlocks{
		texts: make(map[*html.Node][]string, len(b.Elements)), tables: map[*html.Node]bool{}, all: map[string]bool{},
	}
	for i, n := range b.Elements {
		out.texts[n] = append(out.texts[n], b.Blocks[i])
		out.tables[n], out.all[b.Blocks[i]] = true, true
	}
	return out
}

func (m bodyBlocks) has(o *outline, i int) bool {
	b := &o.blocks[i]
	if o.isTable(b.unit) {
		return m.tables[o.spans[b.unit].node]
	}
	return slices.Contains(m.texts[b.container], b.text)
}

// WithMarks returns a body with what editors marked as part of it, and without what they marked as not.
func (d *Document) WithMarks(b Body, found bool) (Body, bool) {
	if d.marks == nil {
		return b, found
	}
	o, in := d.loadOutline(), newBodyBlocks(b)
	selected, changed := make([]int, 0, len(b.Blocks)), false
	for i := range o.blocks {
		is := in.has(o, i)
		if marked, ok := d.marks.find(o, i); ok && marked != is && (!marked || !in.all[o.blocks[i].text]) {
			is, changed = marked, true
			in.all[o.blocks[i].text] = marked // a copy elsewhere on the page is not selected too
		}
		if is {
			selected = append(selected, i)
		}
	}
	if !changed {
		return b, found
	}
	if len(selected) == 0 {
		return Body{}, false
	}
	out, ok := o.assemble(d, o.commonSpan(o.blocks[selected[0]].span, selected), selected)
	out.Signature = firstOf(b.Signature, out.Signature)
	out.Headlines, out.Prose = b.Headlines, b.Prose
	return out, ok
}

// ContradictedMarks returns the texts of the blocks that a body has although editors marked them as not part of it, and
// of those that it lacks.
func (d *Document) ContradictedMarks(b Body) (extra, missing []string) {
	if d.marks == nil {
		return nil, nil
	}
	o, in := d.loadOutline(), newBodyBlocks(b)
	for i := range o.blocks {
		marked, ok := d.marks.find(o, i)
		switch is := in.has(o, i); {
		case !ok || marked == is || marked && in.all[o.blocks[i].text]:
		case is:
			extra = append(extra, o.blocks[i].text)
		default:
			missing = append(missing, o.blocks[i].text)
		}
	}
	return extra, missing
}
