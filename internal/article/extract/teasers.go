package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// teasers marks groups of alike elements that each lead with a link: the stories a publisher
// wants to be read next. Three in a row of the same kind make a group; what is named the
// article's body is left alone, because lists of products look the same.
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
		if s.end == s.first || s.parent < 0 || named[i] || !o.leadsWithLink(s) {
			continue
		}
		k := kind{s.parent, s.node.DataAtom, firstClass(s.node)}
		groups[k] = append(groups[k], i)
	}
	for _, g := range groups {
		if len(g) < 3 {
			continue
		}
		for _, i := range g {
			out[i] = true
		}
	}
	return out
}

// leadsWithLink says whether an element begins with a linked headline and goes on with little.
func (o *outline) leadsWithLink(s *span) bool {
	chars := 0
	for i := s.first; i < s.end; i++ {
		chars += o.blocks[i].chars
	}
	if chars > 1200 {
		return false
	}
	for i := s.first; i < min(s.end, s.first+3); i++ {
		b := &o.blocks[i]
		if b.links >= 25 && (b.linkShare() > 0.8 || b.opens) {
			return true
		}
	}
	return false
}

// firstClass is the first name of an element's class that holds no number.
func firstClass(n *html.Node) string {
	for i := range n.Attr {
		if n.Attr[i].Key != "class" {
			continue
		}
		for c := range strings.FieldsSeq(n.Attr[i].Val) {
			if !strings.ContainsAny(c, "0123456789") {
				return c
			}
		}
	}
	return ""
}
