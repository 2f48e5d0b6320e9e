package extract

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// maxChromeShare is the share of the text of a page above which an element that is only
// named as chrome is a wrapper of the page.
const maxChromeShare = 0.8

// excluded returns the blocks that are no part of the article, whatever they look like:
// chrome, hidden parts of tables and lists, readers' comments on a text, and the headline and
// lists of fields of a text.
func (c *choice) excluded(d *Document, title string) []bool {
	out := c.o.chrome()
	ld, folded := d.loadJSONLD(), fold(title)
	isText := c.o.ownText && len(c.selected) > 0 && !ld.hasType("Product") && !ld.hasType("ItemList") &&
		!ld.hasType("CollectionPage") && !strings.Contains(d.Meta.first("og:type"), "product")
	unit, isFields := noUnit, false
	for i := range out {
		b := &c.o.blocks[i]
		if b.unit != unit {
			unit = b.unit
			isFields = isText && unit != noUnit && c.o.isFieldList(unit)
		}
		out[i] = out[i] || c.o.isHiddenInUnit(i) || c.o.ownText && b.hints&hintComment != 0 ||
			isFields || isText && b.tag == atom.H1 && fold(b.text) == folded
	}
	return out
}

// chrome returns the blocks of the footer of the site and of consent dialogs. They often
// are the only prose of a page that lists products or articles. The footers of articles
// and quotations do not count.
func (o *outline) chrome() []bool {
	chars := make([]int, len(o.blocks)+1) // before each block
	for i := range o.blocks {
		chars[i+1] = chars[i] + o.blocks[i].chars
	}
	limit := int(maxChromeShare * float64(chars[len(o.blocks)]))
	out := make([]bool, len(o.blocks))
	inside := make([]bool, len(o.spans)) // an article, a quotation or chrome
	for i := range o.spans {
		s := &o.spans[i]
		inside[i] = s.parent >= 0 && inside[s.parent]
		switch s.node.DataAtom {
		case atom.Body, atom.Html, atom.Main:
			continue
		case atom.Article, atom.Blockquote:
			inside[i] = true
		}
		if inside[i] || s.hints&hintChrome == 0 || s.node.DataAtom != atom.Footer &&
			chars[s.end]-chars[s.first] > limit {
			continue
		}
		inside[i] = true
		for k := s.first; k < s.end; k++ {
			out[k] = true
		}
	}
	return out
}
