package extract

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/unicode/norm"
)

// renderer writes the selected blocks as sanitized HTML: an allowlist of elements, and
// only links and images have attributes, with http or https URLs and plain text. All
// output is generated; nothing is copied.
type renderer struct {
	base          *url.URL
	selectedTexts map[*html.Node]bool // text nodes of selected blocks
	selectedNodes map[*html.Node]bool // ancestors of selected nodes
	out           strings.Builder
	text          []byte // a buffer
	names         *nameCache
	image         string // the first
	depth         int
	pre           bool // inside preformatted text
}

// maxImages limits the images of an article.
const maxImages = 200

// render renders the selected blocks below root.
func render(d *Document, root *html.Node, o *outline, selected []int) (body, image string) {
	r := &renderer{
		base: d.Base, names: d.names, selectedTexts: make(map[*html.Node]bool, len(selected)),
		selectedNodes: make(map[*html.Node]bool, 2*len(selected)),
	}
	bytes := 0
	for _, i := range selected {
		bytes += len(o.blocks[i].text) + len("<p></p>\n")
	}
	r.out.Grow(bytes)
	for _, i := range selected {
		for _, t := range o.blocks[i].texts {
			r.selectedTexts[t] = true
			for p := t.Parent; p != nil && !r.selectedNodes[p]; p = p.Parent {
				r.selectedNodes[p] = true
			}
		}
	}
	table := noUnit
	for _, i := range selected {
		if unit := o.blocks[i].unit; unit != table && o.isTable(unit) {
			table = unit
			for _, n := range tableParts(o.spans[unit].node) {
				r.selectedNodes[n] = true
			}
		}
	}
	images := 0
	r.keepImages(root, 0, &images)
	r.node(root, false)
	return strings.TrimSpace(r.out.String()), r.image
}

// keepImages keeps images within the text, with their figures.
func (r *renderer) keepImages(n *html.Node, depth int, images *int) {
	if depth > maxDepth || *images >= maxImages {
		return
	}
	if n.Type == html.ElementNode {
		if r.names.hints(n)&(hintJunk|hintHidden|hintComment) != 0 && !r.selectedNodes[n] {
			return
		}
		if n.DataAtom == atom.Img && r.imageURL(n) != "" {
			*images++
			for p := n; p != nil && !r.selectedNodes[p]; p = p.Parent {
				r.selectedNodes[p] = true
			}
			if r.image == "" && !isIcon(n) {
				r.image = r.imageURL(n)
			}
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.keepImages(c, depth+1, images)
	}
}

// imageURL returns the URL of an image, including those of lazy-loading pages.
func (r *renderer) imageURL(n *html.Node) string {
	if w := attr(n, "width"); w == "1" || w == "0" { // tracking pixels
		return ""
	}
	if r.names.hints(n)&hintAvatar != 0 {
		return ""
	}
	for _, k := range []string{"data-src", "data-original", "data-lazy-src", "src"} {
		if v := attr(n, k); v != "" && !strings.HasPrefix(v, "data:") {
			if u := absolute(r.base, v); u != "" && !isAvatarURL(u) {
				return u
			}
		}
	}
	return ""
}

// isAvatarURL reports whether an image is the portrait of a reader or an author, by its
// host or folder.
func isAvatarURL(ref string) bool {
	u, err := url.Parse(ref)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if host == "gravatar.com" || strings.HasSuffix(host, ".gravatar.com") {
		return true
	}
	for part := range strings.SplitSeq(strings.ToLower(u.Path), "/") {
		if part == "avatar" || part == "avatars" || part == "gravatar" {
			return true
		}
	}
	return false
}

// maxIconSize is the width and height in pixels up to which an image is no picture of an
// article.
const maxIconSize = 100

func isIcon(n *html.Node) bool {
	small := false
	for _, key := range []string{"width", "height"} {
		size, err := strconv.Atoi(strings.TrimSuffix(attr(n, key), "px"))
		if err == nil && size > maxIconSize {
			return false
		}
		small = small || err == nil
	}
	return small
}

func (r *renderer) node(n *html.Node, inPara bool) {
	if r.depth++; r.depth > maxDepth {
		r.depth--
		return
	}
	defer func() { r.depth-- }()
	switch n.Type {
	case html.TextNode:
		if r.selectedTexts[n] {
			r.write(n.Data)
		}
		return
	case html.ElementNode, html.DocumentNode:
	default:
		return
	}
	if !r.selectedNodes[n] && n.DataAtom != atom.Br {
		return
	}
	open, end := "", ""
	switch a := n.DataAtom; a {
	case atom.Br:
		if inPara {
			r.out.WriteString("<br>")
		}
		return
	case atom.Img:
		if src := r.imageURL(n); src != "" {
			alt := norm.NFC.String(attr(n, "alt"))
			r.out.WriteString(`<img src="` + html.EscapeString(src) + `" alt="` + html.EscapeString(alt) + `">`)
		}
		return
	case atom.A:
		if href := absolute(r.base, attr(n, "href")); href != "" {
			open, end = `<a href="`+html.EscapeString(href)+`" rel="nofollow noopener">`, "</a>"
		}
	case atom.P, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Li, atom.Blockquote, atom.Pre,
		atom.Figure, atom.Figcaption,
		atom.Table, atom.Caption, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Dl, atom.Dt,
		atom.Dd,
		atom.Strong, atom.B, atom.Em, atom.I, atom.Sub, atom.Sup, atom.Code, atom.Q, atom.Cite, atom.S, atom.U,
		atom.Small, atom.Mark, atom.Abbr:
		open, end = "<"+a.String()+">", "</"+a.String()+">"
	case atom.H1:
		open, end = "<h2>", "</h2>"
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Svg, atom.Math:
		return
	default:
		if !inPara && !isInline(a) && r.hasOwnText(n) {
			open, end = "<p>", "</p>"
		}
	}
	r.out.WriteString(open)
	outer := r.pre
	r.pre = r.pre || n.DataAtom == atom.Pre
	para := inPara || open == "<p>" || isInline(n.DataAtom)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.node(c, para)
	}
	r.pre = outer
	r.out.WriteString(end)
	if end != "" && !isInline(n.DataAtom) {
		r.out.WriteByte('\n')
	}
}

// write appends text with collapsed white space, except in preformatted text.
func (r *renderer) write(s string) {
	if !r.pre {
		if strings.HasSuffix(r.out.String(), "\n") || strings.HasSuffix(r.out.String(), " ") ||
			strings.HasSuffix(r.out.String(), ">") && isBlank(s) {
			s = strings.TrimLeft(s, " \t\r\n")
		}
		r.text = appendCollapsed(r.text[:0], s)
		s = string(r.text)
	}
	r.out.WriteString(html.EscapeString(s))
}

// hasOwnText reports whether an element contains text but no blocks, so that it is
// rendered as a paragraph.
func (r *renderer) hasOwnText(n *html.Node) bool {
	text := false
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && r.selectedTexts[c]:
			text = true
		case c.Type == html.ElementNode && !isInline(c.DataAtom) && c.DataAtom != atom.Br && r.selectedNodes[c]:
			return false
		case c.Type == html.ElementNode && r.selectedNodes[c]:
			text = true
		}
	}
	return text
}
