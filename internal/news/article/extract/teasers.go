package extract

import (
	"golang.org/x/net/html/atom"
)

// teasers marks groups of at least three similar elements that start with a link:
// teasers of other articles. Inside an element named as the body, they must be a small
// part of it, because product lists look the same.
func (o *outline) teasers(named []bool) []bool {
	out := make([]bool, len(o.spans))
	type kind struct {
		parent int
		tag    atom.Atom
		class  string
	}
	groups := map[kind][]int{}
	for i := range o.spans {
		s := &o.spans[i]
		switch s.node.DataAtom {
		case atom.Div, atom.Li, atom.Article, atom.Section, atom.Dl, atom.Figure:
		default:
			continue
		}
		if s.end == s.first || s.parent < 0 || !o.leadsWithLink(s, named[i]) {
			continue
		}
		k := kind{s.parent, s.node.DataAtom, s.firstClass()}
		groups[k] = append(groups[k], i)
	}
	all := 0
	for i := range o.blocks {
		if named[o.blocks[i].span] {
			all += o.blocks[i].chars
		}
	}
	for _, g := range groups {
		if len(g) < 3 {
			continue
		}
		if named[g[0]] && 3*o.countChars(g) > all {
			continue
		}
		for _, i := range g {
			out[i] = true
		}
	}
	return out
}

func (o *outline) countChars(spans []int) int {
	n := 0
	for _, s := range spans {
		for i := o.spans[s].first; i < o.spans[s].end; i++ {
			n += o.blocks[i].chars
		}
	}
	return n
}

// leadsWithLink reports whether an element starts with a linked headline and has little
// other text. With strict, the headline is a separate block.
func (o *outline) leadsWithLink(s *span, strict bool) bool {
	chars := 0
	for i := s.first; i < s.end; i++ {
		if chars += o.blocks[i].chars; chars > 1200 {
			return false
		}
	}
	for i := s.first; i < min(s.end, s.first+3); i++ {
		b := &o.blocks[i]
		if b.linkChars >= 25 && (b.linkShare() > 0.8 && (!strict || i+1 < s.end) || b.startsWithLink && !strict) {
			return true
		}
	}
	return false
}
