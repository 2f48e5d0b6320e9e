package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"dateline/internal/news/article"
)

// readAuthors uses the most explicit statement that names a person. The name of the site
// is not an author: Vietnamese papers put it into the metadata and sign below the text.
func (r *builder) readAuthors() {
	persons, groups := r.jsonLD.people("author")
	if r.setAuthors(article.FromJSONLD, 0.95, persons...) {
		return
	}
	if c, _ := r.jsonLD.people("creator"); r.setAuthors(article.FromJSONLD, 0.8, c...) {
		return
	}
	for _, k := range []string{"author", "parsely-author", "sailthru.author", "dable:author", "article:author_name", "byl", "dc.creator", "dcterms.creator", "citation_author", "article:author", "og:author", "twitter:creator_name", "author_name", "itemprop:author"} {
		if r.setAuthors(article.FromMeta, 0.85, r.meta.values[k]...) {
			return
		}
	}
	if r.setAuthors(article.FromMicrodata, 0.8, r.meta.microdata["author"]...) {
		return
	}
	if r.setAuthorsFromNodes(0.8, r.meta.authorLinks) || r.setAuthorsFromNodes(0.7, r.meta.bylines) {
		return
	}
	if r.signature != "" && r.setAuthors(article.FromHTML, 0.7, r.signature) {
		return
	}
	if r.setAuthorsNearHeadline() || r.setAuthors(article.FromJSONLD, 0.3, groups...) {
		return
	}
	// The publisher itself, where the page names it as the author.
	r.anySite = true
	_ = r.setAuthors(article.FromJSONLD, 0.3, groups...) || r.setAuthors(article.FromJSONLD, 0.3, persons...) || languageTag(r.meta.lang) != "vi" && r.setPublisherAsAuthor()
	r.anySite = false
}

// setPublisherAsAuthor uses the publisher where metadata or a byline names it. Vietnamese
// papers name themselves in the metadata of all articles.
func (r *builder) setPublisherAsAuthor() bool {
	return r.setAuthors(article.FromMeta, 0.3, r.meta.values["author"]...) || r.setAuthors(article.FromMicrodata, 0.3, r.meta.microdata["author"]...) ||
		r.setAuthorsFromNodes(0.2, r.meta.authorLinks) || r.setAuthorsFromNodes(0.2, r.meta.bylines)
}

// setAuthorsNearHeadline uses links to profiles and lines that start with "By", near the
// headline.
func (r *builder) setAuthorsNearHeadline() bool {
	if len(r.meta.h1s) == 0 {
		return false
	}
	left := 60
	var found []string
	source := 0.0
	var walk func(n *html.Node, depth int)
	walk = func(n *html.Node, depth int) {
		if len(found) > 0 || left <= 0 || depth > maxDepth {
			return
		}
		switch {
		case n.Type == html.TextNode && !isBlank(n.Data):
			left--
			line := clean(n.Data)
			if by := nameAfterBy(line); by != "" && len(line) < 80 && startsUpper(by) {
				found, source = append(found, by), 0.5
			}
		case n.Type == html.ElementNode:
			if r.doc.hintCache.hints(n)&(hintComment|hintHidden) != 0 {
				return
			}
			if n.DataAtom == atom.A && isProfile(attr(n, "href")) {
				if t := textOf(n, 80); t != "" && countWords(t) <= 5 {
					found, source = append(found, t), 0.5
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
	return r.setAuthors(article.FromHTML, source, found...)
}

func startsUpper(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(first)
}

// isProfile reports whether a link leads to the profile of an author.
func isProfile(href string) bool {
	for _, p := range []string{"/author/", "/authors/", "/autor/", "/autoren/", "/auteur/", "/auteurs/", "/profile/", "/people/", "/staff/", "/contributor", "/journalist/", "/by/", "/tac-gia/", "/writers/", "/team/", "/user/", "/users/", "/members/", "/u/"} {
		if strings.Contains(href, p) {
			return true
		}
	}
	return false
}

// authorNames returns the authors named in the metadata. A line above the text that
// contains only such a name is not part of the text.
func (d *Document) authorNames() []string {
	names, _ := d.loadJSONLD().people("author")
	for _, k := range []string{"author", "article:author", "dc.creator"} {
		names = append(names, d.Meta.values[k]...)
	}
	for _, several := range names {
		names = append(names, splitNames(several)...)
	}
	return names
}

func (r *builder) setAuthorsFromNodes(confidence float64, nodes []*html.Node) bool {
	var names []string
	for _, n := range nodes {
		if r.isInJunk(n) || len(names) > 0 && !isNear(nodes[0], n) {
			continue
		}
		t := textOf(n, 200)
		if by := nameAfterBy(t); by != "" {
			t = by
		}
		if countWords(t) > 12 {
			continue
		}
		names = append(names, t)
	}
	return r.setAuthors(article.FromHTML, confidence, names...)
}

// isNear reports whether two elements are close to each other.
func isNear(a, b *html.Node) bool {
	for i := 0; a != nil && i < 5; i, a = i+1, a.Parent {
		for p := b; p != nil; p = p.Parent {
			if p == a {
				return true
			}
		}
	}
	return false
}

func (r *builder) setAuthors(source article.Source, confidence float64, raw ...string) bool {
	var out []string
	for _, v := range raw {
		if v = clean(v); strings.Contains(v, "://") {
			continue // the URL of a profile
		}
		if first, _, ok := strings.Cut(v, ","); ok && !r.anySite && r.isSite(first) {
			continue // the address of the publisher
		}
		if source == article.FromMicrodata && countWords(v) > 20 {
			continue // a biography
		}
		for _, name := range splitNames(v) {
			if name = r.personName(name); name != "" && !containsName(out, name) && len(out) < 12 {
				out = append(out, name)
			}
		}
	}
	if len(out) == 0 {
		return false
	}
	if source == article.FromHTML || source == article.FromMicrodata {
		out = withoutRepeats(out)
		if len(out) > maxVisibleAuthors {
			out = out[:1] // of the first post; the others wrote replies
		}
	}
	r.a.Authors = withoutJobTitles(out)
	r.a.SetOrigin(article.FieldAuthors, source, confidence)
	return true
}

// maxVisibleAuthors is the number of names near each other above which they are those of
// several posts.
const maxVisibleAuthors = 4

// withoutRepeats drops names that begin or end with another one: "Mai Lan Editor" next to
// "Mai Lan", which both come from nested elements of a byline.
func withoutRepeats(names []string) []string {
	var out []string
	for i, a := range names {
		repeats := false
		for k, b := range names {
			if i != k && len(b) < len(a) && countWords(b) > 1 && (strings.HasPrefix(a, b+" ") || strings.HasSuffix(a, " "+b)) {
				repeats = true
			}
		}
		if !repeats {
			out = append(out, a)
		}
	}
	return out
}

// withoutJobTitles drops what follows a name in its byline: degrees, papers, agencies,
// job titles.
func withoutJobTitles(names []string) []string {
	out := names[:1]
	for _, n := range names[1:] {
		last := strings.ToLower(n[strings.LastIndexByte(n, ' ')+1:])
		switch last {
		case "writer", "reporter", "editor", "correspondent", "press", "news", "media", "business", "staff", "contributor", "columnist", "agency", "service", "online", "m.d", "ph.d", "md", "phd", "rd", "ms", "fand", "founder", "gardener", "astrologer", "teacher", "author", "reviewer", "producer", "anchor", "analyst", "strategist", "specialist", "manager", "director", "ceo":
			continue
		}
		if countWords(n) == 1 && len(n) <= 4 && isAllCaps(n) || strings.HasSuffix(last, ".com") || strings.Contains(n, " for ") {
			continue
		}
		out = append(out, n)
	}
	return out
}

func containsName(list []string, s string) bool {
	for _, v := range list {
		if Plain(v) == Plain(s) {
			return true
		}
	}
	return false
}

// splitNames splits a byline into names.
func splitNames(s string) []string {
	s = strings.NewReplacer(" and ", "\n", " And ", "\n", " AND ", "\n", " & ", "\n", ";", "\n", " và ", "\n", " und ", "\n", " y ", "\n", " et ", "\n", " - ", "\n", " – ", "\n", "|", "\n", "•", "\n", "/", "\n", ", ", "\n", " with ", "\n").Replace(s)
	return strings.Split(s, "\n")
}

// nameAfterBy returns the name after "By" at the start of a line.
func nameAfterBy(s string) string {
	for _, p := range []string{"By ", "BY ", "by ", "Written by", "Written By", "WRITTEN BY", "Posted by", "Posted By", "Published by", "Words by", "Text by", "Story by", "Reviewed by", "Author: ", "Author:", "Author ", "AUTHOR ", "By: ", "BY: ", "by: ", "By:",
		"Bài: ", "Bài và ảnh: ", "Tác giả: ", "Theo ", "Thực hiện: ",
		"Von ", "VON ", "von ", "Text: ", "Text von ", "Autor: ", "Autor:", "Autorin: ", "Autoren: ", "Verfasst von ", "Geschrieben von ", "Veröffentlicht von ", "Ein Beitrag von ", "Ein Artikel von ", "Ein Kommentar von ", "Eine Analyse von ", "Quelle: ",
		"Por ", "POR ", "por ", "Escrito por ", "Publicado por ", "Texto: ", "Par ", "PAR ", "par ", "Propos recueillis par ", "Publié par ", "Auteur : ", "Di ", "di ", "Door ", "door ", "Av ", "Af ", "Автор: "} {
		if rest, ok := strings.CutPrefix(s, p); ok {
			rest = strings.TrimLeft(rest, " :\u00a0")
			if first, _ := utf8.DecodeRuneInString(rest); unicode.IsLower(first) && isShortBy(p) {
				continue // "di" and "av" also start sentences
			}
			return strings.TrimSpace(rest)
		}
	}
	return ""
}

// isShortBy reports whether a prefix is an ordinary word, which must be followed by a
// capital.
func isShortBy(p string) bool { return len(p) <= 5 && p != "By " && p != "by " && p != "BY " }

// personName cleans a name, or returns nothing if it is not one.
func (r *builder) personName(s string) string {
	s = strings.TrimSpace(s)
	if by := nameAfterBy(s); by != "" {
		s = by
	}
	if by := nameAfterBy(s); by != "" { // "Mar 6 Written By" is cut by the caller
		s = by
	}
	if i := strings.IndexAny(s, "(["); i >= 0 { // "Hà Thu (tổng hợp)"
		s = s[:i]
	}
	for _, mark := range []string{" » ", " Last updated", " Updated", " Published", " Offline", " Online"} {
		s, _, _ = strings.Cut(s, mark)
	}
	s = cutDate(strings.TrimPrefix(s, "Articles by "))
	s = strings.Trim(s, " \t,.;:–—-@\"'“”")
	n := utf8.RuneCountInString(s)
	if n < 2 || n > 60 || countWords(s) > 7 {
		return ""
	}
	if strings.Contains(s, "://") || strings.Contains(s, "www.") || strings.ContainsAny(s, "@©") {
		return ""
	}
	letters, digits := 0, 0
	for _, c := range s {
		switch {
		case unicode.IsLetter(c):
			letters++
		case unicode.IsDigit(c):
			digits++
		}
	}
	if letters < 2 || digits > 1 || s[0] >= '0' && s[0] <= '9' {
		return ""
	}
	if !r.anySite && (r.isSite(s) || r.resemblesSite(s)) || isDateLine(s) || isMonthDay(s) {
		return ""
	}
	if r.anySite && (Plain(s) == "newsdesk" || Plain(s) == "staffwriter") {
		return s
	}
	switch Plain(s) {
	case "posted", "published", "updated", "admin", "administrator", "staff", "editor", "editors", "author", "webmaster", "null", "undefined", "none", "unknown", "guest", "user", "by", "byline",
		"anonymous", "minread", "editorialteam", "editorialstaff", "staffreports", "staffreport", "bientapvien", "btv", "tonghop", "pv", "phongvien", "toasoan", "tacgia", "wireservice", "newsdesk", "contributor", "reporter", "staffwriter", "followus", "share", "gastautor", "writtenby", "postedby":
		return ""
	}
	if strings.HasSuffix(Plain(s), "staffwriter") || strings.HasSuffix(Plain(s), "correspondent") && countWords(s) <= 3 {
		return ""
	}
	return s
}

// isMonthDay reports whether a text is a month and a number.
func isMonthDay(s string) bool {
	month, day, ok := strings.Cut(strings.ToLower(s), " ")
	return ok && isDateWord(month) && day != "" && strings.Trim(day, "0123456789.,") == ""
}

// cutDate removes a date at the end of a name: "Mai Lan February 8".
func cutDate(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		if i > 0 && i+1 < len(words) && isDateWord(strings.ToLower(strings.Trim(w, ".,"))) && words[i+1][0] >= '0' && words[i+1][0] <= '9' {
			return strings.Join(words[:i], " ")
		}
	}
	return s
}

// resemblesSite reports whether a name is a variant of the name of the site, such as
// "TUOI TRE ONLINE".
func (r *builder) resemblesSite(s string) bool {
	f := Plain(s)
	for _, n := range r.siteNames {
		if len(n) > 4 && (strings.HasPrefix(f, n) && len(f)-len(n) <= 8 || strings.HasSuffix(f, n) && len(f)-len(n) <= 5 || strings.HasPrefix(n, f) && len(f) > 5) {
			return true
		}
	}
	return false
}

// signatureOf finds the author below the text, as in Vietnamese papers: the last short
// lines that are right-aligned or named as the author. lines are not part of the text.
func (o *outline) signatureOf(selected []int) (name string, lines map[int]bool) {
	for k := len(selected) - 1; k >= 0 && k >= len(selected)-4; k-- {
		b := &o.blocks[selected[k]]
		if b.chars > 70 || countWords(b.text) > 10 {
			continue
		}
		if !o.isRightAligned(b.span) && b.hints&hintByline == 0 {
			continue
		}
		if lines == nil {
			lines = map[int]bool{}
		}
		lines[selected[k]] = true
		strong := ""
		for _, t := range b.texts {
			for p := t.Parent; p != nil && p != b.container.Parent; p = p.Parent {
				if p.DataAtom == atom.Strong || p.DataAtom == atom.B {
					strong = strings.TrimSpace(strong + " " + clean(t.Data))
					break
				}
			}
		}
		if name == "" {
			name = firstOf(strong, b.text)
		}
	}
	return name, lines
}

// isRightAligned reports whether the text of an element is right-aligned.
func (o *outline) isRightAligned(at int) bool {
	for up := 0; at >= 0 && up < 2; up++ {
		n := o.spans[at].node
		style := strings.ReplaceAll(strings.ToLower(attr(n, "style")), " ", "")
		if strings.Contains(style, "text-align:right") || strings.EqualFold(attr(n, "align"), "right") {
			return true
		}
		for c := range strings.FieldsSeq(strings.ToLower(attr(n, "class"))) {
			switch c {
			case "text-right", "align-right", "author_mail", "author", "pauthor", "right":
				return true
			}
		}
		if n.DataAtom == atom.P || n.DataAtom == atom.Div {
			return false
		}
		at = o.spans[at].parent
	}
	return false
}
