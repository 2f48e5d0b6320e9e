package extract

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// rendering writes the kept part of a page as HTML that is safe to show: a fixed list of
// elements, of which only links and pictures keep attributes, and of those only addresses of
// the web and plain text. Everything is written anew, nothing is passed through.
type rendering struct {
	base  *url.URL
	texts map[*html.Node]bool // kept
	nodes map[*html.Node]bool // around what is kept
	out   strings.Builder
	names memory
	image string // the first
	depth int
	pre   bool // inside text that is laid out by hand
}

// maxImages bounds the pictures of one article.
const maxImages = 200

// render writes the blocks that were kept of the elements below root.
func render(d *Document, root *html.Node, o *outline, kept []int) (body, image string) {
	r := &rendering{base: d.Base, names: d.names, texts: map[*html.Node]bool{}, nodes: map[*html.Node]bool{}}
	for _, i := range kept {
		for _, t := range o.blocks[i].texts {
			r.texts[t] = true
			for p := t.Parent; p != nil && !r.nodes[p]; p = p.Parent {
				r.nodes[p] = true
			}
		}
	}
	images := 0
	r.pictures(root, 0, &images)
	r.node(root, false)
	return strings.TrimSpace(r.out.String()), r.image
}

// pictures keeps images that stand in the text, with the figure around them.
func (r *rendering) pictures(n *html.Node, depth int, images *int) {
	if depth > maxDepth || *images >= maxImages {
		return
	}
	if n.Type == html.ElementNode {
		if r.names.hints(n)&(hintJunk|hintHidden|hintComment) != 0 && !r.nodes[n] {
			return
		}
		if n.DataAtom == atom.Img && r.source(n) != "" {
			*images++
			for p := n; p != nil && !r.nodes[p]; p = p.Parent {
				r.nodes[p] = true
			}
			if r.image == "" {
				r.image = r.source(n)
			}
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.pictures(c, depth+1, images)
	}
}

// source is the address of a picture. Lazy pages keep it beside src.
func (r *rendering) source(n *html.Node) string {
	if w := attr(n, "width"); w == "1" || w == "0" { // counters
		return ""
	}
	for _, k := range []string{"data-src", "data-original", "data-lazy-src", "src"} {
		if v := attr(n, k); v != "" && !strings.HasPrefix(v, "data:") {
			if u := absolute(r.base, v); u != "" {
				return u
			}
		}
	}
	return ""
}

func (r *rendering) node(n *html.Node, inPara bool) {
	if r.depth++; r.depth > maxDepth {
		r.depth--
		return
	}
	defer func() { r.depth-- }()
	switch n.Type {
	case html.TextNode:
		if r.texts[n] {
			r.write(n.Data)
		}
		return
	case html.ElementNode, html.DocumentNode:
	default:
		return
	}
	if !r.nodes[n] && n.DataAtom != atom.Br {
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
		if src := r.source(n); src != "" {
			r.out.WriteString(`<img src="` + html.EscapeString(src) + `" alt="` + html.EscapeString(attr(n, "alt")) + `">`)
		}
		return
	case atom.A:
		if href := absolute(r.base, attr(n, "href")); href != "" {
			open, end = `<a href="`+html.EscapeString(href)+`" rel="nofollow noopener">`, "</a>"
		}
	case atom.P, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Li, atom.Blockquote, atom.Pre, atom.Figure, atom.Figcaption,
		atom.Table, atom.Thead, atom.Tbody, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Dl, atom.Dt, atom.Dd,
		atom.Strong, atom.B, atom.Em, atom.I, atom.Sub, atom.Sup, atom.Code, atom.Q, atom.Cite, atom.S, atom.U, atom.Small, atom.Mark, atom.Abbr:
		open, end = "<"+a.String()+">", "</"+a.String()+">"
	case atom.H1:
		open, end = "<h2>", "</h2>"
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Svg, atom.Math:
		return
	default:
		if !inPara && !inline(a) && r.holdsText(n) {
			open, end = "<p>", "</p>"
		}
	}
	r.out.WriteString(open)
	outer := r.pre
	r.pre = r.pre || n.DataAtom == atom.Pre
	para := inPara || open == "<p>" || inline(n.DataAtom)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		r.node(c, para)
	}
	r.pre = outer
	r.out.WriteString(end)
	if end != "" && !inline(n.DataAtom) {
		r.out.WriteByte('\n')
	}
}

// write adds text with white space squeezed, except where it is laid out by hand.
func (r *rendering) write(s string) {
	if !r.pre {
		var b strings.Builder
		if strings.HasSuffix(r.out.String(), "\n") || strings.HasSuffix(r.out.String(), " ") || strings.HasSuffix(r.out.String(), ">") && blank(s) {
			s = strings.TrimLeft(s, " \t\r\n")
		}
		squeeze(&b, s)
		s = b.String()
	}
	r.out.WriteString(html.EscapeString(s))
}

// holdsText says whether a division holds text of its own and no blocks, so that it is shown
// as a paragraph.
func (r *rendering) holdsText(n *html.Node) bool {
	text := false
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode && r.texts[c]:
			text = true
		case c.Type == html.ElementNode && !inline(c.DataAtom) && c.DataAtom != atom.Br && r.nodes[c]:
			return false
		case c.Type == html.ElementNode && r.nodes[c]:
			text = true
		}
	}
	return text
}
