package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"dateline/internal/news/article"
)

// readAuthors uses the most explicit statement that names a person. The name of the site
// is not an author: Vietnamese papers put it into the metadata and sign below the text.
func (r authorReader) readAuthors() {
	persons, groups := r.jsonLD.people("author")
	if r.setAuthors(article.FromJSONLD, 0.95, persons...) {
		return
	}
	if c, _ := r.jsonLD.people("creator"); r.setAuthors(article.FromJSONLD, 0.8, c...) {
		return
	}
	for _, k := range []string{
		"author", "parsely-author", "sailthru.author", "dable:author", "article:author_name",
		"byl", "dc.creator", "dcterms.creator", "citation_author", "article:author", "og:author",
		"twitter:creator_name", "author_name", "itemprop:author",
	} {
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
	if r.signature != "" && !isSource(r.signature) && r.setAuthors(article.FromHTML, 0.7, r.signature) {
		return
	}
	if r.setAuthorsFromLabels() || r.setAuthorsNearHeadline() || r.setLabeledAuthors() || r.signature != "" &&
		r.setAuthors(article.FromHTML, 0.5, r.signature) || r.setAuthorsFromBoxes() ||
		r.setAuthorsBeside() || r.setAuthors(article.FromJSONLD, 0.3, groups...) {
		return
	}
	// The publisher itself, where the page names it as the author.
	r.anySite = true
	_ = r.setAuthors(article.FromJSONLD, 0.3, groups...) || r.setAuthors(article.FromJSONLD, 0.3, persons...) ||
		languageTag(r.meta.lang) != "vi" && r.setPublisherAsAuthor()
	r.anySite = false
}

// setPublisherAsAuthor uses the publisher where metadata or a byline names it. Vietnamese
// papers name themselves in the metadata of all articles.
func (r authorReader) setPublisherAsAuthor() bool {
	return r.setAuthors(article.FromMeta, 0.3, r.meta.values["author"]...) ||
		r.setAuthors(article.FromMicrodata, 0.3, r.meta.microdata["author"]...) ||
		r.setAuthorsFromNodes(0.2, r.meta.authorLinks) || r.setAuthorsFromNodes(0.2, r.meta.bylines)
}

func startsUpper(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(first)
}

// isProfile reports whether a link leads to the profile of an author.
func isProfile(href string) bool {
	for _, p := range []string{
		"/author/", "/authors/", "/autor/", "/autoren/", "/auteur/", "/auteurs/", "/profile/",
		"/people/", "/staff/", "/contributor", "/journalist/", "/by/", "/tac-gia/", "/writers/", "/team/", "/user/",
		"/users/", "/members/", "/u/",
	} {
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

func (r authorReader) setAuthorsFromNodes(confidence float64, nodes []*html.Node) bool {
	var names []string
	for _, n := range nodes {
		if r.isForeign(n, hintJunk|hintComment) || len(names) > 0 && !isNear(nodes[0], n) {
			continue
		}
		t := bylineText(n, 300)
		if by := nameAfterBy(t); by != "" && !isCreditLine(t) {
			t = by
		}
		writers := writersOf(t)
		if strings.Contains(t, "\n") &&
			!slices.ContainsFunc(writers, func(w string) bool { return isPersonLike(firstName(w)) }) {
			writers = []string{textOf(n, 200)} // words in elements of their own
		}
		for i, w := range writers {
			if countWords(w) <= 12 && (len(writers) == 1 || i == 0 && !strings.Contains(t, "\n") ||
				isPersonLike(firstName(w))) {
				names = append(names, w)
			}
		}
	}
	return r.setAuthors(article.FromHTML, confidence, names...)
}

// setAuthorsBeside uses a byline in a sidebar or menu, where Material for MkDocs has it, if the
// page has no other and it is no part of a teaser.
func (r authorReader) setAuthorsBeside() bool {
	beside := slices.DeleteFunc(slices.Clone(r.meta.bylines), func(n *html.Node) bool {
		return r.isForeign(n, hintComment|hintAvatar) || r.isTeaser(n) || r.isAfterText(n)
	})
	if len(beside) == 0 {
		return false
	}
	return r.setAuthors(article.FromHTML, 0.3, namesInLines(bylineText(beside[0], 300))...)
}

// namesInLines returns the lines that look like the names of persons.
func namesInLines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool {
		return !isPersonLike(strings.TrimSpace(s))
	})
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

func (r authorReader) setAuthors(source article.Source, confidence float64, raw ...string) bool {
	var out []string
	for _, v := range raw {
		if source != article.FromHTML { // in which lines are those of the page
			v = clean(v)
		}
		if strings.Contains(v, "://") {
			continue // the URL of a profile
		}
		if first, _, ok := strings.Cut(v, ","); ok && !r.anySite && r.isSite(first) {
			continue // the address of the publisher
		}
		if source == article.FromMicrodata && countWords(v) > 20 {
			continue // a biography
		}
		for _, name := range splitNames(strings.Join(writersOf(v), "\n")) {
			if name = r.personName(name, source == article.FromJSONLD || source == article.FromMeta ||
				source == article.FromMicrodata); name != "" && !containsName(out, name) && len(out) < 12 {
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
			if i != k && len(b) < len(a) && countWords(b) > 1 &&
				(strings.HasPrefix(a, b+" ") || strings.HasSuffix(a, " "+b)) {
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
	var out []string
	for i, n := range names {
		if i == 0 {
			if len(names) == 1 || countWords(n) > 2 || !isRole(n) {
				out = append(out, n)
			}
			continue
		}
		last := strings.ToLower(n[strings.LastIndexByte(n, ' ')+1:])
		if isJobTitle(last) {
			continue
		}
		if countWords(n) == 1 && len(n) <= 4 && isAllCaps(n) || strings.HasSuffix(last, ".com") ||
			strings.Contains(n, " for ") {
			continue
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		return names[:1]
	}
	return out
}

// isJobTitle reports whether the last word of a name makes it a job title, a degree or an
// agency.
func isJobTitle(word string) bool {
	switch word {
	case "writer", "reporter", "editor", "correspondent", "press", "news", "media", "business", "staff", "contributor",
		"columnist", "agency", "service", "online", "m.d", "ph.d", "md", "phd", "rd", "ms", "fand", "founder",
		"gardener", "astrologer", "teacher", "author", "reviewer", "producer", "anchor", "analyst", "strategist",
		"specialist", "manager", "director", "ceo", "coordinator", "consultant", "president", "officer":
		return true
	}
	return false
}

// isRole reports whether a name is only what somebody is, such as "Lead Reviewer".
func isRole(name string) bool {
	switch strings.ToLower(name[strings.LastIndexByte(name, ' ')+1:]) {
	case "writer", "reporter", "editor", "correspondent", "contributor", "columnist", "author", "reviewer", "founder",
		"journalist", "astrologer", "freelancer", "producer", "analyst":
		return true
	}
	return false
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
	var names []string
	for {
		first, rest, ok := cutName(s)
		if names == nil && !ok {
			return []string{s}
		}
		if names = append(names, first); !ok {
			return names
		}
		s = rest
	}
}

// firstName returns the first name of a byline.
func firstName(s string) string {
	name, _, _ := cutName(s)
	return name
}

// cutName splits a byline after the first name; ok is false if it is the only one.
func cutName(s string) (name, rest string, ok bool) {
	for i := range len(s) {
		n := 0
		switch s[i] {
		case ';', '|', '/', '\n':
			n = 1
		case "•"[0]:
			if strings.HasPrefix(s[i:], "•") {
				n = len("•")
			}
		case ',':
			if strings.HasPrefix(s[i:], ", ") {
				n = 2
			}
		case ' ':
			n = nameSeparator(s[i:])
		}
		if n > 0 {
			return s[:i], s[i+n:], true
		}
	}
	return s, "", false
}

// nameSeparator returns the length of the word between spaces that separates names, at the start of a text.
func nameSeparator(s string) int {
	end := strings.IndexByte(s[1:], ' ')
	if end <= 0 || end > len("with") {
		return 0
	}
	switch s[1 : 1+end] {
	case "and", "And", "AND", "&", "và", "und", "y", "et", "-", "–", "with":
		return end + 2
	}
	return 0
}

// nameAfterBy returns the name after "By" at the start of a line.
func nameAfterBy(s string) string {
	if s == "" {
		return ""
	}
	starts := byStarts(s[0])
	if starts == "" {
		return ""
	}
	for p := range strings.SplitSeq(starts, "|") {
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

// byStarts returns what announces a name at the start of a line, by the first byte, separated by bars.
func byStarts(first byte) string {
	switch first {
	case 'A':
		return "Author: |Author:|Author |AUTHOR |Autor: |Autor:|Autorin: |Autoren: |Auteur : |Av |Af "
	case 'B':
		return "By |BY |By: |BY: |By:|Bài: |Bài và ảnh: "
	case 'b':
		return "by |by: "
	case 'D':
		return "Di |Door "
	case 'd':
		return "di |door "
	case 'E':
		return "Ein Beitrag von |Ein Artikel von |Ein Kommentar von |Eine Analyse von |Escrito por "
	case 'G':
		return "Geschrieben von "
	case 'P':
		return "Posted by|Posted By|Published by|Por |POR |Publicado por |Par |PAR |Propos recueillis par |Publié par "
	case 'p':
		return "por |par "
	case 'Q':
		return "Quelle: "
	case 'R':
		return "Reviewed by"
	case 'S':
		return "Story by"
	case 'T':
		return "Text by|Tác giả: |Theo |Thực hiện: |Text: |Text von |Texto: "
	case 'V':
		return "Von |VON |Verfasst von |Veröffentlicht von "
	case 'v':
		return "von "
	case 'W':
		return "Written by|Written By|WRITTEN BY|Words by"
	case "А"[0]:
		return "Автор: "
	}
	return ""
}

// isShortBy reports whether a prefix is an ordinary word, which must be followed by a
// capital.
func isShortBy(p string) bool { return len(p) <= 5 && p != "By " && p != "by " && p != "BY " }

// personName cleans a name, or returns nothing if it is not one.
func (r authorReader) personName(s string, explicit bool) string {
	s = strings.TrimSpace(s)
	if by := nameAfterBy(s); by != "" {
		s = by
	}
	if by := nameAfterBy(s); by != "" { // "Mar 6 Written By" is cut by the caller
		s = by
	}
	if strings.HasPrefix(strings.ToLower(s), "updated by ") {
		return ""
	}
	if i := strings.IndexAny(s, "(["); i >= 0 { // "Hà Thu (tổng hợp)"
		if isCredited(s[i:]) {
			return ""
		}
		s = s[:i]
	}
	for _, mark := range []string{" » ", " Last updated", " Updated", " Published", " Offline", " Online"} {
		s, _, _ = strings.Cut(s, mark)
	}
	s = cutDate(strings.TrimPrefix(s, "Articles by "))
	if i := strings.Index(strings.ToLower(s), " for "); i > 0 && countWords(s[:i]) >= 2 {
		s = s[:i] // "Mai Lan For The Paper on Sunday"
	}
	s = strings.Trim(s, " \t,.;:–—-@\"'“”&")
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
	if letters < 2 || digits > 1 && !explicit || digits > letters || !explicit && s[0] >= '0' && s[0] <= '9' {
		return ""
	}
	if !r.anySite && (r.isSite(s) || r.resemblesSite(s)) || isDateLine(s) || isMonthDay(s) {
		return ""
	}
	if countWords(s) == 1 && isDateWord(strings.ToLower(s)) {
		return ""
	}
	if r.anySite && (Plain(s) == "newsdesk" || Plain(s) == "staffwriter" ||
		(Plain(s) == "staff" || Plain(s) == "editorialteam" || Plain(s) == "editorialstaff" ||
			Plain(s) == "staffreports" || Plain(s) == "staffreporter")) {
		return s
	}
	switch Plain(s) {
	case "posted", "published", "updated", "admin", "administrator", "staff", "editor", "editors", "author",
		"webmaster", "null", "undefined", "none", "unknown", "guest", "user", "by", "byline",
		"anonymous", "minread", "editorialteam", "editorialstaff", "staffreports", "staffreport", "bientapvien", "btv",
		"tonghop", "pv", "phongvien", "toasoan", "tacgia", "wireservice", "newsdesk", "contributor", "reporter",
		"staffwriter", "followus", "share", "gastautor", "writtenby", "postedby", "agencies":
		return ""
	}
	if strings.HasSuffix(Plain(s), "staffwriter") || strings.HasSuffix(Plain(s), "correspondent") &&
		countWords(s) <= 3 {
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
		if i > 0 && i+1 < len(words) && isDateWord(strings.ToLower(strings.Trim(w, ".,"))) && words[i+1][0] >= '0' &&
			words[i+1][0] <= '9' {
			return strings.Join(words[:i], " ")
		}
	}
	return s
}

// resemblesSite reports whether a name is a variant of the name of the site, such as
// "TUOI TRE ONLINE".
func (r authorReader) resemblesSite(s string) bool {
	f := Plain(s)
	for _, n := range r.siteNames {
		if len(n) > 4 && (strings.HasPrefix(f, n) && len(f)-len(n) <= 8 || strings.HasSuffix(f, n) &&
			len(f)-len(n) <= 5 || strings.HasPrefix(n, f) && len(f) > 5) {
			return true
		}
	}
	return false
}
