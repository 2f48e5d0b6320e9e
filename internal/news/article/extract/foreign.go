package extract

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/news/article/dates"
)

// outer returns an element and those around it, up to the first that contains the
// headline or the start of the text: what is said about that is said about the article.
func (r *builder) outer(n *html.Node) iter.Seq[*html.Node] {
	if r.around == nil {
		r.around = map[*html.Node]bool{}
		for _, e := range append(r.elements[:min(1, len(r.elements)):1], r.headline()) {
			if e == nil {
				continue
			}
			for p := e.Parent; p != nil; p = p.Parent {
				r.around[p] = true
			}
		}
	}
	return func(yield func(*html.Node) bool) {
		for p := n; p != nil && !r.around[p] && p.DataAtom != atom.Body; p = p.Parent {
			if p.Type == html.ElementNode && !yield(p) {
				return
			}
		}
	}
}

// isForeign reports whether an element is inside one with a hint that does not contain
// the article.
func (r *builder) isForeign(n *html.Node, h hint) bool {
	for p := range r.outer(n) {
		if p.DataAtom != atom.Article && p.DataAtom != atom.Main && r.doc.names.hints(p)&h != 0 &&
			!r.isFooterOfArticle(p) {
			return true
		}
	}
	return false
}

// isFooterOfArticle reports whether an element is the footer of the article itself: it contains "information about its
// section such as who wrote it" (HTML, section 4.3.8).
func (r *builder) isFooterOfArticle(n *html.Node) bool {
	if n.DataAtom != atom.Footer {
		return false
	}
	names := strings.ReplaceAll(attr(n, "class")+" "+attr(n, "id"), "footer", "")
	if r.doc.names.name(names).hints&hintsNotText != 0 {
		return false
	}
	for p := n.Parent; p != nil; p = p.Parent {
		switch p.DataAtom {
		case atom.Article:
			return r.around[p]
		case atom.Section, atom.Aside, atom.Nav, atom.Main, atom.Body:
			return false
		}
	}
	return false
}

// isOtherDate reports whether a date is that of something else than the article: a
// comment, another article, a license or copyright notice, or today's date.
func (r *builder) isOtherDate(n *html.Node) bool {
	return r.isUnrelated(n) || r.isTeaser(n)
}

// isUnrelated is the same, except for dates next to links to other articles.
func (r *builder) isUnrelated(n *html.Node) bool {
	return r.isForeign(n, hintComment) || r.isNotice(n) || r.isClock(n) || r.isListAfterText(n)
}

// isNotice reports whether the paragraph around a date is about a license, or the rights
// or the history of the site.
func (r *builder) isNotice(n *html.Node) bool {
	for n.Parent != nil && (n.Type == html.TextNode || isInline(n.DataAtom)) {
		n = n.Parent
	}
	if r.around[n] {
		return false
	}
	low := strings.ToLower(textOf(n, 400))
	for _, w := range []string{
		"giấy phép", "gp-", "/gp", "gpxb", "đkkd", "đăng ký kinh doanh", "bản quyền",
		"thành lập", "quyết định số", "©", "(c) ", "copyright", "all rights", "license no", "licence no",
		"license number", "registration no", "issn", "founded", "established", "备案",
	} {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}

// maxNameBytes is the length up to which a class or id is looked at for each date inside its element.
const maxNameBytes = 500

// isClock reports whether a date is that of today, which sites show above their pages:
// it is named so, or it is today's date, without a time that is past, in the site's header.
func (r *builder) isClock(n *html.Node) bool {
	text := textOf(n, 80)
	low := strings.ToLower(strings.TrimSpace(text))
	if (strings.HasPrefix(low, "hôm nay") || strings.HasPrefix(low, "today")) && r.isAboveHeadline(n) {
		return true
	}
	inHeader := false
	for p := range r.outer(n) {
		class, id := attr(p, "class"), attr(p, "id")
		names := class[:min(len(class), maxNameBytes)] + " " + id[:min(len(id), maxNameBytes)]
		for w := range strings.FieldsFuncSeq(strings.ToLower(names),
			func(c rune) bool { return c < 'a' || c > 'z' }) {
			switch w {
			case "now", "today", "clock", "timenow", "datenow", "currenttime", "currentdate", "todaydate", "masthead",
				"topbar":
				return true
			case "top", "header", "head", "current", "banner", "topline", "logo", "brand", "nav", "navbar", "menu",
				"weather":
				inHeader = true
			}
		}
		inHeader = inHeader || p.DataAtom == atom.Nav || p.DataAtom == atom.Header && !r.isInArticle(p)
	}
	if !inHeader || r.src.Now.IsZero() || !r.isAboveHeadline(n) {
		return false
	}
	d, ok := dates.Parse(text, r.dateOptions())
	return ok && sameDay(d.Time, r.src.Now, r.zone) && (!d.HasTime || d.Time.After(r.src.Now.Add(-clockSkew)))
}

func (r *builder) isInArticle(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.DataAtom == atom.Article || n.DataAtom == atom.Main {
			return true
		}
	}
	return false
}

// headline returns the heading that shows the title, else the first h1; nil: there is none.
func (r *builder) headline() *html.Node {
	if r.heading == nil && !r.noHeading {
		r.heading = r.findHeadline()
		r.noHeading = r.heading == nil
	}
	return r.heading
}

func (r *builder) findHeadline() *html.Node {
	for _, h := range r.meta.h1s {
		if sameTitle(textOf(h, maxValueBytes), r.a.Title) {
			return h
		}
	}
	if r.a.Title != "" {
		for _, e := range r.meta.elements {
			if (e.node.DataAtom == atom.H2 || e.node.DataAtom == atom.H3) &&
				Plain(textOf(e.node, maxValueBytes)) == Plain(r.a.Title) {
				return e.node
			}
		}
	}
	if len(r.meta.h1s) > 0 {
		return r.meta.h1s[0]
	}
	return nil
}

// isAboveHeadline reports whether an element is before the headline.
func (r *builder) isAboveHeadline(n *html.Node) bool {
	h := r.headline()
	return h != nil && r.isBefore(n, h)
}

// isAfterText reports whether an element is after the end of the text.
func (r *builder) isAfterText(n *html.Node) bool {
	return len(r.elements) > 0 && r.isBefore(r.elements[len(r.elements)-1], n)
}

// maxSteps is the number of steps of isBefore after which numbering all nodes of a page is cheaper.
const maxSteps = 100_000

// isBefore reports whether a node ends before another one begins.
func (r *builder) isBefore(a, b *html.Node) bool {
	if r.steps > maxSteps && r.order == nil {
		r.order = orderOf(r.doc.Root)
	}
	if r.order != nil {
		first, isFirst := r.order[a]
		second, isSecond := r.order[b]
		return isFirst && isSecond && first.last < second.first
	}
	return isBefore(a, b, &r.steps)
}

// place is the number of a node in document order, and that of the last node inside it.
type place struct{ first, last int }

func orderOf(root *html.Node) map[*html.Node]place {
	order := map[*html.Node]place{}
	for n, number := root, 0; n != nil; number++ {
		order[n] = place{number, number}
		if n.FirstChild != nil {
			n = n.FirstChild
			continue
		}
		for n != nil && n.NextSibling == nil {
			if n = n.Parent; n != nil {
				order[n] = place{order[n].first, number}
			}
			if n == root {
				return order
			}
		}
		if n != nil {
			n = n.NextSibling
		}
	}
	return order
}

func isBefore(a, b *html.Node, steps *int) bool {
	var path []*html.Node
	for p := b; p != nil; p = p.Parent {
		if p == a {
			return false
		}
		path = append(path, p)
	}
	for ; a != nil && a.Parent != nil; a = a.Parent {
		*steps += len(path) / 8
		if i := slices.Index(path, a.Parent); i > 0 {
			for s := a.NextSibling; s != nil; s = s.NextSibling {
				*steps++
				if s == path[i-1] {
					return true
				}
			}
			return false
		}
		if slices.Contains(path, a) {
			return false
		}
	}
	return false
}

// isTeaser reports whether a date belongs to a link to another article: near the
// headline one with a long text, after the text any that is no profile, category or tag.
func (r *builder) isTeaser(n *html.Node) bool {
	minRunes, levels := 20, 0
	if class := strings.ToLower(attr(n, "class")); r.isAfterText(n) && !strings.Contains(class, "published") &&
		findPublicationLabel(strings.ToLower(textOf(n, 80))) != 0 && !isLabeledDate(n) {
		minRunes = 2
	}
	for p := range r.outer(n) {
		if levels++; levels > 3 {
			break
		}
		if minRunes == 2 && p.DataAtom == atom.Article && levels > 1 {
			return true
		}
		link, small := r.linkIn(p, minRunes)
		if link {
			return true
		}
		if !small {
			break
		}
	}
	return false
}

// linkIn reports whether a small element has a link to another article.
func (r *builder) linkIn(n *html.Node, minRunes int) (found, small bool) {
	left := 60
	for d := range n.Descendants() {
		if left--; left < 0 {
			return false, false
		}
		if d.DataAtom != atom.A || attr(d, "rel") != "" {
			continue
		}
		href := attr(d, "href")
		if href == "" || len(href) > maxValueBytes || href[0] == '#' || isProfile(href) || termOf(d) != noTerm ||
			strings.HasPrefix(href, "mailto:") || r.isOwnAddress(href) || r.isAboutArticle(d, href) {
			continue
		}
		t := textOf(d, 400)
		if utf8.RuneCountInString(t) >= minRunes && (minRunes < 10 || countWords(t) >= 4) && !sameTitle(t, r.a.Title) &&
			hasLetter(t) {
			return true, true
		}
	}
	return false, true
}

// isAboutArticle reports whether a link is one to the author, named so or with an address such as /blog?author=3 of
// Squarespace, or one that shares the page: it has the page's address as a part.
func (r *builder) isAboutArticle(link *html.Node, href string) bool {
	if strings.Contains(href, "?author=") || strings.HasPrefix(href, "javascript:") {
		return true
	}
	for n, up := link, 0; n != nil && up < 3 && n.Type == html.ElementNode; n, up = n.Parent, up+1 {
		if r.doc.names.hints(n)&hintByline != 0 {
			return true
		}
	}
	_, rest, _ := strings.Cut(href, "://")
	_, query, _ := strings.Cut(rest, "/")
	return r.doc.URL.Host != "" && strings.Contains(query, r.doc.URL.Host)
}

// isOwnAddress reports whether a link leads to the page itself.
func (r *builder) isOwnAddress(href string) bool {
	u, err := r.doc.Base.Parse(href)
	return err == nil && u.Host == r.doc.URL.Host && u.Path == r.doc.URL.Path && u.Path != "" && u.Path != "/"
}

// isLabeledDate reports whether the text before a date says that it is that of the publication or an update.
func isLabeledDate(n *html.Node) bool {
	if n.Type == html.TextNode && n.Parent.DataAtom == atom.Time {
		n = n.Parent
	}
	label := labelBefore(n)
	return isUpdateLine(label) || findPublicationLabel(strings.ToLower(label)) == 0
}

// isListAfterText reports whether a date is one of several alike after the text, as in
// comments.
func (r *builder) isListAfterText(n *html.Node) bool {
	if n.Type == html.TextNode {
		n = n.Parent
	}
	if !r.isAfterText(n) {
		return false
	}
	alike, label, labeled := 0, labelBefore(n), isLabeledDate(n)
	for _, t := range r.meta.times {
		if t.DataAtom != n.DataAtom || attr(t, "class") != attr(n, "class") || !r.isAfterText(t) {
			continue
		}
		if labeled && t != n && (labelBefore(t) != label || r.isTeaser(t)) {
			continue // "Published … Reviewed …" below the text
		}
		alike++
	}
	return alike > 1
}

// isSentence reports whether a text is part of the text of the article, and more than a
// date.
func (r *builder) isSentence(n *html.Node) bool {
	if countWords(n.Data) <= 9 {
		return false
	}
	for p := n; p != nil; p = p.Parent {
		if slices.Contains(r.elements, p) {
			return true
		}
	}
	return false
}
