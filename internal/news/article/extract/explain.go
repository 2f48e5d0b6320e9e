package extract

import (
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/news/article"
)

// DropReason is why a block of a page is not part of the text of its article.
type DropReason string

// Reasons, from the first that applies.
const (
	DropMarked     DropReason = "marked"            // by an editor
	DropBySelector DropReason = "selector"          // the selectors of the site remove it
	DropOutside    DropReason = "outside_selectors" // of the site
	DropTitle      DropReason = "title"             // a field of its own
	DropLead       DropReason = "lead"              // a field of its own
	DropLiveEntry  DropReason = "live_entry"        // stored as an entry of a live blog
	DropOnSite     DropReason = "repeated_on_site"  // other pages of the site have it too
	DropHidden     DropReason = "hidden"            // by the page
	DropComment    DropReason = "comment"           // by a reader
	DropNavigation DropReason = "navigation"        // or advertisements, share bars, related articles
	DropCaption    DropReason = "caption"           // of a picture
	DropByline     DropReason = "byline"            // an author or a date
	DropLinks      DropReason = "links"             // to other pages
	DropPhrase     DropReason = "phrase"            // that many sites have, such as "Read more"
	DropRepeated   DropReason = "repeated"          // the text has it already
	DropUnlikely   DropReason = "unlikely"          // it does not look like the text, by its form and place
)

// PageBlock is a paragraph, heading, list item or another block of a page, in document order.
type PageBlock struct {
	Text     string
	Elements []string   // around it, the innermost first, at most 5: what Mark.Element may name
	IsBody   bool       // it is part of the text
	IsMarked bool       // because of a mark, or not
	Reason   DropReason // why it is not part of the text; empty: it is
}

const (
	maxPageBlocks     = 2000
	maxBlockElements  = 5
	maxExplainedBytes = 2 << 20 // of all texts
)

// Explain returns the blocks of a page whose article was extracted before, and why they are part of its text or not.
func (d *Document) Explain(a *article.Article, g Selection) []PageBlock {
	if d.static != nil {
		return d.static.Explain(a, Selection{Values: g.Values})
	}
	o, in := d.loadOutline(), newBodyBlocks(d.body)
	e := explainer{d: d, o: o, article: a, selected: nodeSet(g.Body), dropped: nodeSet(g.Drop), seen: map[string]bool{}}
	if !d.bySelector {
		e.selected, e.dropped = nil, nil
	}
	if a == nil {
		e.article = &article.Article{}
	}
	for _, b := range d.body.Blocks {
		e.seen[b] = true
	}
	out := make([]PageBlock, 0, min(len(o.blocks), maxPageBlocks))
	size := 0
	for i := range o.blocks {
		b := PageBlock{Text: o.blocks[i].text, IsBody: in.has(o, i)}
		if size += len(b.Text); size > maxExplainedBytes || len(out) == maxPageBlocks {
			break
		}
		for at := o.blocks[i].span; at >= 0 && len(b.Elements) < maxBlockElements; at = o.spans[at].parent {
			if n := o.spans[at].node; n.Type == html.ElementNode && n.DataAtom != atom.Body && n.DataAtom != atom.Html {
				b.Elements = append(b.Elements, o.elementName(at))
			}
		}
		if marked, ok := d.marks.find(o, i); ok && marked == b.IsBody {
			b.IsMarked = true
		}
		if !b.IsBody {
			b.Reason = e.reason(i, b.IsMarked)
		}
		out = append(out, b)
	}
	return out
}

// explainer finds why blocks are not part of the text.
type explainer struct {
	d                 *Document
	o                 *outline
	article           *article.Article
	selected, dropped map[*html.Node]bool // by selectors; nil: not used
	seen              map[string]bool     // blocks of the text
}

func (e *explainer) reason(i int, isMarked bool) DropReason {
	o, b := e.o, &e.o.blocks[i]
	switch {
	case isMarked:
		return DropMarked
	case isAround(e.dropped, b.container):
		return DropBySelector
	case e.selected != nil && !isAround(e.selected, b.container):
		return DropOutside
	case similarTitles(b.text, e.article.Title):
		return DropTitle
	case b.chars > 20 && fold(b.text) == fold(e.article.Lead):
		return DropLead
	case slices.Contains(e.article.Authors, b.text):
		return DropByline
	case e.d.live != nil && e.d.live.contains(o, i) && !e.d.live.hasNoSummary:
		return DropLiveEntry
	case e.d.template.has(b):
		return DropOnSite
	case b.hints&hintHidden != 0:
		return DropHidden
	case b.hints&hintComment != 0:
		return DropComment
	case e.seen[b.text]:
		return DropRepeated
	}
	if r := o.junkReason(i, e.article.Title); r != "" {
		return r
	}
	return DropUnlikely
}

func nodeSet(nodes []*html.Node) map[*html.Node]bool {
	out := make(map[*html.Node]bool, len(nodes))
	for _, n := range nodes {
		out[n] = true
	}
	return out
}

// isAround reports whether one of some elements is or contains a node.
func isAround(nodes map[*html.Node]bool, n *html.Node) bool {
	for ; n != nil && len(nodes) > 0; n = n.Parent {
		if nodes[n] {
			return true
		}
	}
	return false
}
