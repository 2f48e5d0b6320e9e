package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// noUnit is the unit of blocks that are selected one by one.
const noUnit = -1

// maxCellChars is the length of a cell above which a table without headers is a layout.
const maxCellChars = 300

// findUnits sets the units of the blocks: a table with data and a list are selected as a
// whole, because a part of them means nothing or something else.
func (o *outline) findUnits() {
	for i := 0; i < len(o.spans); {
		s := &o.spans[i]
		unit := false
		switch s.node.DataAtom {
		case atom.Table:
			unit = o.isDataTable(i)
		case atom.Ul, atom.Ol, atom.Dl:
			unit = o.isPlainList(i)
		}
		if !unit {
			i++
			continue
		}
		for k := s.first; k < s.end; k++ {
			o.blocks[k].unit = i
		}
		i = o.after(i)
	}
}

// after returns the first element after the subtree of an element.
func (o *outline) after(at int) int {
	i := at + 1
	for i < len(o.spans) && o.spans[i].depth > o.spans[at].depth {
		i++
	}
	return i
}

// isDataTable distinguishes tables with data from those that arrange a page, by what the
// HTML standard recommends
// (https://html.spec.whatwg.org/multipage/tables.html#the-table-element): headers, a
// caption and the role; otherwise by the length of the cells.
func (o *outline) isDataTable(at int) bool {
	if role := attr(o.spans[at].node, "role"); role == "presentation" || role == "none" {
		return false
	}
	rows, cells, columns, headers, maxLength := 0, 0, 0, 0, 0
	for i, end := at+1, o.after(at); i < end; i++ {
		s := &o.spans[i]
		switch s.node.DataAtom {
		case atom.Table, atom.H1, atom.Article, atom.Form:
			return false
		case atom.Tr:
			if rows == 0 || cells > 0 {
				rows++
			}
			cells = 0
		case atom.Caption, atom.Thead:
			headers++
		case atom.Td, atom.Th:
			if s.node.DataAtom == atom.Th {
				headers++
			}
			cells++
			columns = max(columns, cells)
			chars, prose := 0, 0
			for k := s.first; k < s.end; k++ {
				chars += o.blocks[k].chars
				if o.blocks[k].isProse() {
					prose++
				}
			}
			if prose > 3 {
				return false
			}
			maxLength = max(maxLength, chars)
		}
	}
	return rows > 1 && columns > 1 && (headers > 0 || maxLength <= maxCellChars)
}

// isPlainList reports whether the items of a list are text, not cards of several parts.
func (o *outline) isPlainList(at int) bool {
	item, blocks, parts := -1, 0, 0
	for i := o.spans[at].first; i < o.spans[at].end; i++ {
		b := &o.blocks[i]
		own := b.span
		for own != at && !isItem(o.spans[own].node.DataAtom) {
			switch o.spans[own].node.DataAtom {
			case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Table, atom.Article, atom.Section,
				atom.Form,
				atom.Figure, atom.Header, atom.Footer, atom.Nav, atom.Aside:
				return false
			}
			own = o.spans[own].parent
		}
		if own != item {
			item, blocks, parts = own, 0, 0
		}
		blocks++
		if b.tag == atom.Div || isInline(b.tag) {
			parts++
		}
		if blocks > 1 && parts > 0 {
			return false
		}
	}
	return true
}

func isItem(a atom.Atom) bool { return a == atom.Li || a == atom.Dt || a == atom.Dd }

func (o *outline) isTable(unit int) bool {
	return unit != noUnit && o.spans[unit].node.DataAtom == atom.Table
}

// isJunkTable reports whether a table with data is no part of the text: most of its
// cells, or of its text, are links.
func (o *outline) isJunkTable(unit int) bool {
	cells, linked, chars, links := 0, 0, 0, 0
	for i := o.spans[unit].first; i < o.spans[unit].end; i++ {
		b := &o.blocks[i]
		chars += b.chars
		links += b.linkChars
		cells++
		if b.linkShare() > 0.7 {
			linked++
		}
		if b.hints&(hintJunk|hintComment) != 0 {
			return true
		}
	}
	return 2*linked > cells || 3*links > 2*chars
}

// isJunkUnit reports whether a table or list is no part of the text: a table of links, a
// list of fields, or a list most of whose text the rules drop.
func (o *outline) isJunkUnit(unit int, title string) bool {
	if o.isTable(unit) {
		return o.isJunkTable(unit)
	}
	if o.isFieldList(unit) {
		return true
	}
	chars, junk := 0, 0
	for i := o.spans[unit].first; i < o.spans[unit].end; i++ {
		chars += o.blocks[i].chars
		if o.isJunk(i, title) {
			junk += o.blocks[i].chars
		}
	}
	return 2*junk > chars
}

// isExcluded reports whether a block is never part of its unit: hidden text, and an
// advertisement between the items of a list.
func (o *outline) isExcluded(i int) bool { return o.blocks[i].hints&hintsNotText != 0 }

// isHiddenInUnit reports whether a block is a hidden part of its table or list, or all of that is hidden. What is
// around them may say so of an element that unfolds or fades in.
func (o *outline) isHiddenInUnit(i int) bool {
	unit := o.blocks[i].unit
	for at := o.blocks[i].span; unit != noUnit && at >= unit; at = o.spans[at].parent {
		if o.spans[at].hints&hintHidden != 0 {
			return true
		}
	}
	return false
}

// keepEnclosed adds the tables, lists and headings that stand between selected paragraphs
// of the same element.
func (o *outline) keepEnclosed(selected []bool, title string) {
	for i := 0; i < len(o.blocks); i++ {
		unit := o.blocks[i].unit
		if unit == noUnit {
			selected[i] = selected[i] || o.isEnclosedHeading(i, selected)
			continue
		}
		s := &o.spans[unit]
		i = s.end - 1
		if !o.isEnclosed(unit, selected) || o.isJunkUnit(unit, title) {
			continue
		}
		for k := s.first; k < s.end; k++ {
			selected[k] = !o.isExcluded(k)
		}
	}
}

// isEnclosedHeading reports whether a block is a heading next to selected paragraphs.
func (o *outline) isEnclosedHeading(i int, selected []bool) bool {
	b := &o.blocks[i]
	if b.tag == atom.H1 || !isHeading(b.tag) || o.isExcluded(i) || b.linkChars > 0 || i == 0 || i+1 == len(o.blocks) {
		return false
	}
	for _, k := range [2]int{i - 1, i + 1} {
		if n := &o.blocks[k]; !selected[k] || !n.isProse() || o.spans[n.span].parent != o.spans[b.span].parent {
			return false
		}
	}
	return true
}

// isEnclosed reports whether the smallest element with selected paragraphs around a unit
// has them before and after it. A post, or another article (HTML, section 4.3.2: "a complete,
// or self-contained, composition"), without one is between paragraphs of others.
func (o *outline) isEnclosed(unit int, selected []bool) bool {
	s := &o.spans[unit]
	has := func(first, end int) bool {
		for k := first; k < end; k++ {
			if selected[k] && o.blocks[k].unit == noUnit && o.blocks[k].isProse() {
				return true
			}
		}
		return false
	}
	for at := s.parent; at >= 0; at = o.spans[at].parent {
		before, after := has(o.spans[at].first, s.first), has(s.end, o.spans[at].end)
		if before || after {
			return before && after
		}
		isMore := o.spans[at].first < s.first || o.spans[at].end > s.end
		if o.spans[at].node.DataAtom == atom.Article || o.isDiscussion && isMore {
			return false
		}
	}
	return false
}

// tableText returns the rows of a table as lines, with the cells separated by "|".
func (o *outline) tableText(unit int) string {
	var text, row strings.Builder
	cells := 0
	flush := func() {
		if line := strings.TrimSpace(strings.TrimRight(row.String(), " |")); line != "" {
			if text.Len() > 0 {
				text.WriteByte('\n')
			}
			text.WriteString(line)
		}
		row.Reset()
		cells = 0
	}
	for i, end := unit+1, o.after(unit); i < end; i++ {
		s := &o.spans[i]
		switch s.node.DataAtom {
		case atom.Tr:
			flush()
		case atom.Caption:
			flush()
			o.appendBlocks(&row, s)
			flush()
		case atom.Td, atom.Th:
			if cells++; cells > 1 {
				row.WriteString(" |")
			}
			o.appendBlocks(&row, s)
		}
	}
	flush()
	return text.String()
}

// appendBlocks appends the text of an element, without what is hidden.
func (o *outline) appendBlocks(b *strings.Builder, s *span) {
	for k := s.first; k < s.end; k++ {
		if !o.isExcluded(k) {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(o.blocks[k].text)
		}
	}
}

// tableParts returns the rows and cells of a table, including empty ones, because HTML
// without them would shift the others.
func tableParts(table *html.Node) []*html.Node {
	var out []*html.Node
	for n := range table.Descendants() {
		if n.DataAtom == atom.Tr || n.DataAtom == atom.Td || n.DataAtom == atom.Th {
			out = append(out, n)
		}
	}
	return out
}
