package extract

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/news/article"
	"dateline/internal/news/article/dates"
)

// markedDates returns the dates of elements that are marked as dates, except those of
// other things than the article.
func (r dateReader) markedDates() []dateCandidate {
	const maxDates = 12
	var out []dateCandidate
	for i, n := range r.meta.times {
		if next := i + 1; next < len(r.meta.times) && n.DataAtom != atom.Time && contains(n, r.meta.times[next]) &&
			dates.HasDigit(textOf(r.meta.times[next], 160)) {
			continue // the inner elements are more precise
		}
		if len(out) >= maxDates {
			break
		}
		if r.isUnrelated(n) {
			continue
		}
		where := r.whereIs(n)
		if where&(isTeased|isAtTop) == isTeased {
			continue
		}
		text := textOf(n, 160)
		published, updated := splitUpdate(text)
		if published == text && (isNamedUpdate(n) || isUpdateLine(labelBefore(n))) {
			published, updated = "", text
		}
		attrs := []string{attr(n, "datetime"), attr(n, "title"), attr(n, "content")}
		if published != "" || updated == "" {
			if updated != "" {
				attrs = nil // of which of the two?
			}
			out = append(out, r.dateOfElement(n, published, attrs, where)...)
		}
		if updated != "" && where&isAside == 0 {
			out = append(out, r.dateOfElement(n, updated, attrs, inShownChange)...)
		}
	}
	return out
}

// whereIs returns the traits of a marked element.
func (r dateReader) whereIs(n *html.Node) trait {
	var t trait
	switch {
	case r.isAboveHeadline(n):
		t = isAbove
	case len(r.elements) > 0 && r.headline() != nil && r.isBefore(n, r.elements[0]):
		t = isAtTop
	}
	if r.isForeign(n, hintJunk) || r.isInsideLink(n) || r.isInOtherArticle(n) {
		t |= isAside
	}
	if r.isTeaser(n) {
		t |= isTeased
	}
	return t
}

// dateOfElement returns the most exact date of an element: the one of its attributes, or
// that of its text if the text has a time and the attribute has none, or names the zone
// of the same time on the clock.
func (r dateReader) dateOfElement(n *html.Node, text string, attrs []string, traits trait) []dateCandidate {
	shown, ok := r.parseDate(text)
	kind := inNamedElement
	if traits&inShownChange != 0 {
		kind = 0
	}
	best := dateCandidate{Date: shown, source: article.FromHTML, traits: traits | kind, shown: shown, isText: true}
	for i, a := range attrs {
		d, is := r.parseDate(a)
		if !is {
			continue
		}
		byAttr := dateCandidate{Date: d, source: article.FromHTML, traits: traits | kind, shown: shown}
		if i == 0 && n.DataAtom == atom.Time && kind != 0 {
			byAttr.traits = traits | inTimeElement
		}
		apart := d.Time.Sub(shown.Time).Abs()
		switch {
		case !ok && (i == 0 || text == "" || !dates.HasDigit(text)):
			return []dateCandidate{byAttr}
		case !ok, apart > 2*maxOffset: // another day, such as in the title of a link
			if i == 0 {
				return []dateCandidate{byAttr}
			}
		case isExact(shown) && !isExact(d), shown.HasZone && !shown.IsRelative && sameClock(shown, d):
			best.traits = byAttr.traits
		default:
			return []dateCandidate{byAttr}
		}
	}
	if !ok {
		return nil
	}
	return []dateCandidate{best}
}

// isExact reports whether a date has a time of day. Midnight is what systems write that
// store only the day.
func isExact(d dates.Date) bool {
	h, m, s := d.Local().Clock()
	return d.HasTime && h+m+s > 0
}

// sameClock reports whether two dates have the same day and time of day, each in its zone.
func sameClock(a, b dates.Date) bool {
	const minute = "2006-01-02 15:04"
	return a.HasTime && b.HasTime && a.Local().Format(minute) == b.Local().Format(minute)
}

// isInsideLink reports whether an element is part of a link to another page, like the dates of teasers.
func (r *builder) isInsideLink(n *html.Node) bool {
	for i := 0; n != nil && i < 4; i, n = i+1, n.Parent {
		if n.DataAtom == atom.A && attr(n, "rel") != "bookmark" {
			return !r.isOwnAddress(attr(n, "href"))
		}
	}
	return false
}

// isInOtherArticle reports whether an element is part of another article, such as the next one on an endless page.
func (r *builder) isInOtherArticle(n *html.Node) bool {
	own := r.headline()
	for own != nil && own.DataAtom != atom.Article {
		own = own.Parent
	}
	for p := range r.outer(n) {
		if own != nil && p.DataAtom == atom.Article && r.isBefore(own, p) {
			return true
		}
	}
	return false
}

// isNamedUpdate reports whether the class name of an element, or of the one around it,
// says that its date is that of an update.
func isNamedUpdate(n *html.Node) bool {
	if strings.EqualFold(attr(n, "itemprop"), "dateModified") {
		return true
	}
	for up := 0; n != nil && up < 2; up, n = up+1, n.Parent {
		class := strings.ToLower(attr(n, "class"))
		if strings.Contains(class, "published") { // "published updated" is both
			return false
		}
		for w := range strings.FieldsFuncSeq(class, func(r rune) bool { return !unicode.IsLetter(r) }) {
			switch w {
			case "updated", "modified", "lastmod", "lastupdated", "lastmodified", "revised", "edited":
				return true
			}
		}
	}
	return false
}

// maxLabelWords is the number of words above which a text is no label.
const maxLabelWords = 5

// labelBefore returns the text just before an element, such as "Last updated:" before a time
// element, in the same line or in an element of its own.
func labelBefore(n *html.Node) string {
	s := previous(n)
	for up := 0; s == nil && up < 2 && n.Parent != nil && n.Parent.DataAtom != atom.Body; up++ {
		n = n.Parent
		s = previous(n)
	}
	switch {
	case s == nil:
		return ""
	case s.Type == html.TextNode:
		return strings.TrimSpace(s.Data[:min(len(s.Data), 60)])
	case s.Type == html.ElementNode:
		text := firstOf(textOf(s, 60), attr(s, "title"), attr(s, "aria-label"))
		if !dates.HasDigit(text) && countWords(text) <= maxLabelWords {
			return text
		}
	}
	return ""
}

// previous returns what is before a node in the same element, except for white space.
func previous(n *html.Node) *html.Node {
	s := n.PrevSibling
	for s != nil && s.Type == html.TextNode && isBlank(s.Data) {
		s = s.PrevSibling
	}
	return s
}

// updateBeside returns the date after that of the publication: where two time elements without a word follow each
// other, as in Material for MkDocs, the first is the publication and the second a later update. Words or a dash between
// them say something else, and so do three dates.
func (r dateReader) updateBeside(published dateCandidate) []dateCandidate {
	times := r.meta.times
	for i := 0; i+1 < len(times); i++ {
		a, b := times[i], times[i+1]
		if a.DataAtom != atom.Time || b.DataAtom != atom.Time || attr(a, "class") != attr(b, "class") ||
			!isBeside(a, b) ||
			i+2 < len(times) && isBeside(b, times[i+2]) || i > 0 && isBeside(times[i-1], a) || r.isOtherDate(a) {
			continue
		}
		from, is := r.parseDate(attr(a, "datetime"))
		update := r.dateOfElement(b, textOf(b, 160), []string{attr(b, "datetime")}, inShownChange)
		if is && len(update) > 0 && sameDay(from.Time, published.Time, r.zone) && update[0].Time.After(from.Time) {
			return update
		}
	}
	return nil
}

// isBeside reports whether no text is between two elements, the second of which is near the first.
func isBeside(a, b *html.Node) bool {
	left := 20
	for n := nextOutside(a); n != nil && left > 0; left-- {
		if n == b {
			return true
		}
		if n.Type == html.TextNode && !isBlank(n.Data) {
			return false
		}
		if n.FirstChild != nil {
			n = n.FirstChild
		} else {
			n = nextOutside(n)
		}
	}
	return false
}

// nextOutside returns the next node in document order that is not inside a node.
func nextOutside(n *html.Node) *html.Node {
	for ; n != nil; n = n.Parent {
		if n.NextSibling != nil {
			return n.NextSibling
		}
	}
	return nil
}
