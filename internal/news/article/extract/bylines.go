package extract

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/news/article"
)

// setAuthorsNearHeadline uses links to profiles and lines that start with "By", near the
// headline.
func (r authorReader) setAuthorsNearHeadline() bool {
	if len(r.meta.h1s) == 0 {
		return false
	}
	left := 60
	var found []string
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		if len(found) > 0 || left <= 0 || depth > maxDepth {
			return
		}
		switch {
		case n.Type == html.TextNode && !isBlank(n.Data):
			left--
			found = r.namesInLine(n)
		case n.Type == html.ElementNode:
			if r.doc.hasHint(n, hintComment|hintHidden) {
				return
			}
			if n.DataAtom == atom.A && isProfile(attr(n, "href")) && r.isOwnHost(attr(n, "href")) {
				if t := textOf(n, 80); countWords(t) == 1 || isPersonLike(t) {
					found = append(found, t)
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, depth+1)
		}
	}
	for at, up := r.meta.h1s[0], 0; at != nil && up < 6 && len(found) == 0; at, up = at.Parent, up+1 {
		for s := at.NextSibling; s != nil; s = s.NextSibling {
			walk(s, 0)
		}
	}
	return r.setAuthors(article.FromHTML, 0.5, found...)
}

// namesInLine returns the names in a line such as "By Mai Lan", after a line "By", and in
// a line "Mai Lan |" before a date.
func (r authorReader) namesInLine(n *html.Node) []string {
	line := clean(n.Data)
	if len(line) >= 120 {
		return nil
	}
	if by := nameAfterBy(line); by != "" && len(line) < 80 && startsUpper(by) {
		first := firstName(by)
		if strings.HasPrefix(line, "By ") || strings.HasPrefix(line, "BY ") || isPersonLike(first) ||
			strings.HasPrefix(line, "by ") && countWords(first) == 1 {
			return []string{by}
		}
		return nil // "von Firmen" also continues a sentence
	}
	if name, ok := strings.CutSuffix(line, "|"); ok && isPersonLike(name) {
		if next := nextText(n); next != nil {
			if _, ok := dateReader(r).dateOfLine(next); ok {
				return []string{name}
			}
		}
	}
	if isByLabel(line) {
		return namesAfter(n)
	}
	return nil
}

// isByLabel reports whether a line only announces the name in the next element.
func isByLabel(line string) bool {
	if line = strings.TrimRight(line, " :"); len(line) > maxByLabelBytes {
		return false
	}
	switch strings.ToLower(line) {
	case "by", "von", "par", "por", "di", "door", "av", "written by", "words by", "posted by", "published by",
		"article by", "story by", "report by", "reported by", "created by", "author", "author(s)", "authors",
		"autor", "autorin", "autoren", "verfasst von", "geschrieben von", "ein beitrag von", "escrito por",
		"publicado por", "écrit par", "publié par", "rédigé par", "auteur", "auteurs", "autore", "scritto da",
		"auteur(s)", "tác giả", "автор", "yazar", "autores":
		return true
	}
	return false
}

// maxByLabelBytes is above the length of any label in upper case that is all of a line.
const maxByLabelBytes = 50

// maxLabelBytes is above the length of any label before a name.
const maxLabelBytes = 100

// maxLabelTexts is the number of texts after a label in which names are looked for.
const maxLabelTexts = 12

// namesAfter returns the names in the texts after a label: one, or several with commas
// or "and" between them.
func namesAfter(label *html.Node) []string {
	var out []string
	expected := true
	n := label
	for range maxLabelTexts {
		if n = nextText(n); n == nil {
			break
		}
		t := clean(n.Data)
		if by := nameAfterBy(t); by != "" {
			t = by
		}
		separator := isNameSeparator(t)
		switch {
		case separator && expected && len(out) == 0, !separator && !expected:
			return out
		case separator:
			expected = true
		case startsUpper(t) && countWords(t) <= 6 && len(t) <= 80, n.Parent.DataAtom == atom.A && countWords(t) == 1 &&
			hasLetter(t):
			out, expected = append(out, t), strings.HasSuffix(t, ",")
		default:
			return out
		}
	}
	return out
}

func isNameSeparator(t string) bool {
	switch strings.ToLower(t) {
	case ",", "and", "&", ", and", "und", "et", "y", "e", "và", "with", ";":
		return true
	}
	return false
}

func hasLetter(s string) bool { return strings.ContainsFunc(s, unicode.IsLetter) }

// nextText returns the next text in document order that is not blank.
func nextText(n *html.Node) *html.Node {
	for {
		switch {
		case n.FirstChild != nil && n.DataAtom != atom.Script && n.DataAtom != atom.Style && n.DataAtom != atom.Svg:
			n = n.FirstChild
		default:
			for n != nil && n.NextSibling == nil {
				n = n.Parent
			}
			if n == nil {
				return nil
			}
			n = n.NextSibling
		}
		if n.Type == html.TextNode && !isBlank(n.Data) {
			return n
		}
	}
}

// setLabeledAuthors uses the first line anywhere on the page that names the author, such
// as "Written by Mai Lan" below the text.
func (r authorReader) setLabeledAuthors() bool {
	left := maxLines
	for _, n := range r.doc.texts {
		if len(n.Data) < 3 || len(n.Data) > 400 || isBlank(n.Data) {
			continue
		}
		if left--; left < 0 {
			break
		}
		line := clean(n.Data)
		names := []string{nameAfterWritten(line)}
		if names[0] != "" && !startsShortBlock(n) {
			continue // in a sentence
		}
		if names[0] == "" {
			if !isByLabel(line) || len(line) <= 3 && line != "By" && line != "by" && line != "BY" {
				continue
			}
			names = namesAfter(n)
		}
		if len(names) == 0 || !isPersonLike(firstName(names[0])) ||
			r.isInside(n.Parent, hintComment|hintHidden|hintCaption) || r.isInsideLink(n.Parent) {
			continue
		}
		if r.setAuthors(article.FromHTML, 0.4, names...) {
			return true
		}
	}
	return false
}

// startsShortBlock reports whether a line is the start of a short paragraph.
func startsShortBlock(n *html.Node) bool {
	line := clean(n.Data)
	for n = n.Parent; n.Parent != nil && isInline(n.DataAtom); {
		n = n.Parent
	}
	return strings.HasPrefix(textOf(n, 160), line)
}

// nameAfterWritten returns the name after an unmistakable label at the start of a line.
func nameAfterWritten(line string) string {
	line = strings.TrimLeft(line, "-–—|·• ")
	if !mayStartWithWritten(line) {
		return ""
	}
	low := strings.ToLower(line[:min(len(line), maxLabelBytes)])
	for _, p := range []string{
		"written by", "this post was written by", "this article was written by", "verfasst von",
		"geschrieben von", "ein beitrag von", "blog beitrag von", "escrito por", "écrit par", "rédigé par",
		"publié par", "scritto da", "author:", "autor:", "autorin:", "auteur :", "auteur:", "tác giả:", "words by",
		"text by", "story by", "article by", "post by", "by ",
	} {
		if !strings.HasPrefix(low, p) {
			continue
		}
		name, _, _ := strings.Cut(firstOf(writersOf(strings.TrimLeft(line[min(len(p), len(line)):], " :"))...), ",")
		if isPersonLike(name) {
			return name
		}
	}
	return ""
}

// mayStartWithWritten reports whether a line begins with the letters of a label of nameAfterWritten.
func mayStartWithWritten(line string) bool {
	if len(line) < 2 {
		return false
	}
	if line[0] >= utf8.RuneSelf || line[1] >= utf8.RuneSelf {
		return true
	}
	switch string([]byte{line[0] | 0x20, line[1] | 0x20}) {
	case "wr", "th", "ve", "ge", "ei", "bl", "es", "pu", "sc", "au", "wo", "te", "st", "ar", "po", "by":
		return true
	}
	return false
}

// isInside reports whether an element or one of its ancestors has a hint.
func (r *builder) isInside(n *html.Node, h hint) bool {
	for i := 0; n != nil && i < 12; i, n = i+1, n.Parent {
		if n.Type == html.ElementNode && r.doc.hasHint(n, h) {
			return true
		}
	}
	return false
}

// setAuthorsFromBoxes uses elements that are named as authors, but are inside share bars
// or contain a biography.
func (r authorReader) setAuthorsFromBoxes() bool {
	for _, n := range r.meta.bylines {
		if r.isInside(n, hintComment|hintHidden) || r.isInsideLink(n.Parent) || r.isInside(n.Parent, hintJunk) &&
			r.isInNavigation(n) {
			continue
		}
		t := textOf(n, 200)
		if by := nameAfterBy(t); by != "" {
			t = by
		}
		if !isPersonLike(t) {
			t = personIn(n)
		}
		if t != "" && r.setAuthors(article.FromHTML, 0.35, t) {
			return true
		}
	}
	return false
}

// personIn returns the name among the first texts of an element.
func personIn(n *html.Node) string {
	c := nextText(n)
	for range 3 {
		if c == nil || !contains(n, c) {
			break
		}
		s := clean(c.Data)
		if by := nameAfterBy(s); by != "" {
			s = by
		}
		if isPersonLike(s) {
			return s
		}
		c = nextText(c)
	}
	return ""
}

func (r authorReader) isInNavigation(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		switch n.DataAtom {
		case atom.Nav, atom.Footer, atom.Aside:
			return true
		}
	}
	return false
}

func contains(outer, n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == outer {
			return true
		}
	}
	return false
}

// isOwnHost reports whether a link leads to the same site.
func (r authorReader) isOwnHost(href string) bool {
	u, err := url.Parse(r.absolute(href))
	return err == nil && (u.Host == "" || r.doc.URL.Host == "" || sameSite(r.doc.URL.Hostname(), u.Hostname()))
}

// setAuthorsFromLabels uses the labels that WordPress writes for previews: "Written by"
// and "Mai Lan".
func (r authorReader) setAuthorsFromLabels() bool {
	for _, k := range []string{"1", "2"} {
		switch strings.ToLower(r.meta.first("twitter:label" + k)) {
		case "written by", "verfasst von", "geschrieben von", "escrito por", "écrit par", "scritto da",
			"geschreven door", "skrevet av", "skriven av", "napisane przez", "yazan", "автор", "được viết bởi",
			"author", "by":
			if r.setAuthors(article.FromMeta, 0.6, r.meta.first("twitter:data"+k)) {
				return true
			}
		}
	}
	return false
}

// isPersonLike reports whether a text looks like the name of a person: two to four
// capitalized words, which are not those of menus.
func isPersonLike(s string) bool {
	s = strings.TrimSpace(strings.TrimRight(strings.TrimSpace(s), ".,|"))
	words := strings.Fields(s)
	if len(words) < 2 || len(words) > 5 || len(s) > 50 {
		return false
	}
	capitals := 0
	for _, w := range words {
		first, _ := utf8.DecodeRuneInString(w)
		switch {
		case unicode.IsUpper(first) || unicode.IsLetter(first) && !unicode.IsLower(first):
			capitals++
		case !isParticle(w):
			return false
		}
		for _, c := range w {
			if !unicode.IsLetter(c) && !unicode.IsMark(c) && c != '.' && c != '-' && c != '\'' && c != '’' {
				return false
			}
		}
		if isDateWord(strings.ToLower(strings.Trim(w, "."))) && len(w) > 3 && w != "April" && w != "May" &&
			w != "June" {
			return false
		}
		switch strings.ToLower(w) {
		case "news", "read", "view", "share", "about", "more", "contact", "home", "blog", "press", "release",
			"business", "sports", "politics", "health", "technology", "science", "culture", "opinion", "editorial",
			"video", "photo", "photos", "getty", "images", "the", "our", "your", "this", "how", "what", "why", "all",
			"posts", "articles", "login", "sign", "subscribe", "newsletter", "policy", "terms", "privacy", "cookie",
			"editor", "writer", "reporter", "author", "redaktion", "editors", "staff", "min", "minutes", "follow", "us",
			"inc", "ltd", "llc", "gmbh", "profile", "new", "best", "top",
			"company", "size", "team", "product", "research", "software", "online", "time", "category", "categories",
			"date", "published", "updated", "price", "reviews", "rating", "hotels", "insurance", "bank", "university",
			"college", "institute", "center", "group", "services", "solutions", "corporation":
			return false
		}
	}
	return capitals >= 2
}

func isParticle(w string) bool {
	switch strings.ToLower(w) {
	case "van", "von", "de", "der", "den", "del", "della", "di", "da", "do", "dos", "la", "le", "bin", "al", "el", "y",
		"ter", "ten", "zu", "du":
		return true
	}
	return false
}
