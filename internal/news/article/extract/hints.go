package extract

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// hint is what the tag, class, id, role and itemprop of an element indicate about its
// content.
type hint uint16

const (
	hintJunk    hint = 1 << iota // advertisements, share bars, related boxes, navigation
	hintSuspect                  // often junk, sometimes the article
	hintBody                     // named as the body of the article
	hintCaption                  // image captions
	hintComment                  // readers' comments
	hintHidden                   // not shown
	hintByline                   // author
	hintDate                     // date
	hintLead                     // the standfirst
	hintQuote                    // embedded posts of social networks: part of the article
	hintChrome                   // the footer of the site, or a consent dialog
	hintAvatar                   // the portrait of a reader or an author
)

// hints returns the hints of an element. Class names are split at non-letters and at
// capitals after lowercase letters, so that "article-share", "articleShare" and
// "share_1" contain the word share.
func (c *nameCache) hints(n *html.Node) hint {
	h := tagHint(n.DataAtom)
	for i := range n.Attr {
		a := &n.Attr[i]
		switch a.Key {
		case "class", "id":
			own := c.name(a.Val)
			if own.hints == 0 || a.Key == "id" && c.isSlug(n, a.Val) {
				continue
			}
			h |= own.shown
		default:
			h |= attrHint(a)
		}
	}
	return h
}

func tagHint(tag atom.Atom) hint {
	switch tag {
	case atom.Nav, atom.Menu, atom.Dialog, atom.Button, atom.Select, atom.Option, atom.Textarea, atom.Label:
		return hintJunk
	case atom.Footer:
		return hintJunk | hintChrome
	case atom.Aside:
		return hintSuspect
	case atom.Figcaption, atom.Caption:
		return hintCaption
	}
	return 0
}

// attrHint returns the hint of an attribute other than class and id.
func attrHint(a *html.Attribute) hint {
	switch a.Key {
	case "itemprop":
		switch {
		case strings.Contains(a.Val, "articleBody"):
			return hintBody
		case strings.Contains(a.Val, "caption"):
			return hintCaption
		case a.Val == "comment":
			return hintComment
		}
	case "itemtype":
		if strings.HasSuffix(a.Val, "schema.org/Comment") || strings.HasSuffix(a.Val, "schema.org/UserComments") {
			return hintComment
		}
	case "role":
		switch a.Val {
		case "contentinfo":
			return hintJunk | hintChrome
		case "navigation", "menu", "banner", "search", "complementary", "dialog", "toolbar", "button", "tablist":
			return hintJunk
		}
	case "hidden":
		return hintHidden
	case "aria-hidden":
		if a.Val == "true" {
			return hintHidden
		}
	case "style":
		if isDisplayNone(a.Val) {
			return hintHidden
		}
	}
	return 0
}

// isShownOnLargeScreens recognizes "hidden md:block".
func isShownOnLargeScreens(class string) bool {
	for _, p := range []string{":block", ":flex", ":grid", ":inline", ":table", ":contents"} {
		if strings.Contains(class, p) {
			return true
		}
	}
	return false
}

func isDisplayNone(style string) bool {
	i := strings.Index(style, "display")
	if i < 0 {
		return false
	}
	rest := strings.TrimLeft(style[i+len("display"):], " :")
	return strings.HasPrefix(rest, "none")
}

// maxWordBytes is the length from which words of names are cut off.
const maxWordBytes = 32

// classHints returns the hints of the words of a class or id.
func classHints(class string) hint {
	var h hint
	from := -1
	prev := byte(0)
	before := ""   // previous word of the same name
	mixed := false // the word was split off at a capital letter
	flush := func(end int) {
		// Generated names contain short words by chance.
		if n := end - from; from >= 0 && (!mixed || n > 3) {
			w := strings.ToLower(class[from:min(end, from+maxWordBytes)])
			if !isStyleOnly(before, w) {
				h |= wordHint(w) | pairHint(before, w)
			}
			before = w
		}
		from = -1
	}
	for i := range len(class) {
		c := class[i]
		lower := c >= 'a' && c <= 'z'
		upper := c >= 'A' && c <= 'Z'
		switch {
		case !lower && !upper:
			flush(i)
			mixed = false
			if c == ' ' {
				before = ""
			}
		case upper && prev >= 'a' && prev <= 'z':
			mixed = true
			flush(i)
			from = i
		case from < 0:
			from = i
		}
		prev = c
	}
	flush(len(class))
	return h
}

// isStyleOnly reports whether a word only looks like a hint: overflow-hidden clips an
// element, field--label-hidden has no label, md:hidden hides on some screens,
// accordion-panel-hidden and elementor-invisible show their text later, and has-sidebar or
// no-comments describe what is inside.
func isStyleOnly(before, w string) bool {
	switch before {
	case "has", "have", "with", "no", "without":
		return true
	}
	if w == "invisible" {
		return before == "elementor" // until its animation starts, when the reader scrolls to it
	}
	if w != "hidden" && w != "hide" {
		return false
	}
	switch before {
	case "accordion", "collapse", "panel", "pane": // the reader unfolds it
		return true
	case "overflow", "label", "title", "backface", "scrollbar", "x", "y", "xs", "sm", "md", "lg", "xl", "mobile",
		"desktop", "tablet", "print":
		return true
	}
	return false
}

// wordHint returns the hint of one word of a class name.
func wordHint(w string) hint {
	if len(w) > 8 {
		for _, stem := range []string{
			"related", "recommend", "advert", "sponsor", "newslett", "breadcrumb", "subscri",
			"outbrain", "taboola",
		} {
			if strings.HasPrefix(w, stem) {
				return hintJunk
			}
		}
	}
	switch w {
	case "share", "sharing", "shares", "sharebar", "sharetools", "sharethis", "addthis", "addtoany", "social",
		"socials", "socialbar", "related", "relatedbox", "relatednews", "relate", "recommend", "recommended",
		"recommendation", "recommendations", "recirc", "recirculation", "promo", "promos", "promotion", "promoted",
		"sponsor", "sponsored", "sponsors", "advert", "adverts", "advertisement", "advertisements", "advertising", "ad",
		"ads", "adv", "adbox", "adsbox", "adslot", "adunit", "adsense", "dfp", "leaderboard", "newsletter",
		"newsletters", "subscribe", "subscription", "signup", "optin", "mailchimp", "breadcrumb", "breadcrumbs",
		"pagination", "pager", "navbar", "navigation", "nav", "menu", "submenu", "topbar", "navlist", "outbrain",
		"taboola", "zergnet", "revcontent", "mgid", "dianomi", "trending", "mostread", "mostviewed", "mostpopular",
		"cookie", "cookies", "popup", "modal", "lightbox", "overlay", "tooltip", "tooltips", "rollover", "hovercard",
		"sidebar", "sidebars", "skiplink", "masthead", "ticker", "footer", "login", "toolbar", "toolbox", "readmore",
		"morenews", "seealso", "xemthem", "lienquan", "tinlienquan", "docthem", "tags", "taglist", "tagcloud",
		"keywords", "poll", "rating", "ratings", "printfriendly", "yarpp", "crp",
		"teaser", "teasers", "relatedposts", "cta", "disclaimer", "noscript":
		return hintJunk
	case "gdpr", "consent":
		return hintJunk | hintChrome
	case "onetrust", "didomi", "cookiebot", "cybotcookiebot", "usercentrics", "trustarc", "truste", "borlabs", "cmplz",
		"iubenda", "osano", "termly",
		"cookieconsent", "cookiebanner", "cookienotice", "cookielaw", "ccpa":
		return hintChrome
	case "widget", "widgets", "rail", "aside", "banner", "popular", "latest", "bio", "follow", "carousel", "slideshow",
		"gallery", "player", "video", "more", "copyright", "callout", "box", "links", "extra", "tag", "meta",
		"metadata", "info", "header", "inset", "fine", "tools", "actions", "note", "card", "cards", "photo", "print",
		"donate", "donation", "quiz", "product", "reaction", "reactions", "interstitial", "stories":
		return hintSuspect
	case "comment", "comments", "commentlist", "respond", "disqus", "livefyre", "discussion", "replies", "fbcomments",
		"binhluan",
		"kommentar", "kommentare", "commentaire", "commentaires", "comentario", "comentarios", "commenti",
		"webmentions":
		return hintComment
	case "caption", "captions", "credit", "credits", "imagecaption", "photocredit", "legend", "copyrights":
		return hintCaption
	case "articlebody", "storybody", "storytext", "storycontent", "articlecontent", "articletext", "entrycontent",
		"postcontent", "postbody", "maincontent", "bodytext":
		return hintBody
	case "hide", "hidden", "invisible", "visuallyhidden", "offscreen":
		return hintHidden
	case "byline", "bylines", "author", "authors", "authorname", "writer", "tacgia", "autor", "autoren", "autore",
		"auteur", "autores", "verfasser", "redakteur":
		return hintByline
	case "date", "time", "timestamp", "dateline", "published", "pubdate", "posted", "datetime", "updated", "datum",
		"fecha", "publishdate", "postdate", "entrydate", "publicationdate", "datepublished", "zeit", "uhrzeit",
		"erschienen":
		return hintDate
	case "sapo", "standfirst", "subtitle", "subhead", "subheadline", "dek", "deck", "lede", "lead", "intro", "summary",
		"excerpt", "description":
		return hintLead
	case "avatar", "avatars", "gravatar", "userpic":
		return hintAvatar
	case "twitter", "tweet", "instagram":
		return hintQuote
	}
	return 0
}

// pairHint returns the hint of two adjacent words of a class name.
func pairHint(a, b string) hint {
	switch a {
	case "article", "story", "post", "entry", "news", "content":
		switch b {
		case "body", "text", "content", "detail":
			return hintBody
		}
	case "read", "see", "related", "you", "also":
		switch b {
		case "more", "also", "next", "stories", "posts", "articles", "links":
			return hintJunk
		}
	case "cookie", "cookies":
		switch b {
		case "consent", "banner", "notice", "law", "bar", "box", "policy", "popup", "modal", "dialog", "message",
			"settings", "preferences", "alert", "overlay", "warning":
			return hintChrome
		}
	case "most":
		switch b {
		case "read", "viewed", "popular", "shared":
			return hintJunk
		}
	case "sr", "screen", "visually":
		switch b {
		case "only", "reader", "hidden":
			return hintHidden
		}
	case "print":
		switch b {
		case "only", "header", "footer", "block":
			return hintJunk
		}
	case "binh":
		if b == "luan" {
			return hintComment
		}
	case "sign":
		if b == "up" {
			return hintJunk
		}
	case "author", "writer":
		switch b {
		case "bio", "box", "info", "profile", "about", "card", "description":
			return hintJunk
		}
	case "about":
		if b == "author" {
			return hintJunk
		}
	}
	return 0
}
