package extract

import (
	"golang.org/x/net/html/atom"
)

// group is a set of topics of the words in class names and ids, for the block
// classifier. Unlike hints, groups decide nothing by themselves.
type group uint32

const (
	groupContent group = 1 << iota
	groupPost
	groupText
	groupDescription
	groupDetails
	groupMessage
	groupReview
	groupPrice
	groupPanel
	groupHero
	groupCard
	groupCode
	groupUser
	groupSide
	groupFoot
	groupMeta
)

// groupCount is the number of groups.
const groupCount = 16

// groups returns the groups of an element.
func (c *nameCache) groups(s *span) group {
	var g group
	n := s.node
	switch n.DataAtom {
	case atom.Details, atom.Summary:
		g |= groupPanel
	case atom.Pre, atom.Code:
		g |= groupCode
	case atom.Main:
		g |= groupContent
	}
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "class", "id", "itemprop":
			own := s.class
			if own == nil || a.Key != "class" {
				own = c.name(a.Val)
			}
			if !own.hasGroups {
				own.groups, own.hasGroups = groupsOf(a.Val), true
			}
			if own.groups != 0 && a.Key == "id" && c.isSlug(n, a.Val) {
				continue
			}
			g |= own.groups
		}
	}
	return g
}

// groupsOf returns the groups of the words of a name, split like those of hints.
func groupsOf(name string) group {
	var g group
	var word [24]byte
	n := 0
	prev := byte(0)
	for i := 0; i <= len(name); i++ {
		c := byte(' ')
		if i < len(name) {
			c = name[i]
		}
		lower, upper := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z'
		if !lower && !upper || upper && prev >= 'a' && prev <= 'z' {
			g |= wordGroup(string(word[:n]))
			n = 0
		}
		if (lower || upper) && n < len(word) {
			word[n] = c | 0x20
			n++
		}
		prev = c
	}
	return g
}

func wordGroup(w string) group {
	switch w {
	case "content", "contents", "main", "primary", "inhalt", "contenido", "conteudo", "contenu", "maincontent",
		"contentbody":
		return groupContent
	case "post", "entry", "article", "story", "blog", "news", "artikel", "articulo", "noticia", "beitrag":
		return groupPost
	case "text", "body", "richtext", "rte", "prose", "wysiwyg", "paragraph", "markdown", "copy", "editor", "formatted":
		return groupText
	case "description", "desc", "summary", "overview", "about", "abstract", "synopsis", "intro", "lead":
		return groupDescription
	case "detail", "details", "spec", "specs", "specification", "specifications", "feature", "features", "attributes",
		"properties", "product", "pdp", "item":
		return groupDetails
	case "message", "messages", "thread", "topic", "forum", "reply", "replies", "question", "answer", "answers",
		"discussion", "posts", "postbody", "comment", "comments":
		return groupMessage
	case "review", "reviews", "rating", "ratings", "stars", "testimonial", "testimonials", "quote":
		return groupReview
	case "price", "prices", "cart", "basket", "buy", "shop", "checkout", "shipping", "stock", "variant", "quantity",
		"swatch", "offer", "offers":
		return groupPrice
	case "faq", "faqs", "accordion", "tab", "tabs", "tabpanel", "panel", "collapse", "collapsible", "toggle",
		"expandable", "expander":
		return groupPanel
	case "hero", "banner", "cta", "jumbotron", "promo", "teaser", "callout", "headline", "slider", "carousel":
		return groupHero
	case "card", "cards", "tile", "tiles", "grid", "list", "listing", "results", "items", "loop", "feed":
		return groupCard
	case "code", "highlight", "snippet", "example", "examples", "docs", "doc", "documentation", "api", "reference",
		"admonition", "rst":
		return groupCode
	case "user", "users", "avatar", "profile", "member", "username", "signature", "author", "bio", "badge",
		"reputation", "nick":
		return groupUser
	case "sidebar", "side", "aside", "toc", "nav", "menu", "navigation", "rail", "widget", "widgets", "secondary",
		"related", "recommended", "more":
		return groupSide
	case "footer", "foot", "bottom", "copyright", "legal", "disclaimer", "newsletter", "subscribe", "cookie", "consent",
		"social", "share", "sharing":
		return groupFoot
	case "meta", "date", "time", "timestamp", "byline", "tags", "category", "categories", "tag", "breadcrumb",
		"breadcrumbs", "info", "caption", "credit":
		return groupMeta
	}
	return 0
}
