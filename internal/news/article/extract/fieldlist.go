package extract

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/news/article/dates"
)

// itemKind is what an item of a list says about the article.
type itemKind int

const (
	itemText itemKind = iota // something else
	itemByline
	itemDate
	itemTerm  // a category or tag
	itemLabel // of one of these, in an item of its own
	itemCount // such as the minutes to read, or of comments
)

const (
	maxItemChars  = 140 // of an item with the names of several authors
	maxCountWords = 4
)

// isFieldList reports whether a list contains fields of the article, at least two of its author, date and terms, and
// nothing else: "By Mai Lan", "5 March 2026", "Travel". It is no part of the text, wherever it stands.
func (o *outline) isFieldList(unit int) bool {
	if o.isTable(unit) {
		return false
	}
	kinds := map[itemKind]bool{}
	afterBy := false
	for i := o.spans[unit].first; i < o.spans[unit].end; i++ {
		b := &o.blocks[i]
		kind := b.itemKind()
		if afterBy && isPersonLike(firstName(b.text)) {
			kind = itemByline
		}
		if kind == itemText {
			return false
		}
		kinds[kind] = true
		afterBy = isByLabel(b.text)
	}
	fields := 0
	for _, k := range []itemKind{itemByline, itemDate, itemTerm} {
		if kinds[k] {
			fields++
		}
	}
	return fields >= 2
}

// itemKind returns what the only block of an item says.
func (b *block) itemKind() itemKind {
	if b.chars > maxItemChars {
		return itemText
	}
	low := b.lower()
	switch {
	case b.isInside(func(n *html.Node) bool { return n.DataAtom == atom.Time }), isDateLine(b.text):
		return itemDate
	case b.isInside(func(n *html.Node) bool { return n.DataAtom == atom.A && termOf(n) != noTerm }):
		return itemTerm
	case isPersonLike(firstName(nameAfterBy(b.text))),
		b.hints&hintByline != 0 && isPersonLike(firstName(b.text)),
		b.isInside(func(n *html.Node) bool {
			return n.DataAtom == atom.A && (isProfile(attr(n, "href")) || strings.EqualFold(attr(n, "rel"), "author"))
		}):
		return itemByline
	case isByLabel(b.text), isCategoryLabel(b.text), !dates.HasDigit(b.text) && countWords(b.text) <= maxCountWords &&
		(findPublicationLabel(low) == 0 || findUpdateLabel(low) == 0):
		return itemLabel
	case dates.HasDigit(b.text) && countWords(b.text) <= maxCountWords && utf8.RuneCountInString(b.text) <= 30:
		return itemCount
	}
	return itemText
}

// isInside reports whether an element of some kind inside the block contains all of its text.
func (b *block) isInside(is func(n *html.Node) bool) bool {
	for _, t := range b.texts {
		found := false
		for p := t.Parent; p != nil && !found && p != b.container.Parent; p = p.Parent {
			found = is(p)
		}
		if !found && !isBlank(t.Data) {
			return false
		}
	}
	return len(b.texts) > 0
}
