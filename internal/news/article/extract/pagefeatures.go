package extract

import (
	"net/url"
	"strings"

	"golang.org/x/net/html/atom"
)

// pageFeatures are the features that all blocks of a page share.
func (w *featureBuilder) pageFeatures(d *Document) []float32 {
	all := w.sums[len(w.sums)-1]
	ld := d.loadJSONLD()
	headlines, comments, pre, table := 0, 0, 0, 0
	var grouped [groupCount]int
	for i := range w.o.blocks {
		b := &w.o.blocks[i]
		if b.linkChars >= 30 && b.linkShare() > 0.8 {
			headlines += b.linkChars
		}
		if b.hints&hintComment != 0 {
			comments += b.chars
		}
		if b.tag == atom.Pre {
			pre += b.chars
		}
		if b.inTable {
			table += b.chars
		}
		for g := range groupCount {
			if w.groups[b.span]&(1<<g) != 0 {
				grouped[g] += b.chars
			}
		}
	}
	articles := 0
	for i := range w.o.spans {
		if w.o.spans[i].node.DataAtom == atom.Article {
			articles++
		}
	}
	body := span{}
	if w.at >= 0 {
		body = w.o.spans[w.at]
	}
	out := []float32{
		logOf(all.blocks), logOf(all.chars), share(all.links, all.chars), share(all.prose, all.chars),
		share(all.selected, all.chars),
		share(all.selected, all.prose+1), logOf(all.selected), share(headlines, all.chars), share(comments, all.chars),
		logOf(articles),
		float32(rankOf(ld.article)), flag(strings.EqualFold(d.Meta.first("og:type"), "article")),
		flag(d.Meta.first("article:published_time") != ""),
		share(w.sums[body.end].prose-w.sums[body.first].prose, all.prose+1), logOf(len(d.Meta.h1s)),
		share(all.commas, all.chars/20+1),
		share(pre, all.chars), share(table, all.chars),
		flag(ld.hasType("Product") || strings.Contains(d.Meta.first("og:type"), "product")),
		flag(ld.hasType("DiscussionForumPosting") || ld.hasType("QAPage") || ld.hasType("Question")),
		flag(ld.hasType("ItemList") || ld.hasType("CollectionPage")),
	}
	for _, n := range grouped {
		out = append(out, share(n, all.chars))
	}
	return append(out, addressFeatures(d.URL)...)
}

// addressFeatures describe the path of a page: articles have long names.
func addressFeatures(u *url.URL) []float32 {
	path := strings.Trim(u.Path, "/")
	last := path[strings.LastIndexByte(path, '/')+1:]
	depth, digits := 0, 0
	if path != "" {
		depth = strings.Count(path, "/") + 1
	}
	for _, c := range path {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return []float32{
		float32(depth), logOf(strings.Count(last, "-") + strings.Count(last, "_")), logOf(digits),
		flag(u.RawQuery != ""),
	}
}

// noteHeadings computes the topics and the distance of the heading before each block.
func (w *featureBuilder) noteHeadings() {
	w.headings = make([]headingBefore, len(w.o.blocks))
	h := headingBefore{}
	for i := range w.o.blocks {
		b := &w.o.blocks[i]
		if isHeading(b.tag) {
			h = headingBefore{topics: w.topics.topicsOf(b), level: headingLevel(b.tag), closed: h.closed}
			for _, t := range h.topics {
				h.closed = h.closed || t > 0 && b.chars < 60
			}
		}
		w.headings[i] = h
		h.blocks++
		h.chars += b.chars
	}
}

// headingBefore is the heading before a block.
type headingBefore struct {
	topics        [topicCount]float32
	level         float32
	blocks, chars int  // since then
	closed        bool // a heading before was about something else, such as related articles
}

func headingLevel(a atom.Atom) float32 {
	switch a {
	case atom.H1:
		return 1
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	}
	return 4
}

// hasPrice reports whether a short text contains an amount of money.
func (b *block) hasPrice() bool {
	return len(b.text) < 200 && b.digits > 0 && strings.ContainsAny(b.text, "$€£¥₫₹₽")
}
