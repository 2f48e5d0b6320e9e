package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Body is the body of an article and its location in the page.
type Body struct {
	Text       string
	HTML       string
	Image      string       // first image
	Signature  string       // author name below the text
	Blocks     []string     // the paragraphs of the text
	Elements   []*html.Node // of the blocks
	Root       *html.Node   // the body element
	Headlines  int          // characters of linked headlines on the whole page
	Prose      int          // characters that the rules select, without the block classifier
	Confidence float64      // from 0.5 to 1, by the share of the text that was selected
}

// Body finds the body of an article without selectors. title is compared with headings.
func (d *Document) Body(title string) (Body, bool) {
	b, ok := d.UnmarkedBody(title)
	return d.WithMarks(b, ok)
}

// UnmarkedBody is Body whatever editors marked.
func (d *Document) UnmarkedBody(title string) (Body, bool) {
	c := d.selectByRules(title)
	prose := 0
	for _, i := range c.selected {
		prose += c.o.blocks[i].chars
	}
	signature, lines := c.o.signatureOf(c.selected)
	c.classify(d, title)
	c.dropShared(d.template)
	c.selected = c.o.withoutLead(slices.DeleteFunc(c.selected, func(i int) bool { return lines[i] }))
	c.selected = d.withoutEntries(c.o, c.selected, title)
	b, ok := c.o.assemble(d, c.at, c.selected)
	b.Signature = firstOf(signature, b.Signature)
	b.Headlines, b.Prose = c.o.countHeadlineChars(), prose
	if c.isGuess {
		b.Confidence /= 2
	}
	return b, ok
}

// choice is the blocks that belong to the article.
type choice struct {
	o          *outline
	at         int // the element that contains most of them; -1: none
	selected   []int
	isSelected []bool // by block
	isGuess    bool   // class names were ignored
}

// selectByRules selects the blocks of the article by hand-written rules.
func (d *Document) selectByRules(title string) choice {
	o := d.loadOutline()
	c := o.choose(d, title)
	if o.countBytes(c.selected) < minConfidentBytes {
		// Class names may be misleading: try again without them.
		bare := newOutline(d.Root, d.Meta)
		bare.dropClassHints(o)
		if again := bare.choose(d, title); bare.countBytes(again.selected) > 2*o.countBytes(c.selected) {
			again.isGuess = true
			c = again
		}
	}
	c.isSelected = make([]bool, len(c.o.blocks))
	for _, i := range c.selected {
		c.isSelected[i] = true
	}
	return c
}

// choose chooses the body element and its blocks.
func (o *outline) choose(d *Document, title string) choice {
	c := choice{o: o, at: o.chooseBody()}
	if c.at >= 0 {
		c.selected = o.withoutLead(o.selectBlocks(c.at, title, d.authorNames()))
	}
	return c
}

func (o *outline) countBytes(blocks []int) int {
	n := 0
	for _, i := range blocks {
		n += len(o.blocks[i].text) + 2
	}
	return n
}

// StatedBody returns the text of the article that the page states in its JSON-LD (https://schema.org/articleBody), a
// reading of its own. Pages for subscribers and some systems state a part of it.
func (d *Document) StatedBody() string { return clean(withoutTags(d.loadJSONLD().text("articleBody"))) }

// BodyOf returns the text of elements that are known to contain the article, whatever editors marked.
func (d *Document) BodyOf(roots, drop []*html.Node, title string) (Body, bool) {
	var out Body
	for i, n := range roots {
		o := newOutline(n, d.Meta)
		if len(o.spans) == 0 {
			continue
		}
		o.spans[0].hints |= hintBody
		o.markDropped(drop)
		o.resolveHints()
		if b, ok := o.body(d, 0, title); ok {
			if i == 0 || out.Text == "" {
				out = b
				continue
			}
			out.Text += "\n\n" + b.Text
			out.HTML += "\n" + b.HTML
			out.Blocks = append(out.Blocks, b.Blocks...)
			out.Elements = append(out.Elements, b.Elements...)
			out.Signature = firstOf(b.Signature, out.Signature)
		}
	}
	return out, out.Text != ""
}

func (o *outline) body(d *Document, at int, title string) (Body, bool) {
	if at < 0 || at >= len(o.spans) {
		return Body{}, false
	}
	c := choice{o: o, at: at, selected: o.selectBlocks(at, title, d.authorNames())}
	c.dropShared(d.template)
	return o.assemble(d, at, d.withoutEntries(o, o.withoutLead(c.selected), title))
}

// assemble returns the body that consists of the selected blocks inside an element.
func (o *outline) assemble(d *Document, at int, selected []int) (Body, bool) {
	if at < 0 || at >= len(o.spans) {
		return Body{}, false
	}
	name, lines := o.signatureOf(selected)
	b := Body{Root: o.spans[at].node, Signature: name}
	if lines != nil {
		rest := selected[:0]
		for _, i := range selected {
			if !lines[i] {
				rest = append(rest, i)
			}
		}
		selected = rest
	}
	all, chars := 1, 0
	if len(selected) > 0 {
		for i := selected[0]; i <= selected[len(selected)-1]; i++ {
			all += o.blocks[i].chars
		}
	}
	table := noUnit
	for _, i := range selected {
		chars += o.blocks[i].chars
		text, element := o.blocks[i].text, o.blocks[i].container
		if unit := o.blocks[i].unit; o.isTable(unit) {
			if unit == table {
				continue
			}
			table = unit
			text, element = o.tableText(unit), o.spans[unit].node
		}
		b.Blocks = append(b.Blocks, text)
		b.Elements = append(b.Elements, element)
	}
	if chars < minArticleChars {
		return Body{}, false
	}
	b.Text = strings.Join(b.Blocks, "\n\n")
	b.HTML, b.Image = render(d, b.Root, o, selected)
	b.Confidence = 0.5 + 0.5*float64(chars)/float64(all)
	return b, true
}

// countHeadlineChars counts the characters of links that are long enough to be
// headlines.
func (o *outline) countHeadlineChars() int {
	n := 0
	for i := range o.blocks {
		if b := &o.blocks[i]; b.linkChars >= 30 && b.linkShare() > 0.8 {
			n += b.linkChars
		}
	}
	return n
}

// withoutLead drops a standfirst that is formatted as a heading inside the body, or that is named so and stands before
// the element that is marked as the text, as Vietnamese papers do. It is the lead of the article.
func (o *outline) withoutLead(selected []int) []int {
	if len(selected) < 2 {
		return selected
	}
	b, next := &o.blocks[selected[0]], &o.blocks[selected[1]]
	isApart := b.hints&hintLead != 0 && o.isOutsideText(b.span, next.span)
	if (b.tag == atom.H2 || isApart) && b.chars > 80 && b.punctuation > 0 {
		return selected[1:]
	}
	return selected
}

// isOutsideText reports whether an element is outside the one that the page marks as the text around another: an
// article is a complete composition (HTML, section 4.3.2), and articleBody is the actual body (schema.org).
func (o *outline) isOutsideText(at, text int) bool {
	for text >= 0 && !isMarkedAsText(o.spans[text].node) {
		text = o.spans[text].parent
	}
	if text < 0 {
		return false
	}
	return o.spans[at].first < o.spans[text].first || o.spans[at].first >= o.spans[text].end
}

func isMarkedAsText(n *html.Node) bool {
	return n.DataAtom == atom.Article || strings.Contains(attr(n, "itemprop"), "articleBody")
}

// dropClassHints removes all hints except those of nav and footer elements, and of
// comments: they are text, but never that of the article.
func (o *outline) dropClassHints(first *outline) {
	for i := range o.spans {
		s := &o.spans[i]
		switch a := s.node.DataAtom; {
		case a == atom.Nav || a == atom.Footer:
			s.hints = hintJunk
		case first.ownText && s.hints&hintComment != 0 && a != atom.Body && a != atom.Html && a != atom.Main &&
			!first.wrappers[s.node]:
			s.hints = hintComment
		default:
			s.hints = 0
		}
		if s.parent >= 0 {
			s.hints |= o.spans[s.parent].hints
		}
	}
	for i := range o.blocks {
		o.blocks[i].hints = o.spans[o.blocks[i].span].hints
	}
}

// markDropped marks elements that are not part of the text.
func (o *outline) markDropped(nodes []*html.Node) {
	for _, n := range nodes {
		for i := range o.spans {
			if o.spans[i].node == n {
				o.spans[i].hints = hintJunk | hintHidden
			}
		}
	}
}
