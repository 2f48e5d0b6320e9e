package extract

import (
	"slices"
	"strings"

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

// isProfile reports whether a link leads to the profile of an author.
func isProfile(href string) bool {
	for _, p := range []string{
		"/author/", "/authors/", "/autor/", "/autoren/", "/auteur/", "/auteurs/", "/profile/",
		"/people/", "/staff/", "/contributor", "/journalist/", "/by/", "/tac-gia/", "/writer/", "/writers/", "/team/",
		"/user/", "/users/", "/members/", "/u/",
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
