package extract

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// term is what a link to a category or tag of an article is.
type term int

const (
	noTerm term = iota
	categoryTerm
	tagTerm
)

// maxTerms limits the links to categories and tags of a page, of which menus have many.
const maxTerms = 300

// termOf classifies a link by its own class, its rel, its address, and the class of the
// elements around it. Block themes of WordPress give rel="tag" to categories, too; Nikola
// lists tags below /categories/ and names them tag; p-category is a tag in microformats
// (https://microformats.org/wiki/h-entry#p-category).
func termOf(n *html.Node) term {
	if t := termOfClass(attr(n, "class")); t != noTerm {
		return t
	}
	var rel []string
	if v := attr(n, "rel"); v != "" {
		rel = strings.Fields(strings.ToLower(v))
	}
	if slices.Contains(rel, "category") {
		return categoryTerm
	}
	if t := termOfAddress(attr(n, "href")); t != noTerm {
		return t
	}
	if !slices.Contains(rel, "tag") {
		return noTerm
	}
	for p, up := n.Parent, 0; p != nil && up < 2 && p.DataAtom != atom.Article; p, up = p.Parent, up+1 {
		if t := termOfClass(attr(p, "class")); t != noTerm {
			return t
		}
	}
	return tagTerm
}

// termOfClass looks for the words "category" and "tag" in a class.
func termOfClass(class string) term {
	if !strings.Contains(class, "ateg") && !strings.Contains(class, "ag") && !strings.Contains(class, "cat") {
		return noTerm
	}
	t := noTerm
	for name := range strings.FieldsSeq(strings.ToLower(class)) {
		for w := range strings.FieldsFuncSeq(name, func(c rune) bool { return c < 'a' || c > 'z' }) {
			switch w {
			case "tag", "tags", "taglist", "keyword", "keywords":
				return tagTerm
			case "category", "categories", "cat", "cats":
				if t = categoryTerm; name == "p-category" {
					return tagTerm
				}
			}
		}
	}
	return t
}

// termOfAddress looks for the folder of categories or tags in an address.
func termOfAddress(href string) term {
	path, _, _ := strings.Cut(href, "?")
	for {
		folder, rest, ok := strings.Cut(path, "/")
		if !ok || rest == "" { // the list of all
			return noTerm
		}
		switch path = rest; folder {
		case "category", "categories", "kategorie", "kategorien", "categoria", "categorias", "categorie", "rubrik",
			"rubriken", "rubrique", "chuyen-muc", "danh-muc", "chuyenmuc":
			return categoryTerm
		case "tag", "tags", "tagged", "label", "etiqueta", "etiquetas", "schlagwort", "chu-de", "tu-khoa":
			return tagTerm
		}
	}
}

// ownTerms returns the names of the categories or tags of the article that the page links:
// those of the first list of them that is not in a menu, a cloud, a sidebar or a teaser.
func (r *builder) ownTerms(want term) []string {
	var out []string
	var list *html.Node
	for _, n := range r.meta.terms {
		if termOf(n) != want || list != nil && listOf(n) != list || !r.isOwnTerm(n) {
			continue
		}
		name := strings.TrimSpace(strings.TrimLeft(textOf(n, 100), "# "))
		if href := attr(n, "href"); !hasLetter(name) || href != "" && r.isOwnAddress(href) {
			continue
		}
		list = listOf(n)
		out = append(out, name)
	}
	return out
}

// listOf returns the element around a link that also contains its neighbors.
func listOf(n *html.Node) *html.Node {
	p := n.Parent
	for p.Parent != nil && (p.DataAtom == atom.Li || p.DataAtom == atom.Span && p.FirstChild == n && p.LastChild == n) {
		p = p.Parent
	}
	return p
}

// isCategoryLabel reports whether a text announces the category of an article, wherever it stands: Material for MkDocs
// has "in Travel" in a sidebar.
func isCategoryLabel(text string) bool {
	switch strings.TrimRight(strings.ToLower(text), ": ") {
	case "in", "category", "categories", "filed under", "filed in", "posted in", "section", "trong", "chuyên mục",
		"danh mục", "thể loại",
		"kategorie", "rubrik", "catégorie", "categoría", "categoria":
		return true
	}
	return false
}

// maxListedTerms is the number of links in a list above which it is that of the site.
const maxListedTerms = 25

// isOwnTerm reports whether a link to a category or tag belongs to the article.
func (r *builder) isOwnTerm(n *html.Node) bool {
	links := 0
	for d := range listOf(n).Descendants() {
		if d.DataAtom == atom.A {
			links++
		}
	}
	if links > maxListedTerms {
		return false
	}
	if isCategoryLabel(labelBefore(n)) && !r.isForeign(n, hintComment) && !r.isTeaser(n) {
		return true
	}
	level := 0
	for p := range r.outer(n) {
		class := attr(p, "class") + " " + attr(p, "id")
		switch p.DataAtom {
		case atom.Nav, atom.Menu:
			if termOfClass(class) == noTerm {
				return false
			}
		case atom.Aside, atom.Dialog:
			return false
		case atom.Footer, atom.Header:
			if !r.isInArticle(p.Parent) && !hasWord(class, "entry", "post", "article", "meta") {
				return false
			}
		case atom.Article:
			if !slices.Contains(r.elements, p) && len(r.meta.h1s) > 0 {
				return false // of another article
			}
		}
		if hasWord(class, "sidebar", "widget", "widgets", "cloud", "tagcloud", "menu", "submenu", "navbar", "topbar",
			"masthead", "related", "relatedposts", "recommended", "popular", "trending", "comment", "comments",
			"breadcrumb", "breadcrumbs", "archive", "archives") {
			return false
		}
		if level++; level >= 2 && level <= 5 && r.isHeadlined(p) {
			return false
		}
	}
	return true
}

// hasWord reports whether a class contains one of some words.
func hasWord(class string, words ...string) bool {
	for w := range strings.FieldsFuncSeq(strings.ToLower(class), func(c rune) bool { return c < 'a' || c > 'z' }) {
		if slices.Contains(words, w) {
			return true
		}
	}
	return false
}

// isHeadlined reports whether a small element has the headline of another article: a
// heading with a link, or in one. A link to the page itself, such as "Cancel reply" in the
// heading of WordPress' form for comments, leads to none.
func (r *builder) isHeadlined(n *html.Node) bool {
	left := 80
	for d := range n.Descendants() {
		if left--; left < 0 {
			return false
		}
		switch d.DataAtom {
		case atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		default:
			continue
		}
		link := r.isLinkElsewhere(d.Parent)
		for c := range d.Descendants() {
			link = link || r.isLinkElsewhere(c)
		}
		if link && !sameTitle(textOf(d, 400), r.a.Title) {
			return true
		}
	}
	return false
}

func (r *builder) isLinkElsewhere(n *html.Node) bool {
	if n.DataAtom != atom.A {
		return false
	}
	href := attr(n, "href")
	return !strings.HasPrefix(href, "#") && !r.isOwnAddress(href)
}
