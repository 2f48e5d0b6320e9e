package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const (
	hintsNotText = hintJunk | hintComment | hintHidden // never part of an article
	// bodyShare is the share of the sentences of a page above which an element contains
	// the article, whatever its class name: "has-sidebar" on the body element is not a
	// sidebar.
	bodyShare = 0.45
	// headlineShare is the same for an element that also contains the only h1: the rest of
	// the sentences are comments or teasers.
	headlineShare = 0.15
)

// resolveHints computes the hints of each block. The hints of an element apply to
// everything inside, unless the element contains most of the sentences of the page.
func (o *outline) resolveHints() {
	o.wrappers = map[*html.Node]bool{}
	sums := make([]int, len(o.blocks)+1)
	named := make([]int, len(o.blocks)+1) // the same, of text inside elements named as the body
	inBody := o.insideNamedBody()
	teasers := o.teasers(inBody)
	for i := range o.blocks {
		b := &o.blocks[i]
		n := 0
		if b.chars >= 60 && b.punctuation > 0 && b.linkShare() < 0.4 {
			n = b.chars
		}
		sums[i+1] = sums[i] + n
		named[i+1] = named[i]
		if inBody[b.span] {
			named[i+1] += n
		}
	}
	total := float64(sums[len(o.blocks)])
	allNamed := named[len(named)-1]
	headline := o.headlineBlock()
	o.findDiscussion()
	o.ownText = o.hasOwnText(inBody, headline)
	containsArticle := func(s *span) bool { // whether s contains the article
		if o.ownText && s.hints&hintComment != 0 && (headline < s.first || headline >= s.end) {
			return false
		}
		inSpan := named[s.end] - named[s.first]
		if allNamed > 300 {
			return 2*inSpan > allNamed
		}
		share := bodyShare
		if headline >= s.first && headline < s.end {
			share = headlineShare
		}
		return float64(sums[s.end]-sums[s.first]) > share*total
	}
	eff := make([]hint, len(o.spans))
	for i := range o.spans {
		s := &o.spans[i]
		h := s.hints
		if teasers[i] {
			h |= hintJunk
		}
		own := h
		if h&(hintsNotText|hintSuspect|hintCaption|hintLead|hintByline|hintDate) != 0 && total > 0 &&
			containsArticle(s) {
			h &= hintBody
			s.hints &= hintBody | hintChrome
			o.wrappers[s.node] = true
		}
		switch s.node.DataAtom {
		case atom.Tr, atom.Td, atom.Th, atom.Tbody:
			h &^= hintSuspect
		case atom.Body, atom.Html, atom.Main:
			h &= hintBody
		case atom.Article:
			h &^= hintSuspect
		}
		if s.first < s.end && o.isTable(o.blocks[s.first].unit) && o.blocks[s.first].unit < i {
			h &= hintHidden // columns may have any name
		}
		if s.parent >= 0 {
			up := eff[s.parent]
			switch {
			case own&hintQuote != 0 && s.node.DataAtom == atom.Blockquote: // an embedded social media post
				h, up = hintQuote, up&^(hintJunk|hintSuspect|hintCaption)
			case own&hintBody != 0:
				up &^= hintSuspect | hintLead | hintByline | hintDate
			}
			h |= up
		}
		eff[i] = h
	}
	for i := range o.blocks {
		o.blocks[i].hints = eff[o.blocks[i].span]
	}
}

// findDiscussion drops the hints of comments if the page is declared to be a discussion:
// its posts are its text.
func (o *outline) findDiscussion() {
	comments, asks, answers := false, false, false
	for i := range o.spans {
		comments = comments || o.spans[i].hints&hintComment != 0
		switch t := attr(o.spans[i].node, "itemtype"); t[strings.LastIndexByte(t, '/')+1:] {
		case "DiscussionForumPosting", "QAPage":
			o.isDiscussion = true
		case "Question":
			asks = true
		case "FAQPage":
			answers = true // its questions are those of one author
		}
	}
	o.isDiscussion = o.isDiscussion || asks && !answers
	if !comments || !o.isDiscussion {
		return
	}
	for i := range o.spans {
		o.spans[i].hints &^= hintComment
	}
}

// hasOwnText reports whether the page has a paragraph of an article outside of comments: it
// is in an element that is named as a body, or the page declares that it is an article. The
// comments of such a page are no part of it, even if they are longer. The posts of a
// discussion are often named as comments, too, but none is outside of them.
func (o *outline) hasOwnText(inBody []bool, headline int) bool {
	if o.isDiscussion {
		return false
	}
	comment := make([]bool, len(o.spans))
	for i := range o.spans {
		s := &o.spans[i]
		isComment := s.hints&hintComment != 0 && s.node.DataAtom != atom.Body && s.node.DataAtom != atom.Main
		comment[i] = isComment || s.parent >= 0 && comment[s.parent]
	}
	for i := range o.blocks {
		b := &o.blocks[i]
		if b.isProse() && (inBody[b.span] || o.isArticle || headline >= 0 && i > headline &&
			b.hints&hintSuspect == 0) && !comment[b.span] && b.hints&(hintJunk|hintHidden) == 0 {
			return true
		}
	}
	return false
}

// headlineBlock returns the block of the only h1; -1: there is none, or several.
func (o *outline) headlineBlock() int {
	at := -1
	for i := range o.blocks {
		if o.blocks[i].tag == atom.H1 {
			if at >= 0 && o.blocks[at].span != o.blocks[i].span {
				return -1
			}
			at = i
		}
	}
	return at
}

// insideNamedBody marks the elements inside an element that is named as the body.
func (o *outline) insideNamedBody() []bool {
	in := make([]bool, len(o.spans))
	for i := range o.spans {
		s := &o.spans[i]
		in[i] = s.hints&hintBody != 0 || s.parent >= 0 && in[s.parent]
	}
	return in
}

// score is how much a block indicates that the surrounding element is the article:
// positive for prose, negative for links, menus and labels.
func (b *block) score() float64 {
	links := b.linkShare()
	switch {
	case b.hints&(hintJunk|hintHidden) != 0:
		return -min(float64(b.chars), 60) * 0.3
	case b.hints&hintComment != 0:
		return -10
	case links > 0.5:
		return -min(float64(b.chars), 80) * 0.5
	case b.hints&hintCaption != 0:
		return -2
	}
	var w float64
	switch {
	case b.chars >= 80 || b.punctuation > 0 && b.chars >= 30:
		w = min(float64(b.chars), 1500) * (1 - links)
	case b.tag == atom.H2 || b.tag == atom.H3 || b.tag == atom.H4 || b.isBold:
		w = 2
	case b.inTable || b.hints&hintBody != 0:
		w = -1
	default:
		w = -6
	}
	if b.hints&hintSuspect != 0 && w > 0 {
		w *= 0.3
	}
	if b.inTable && w > 0 {
		w *= 0.5
	}
	return w
}

// chooseBody returns the element with the highest total score. The blocks of an element
// are contiguous, so totals are differences of a running sum.
func (o *outline) chooseBody() int {
	sums := make([]float64, len(o.blocks)+1)
	for i := range o.blocks {
		sums[i+1] = sums[i] + o.blocks[i].score()
	}
	best, top := -1, 0.0
	for i := range o.spans {
		s := &o.spans[i]
		g := sums[s.end] - sums[s.first]
		if s.hints&hintBody != 0 {
			g *= 1.1
		}
		if s.node.DataAtom == atom.Article {
			g *= 1.05
		}
		if g > 0 && g >= top {
			best, top = i, g
		}
	}
	return best
}
