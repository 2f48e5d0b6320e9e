package discover

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Prose is the text of a page's headings and paragraphs, which shows whether an
// article changed. Menus, counters and scripts, which change all the time, are
// not part of it. The full text is extracted later by package extract.
type Prose struct {
	Title     string
	Text      string
	Canonical string // rel=canonical as written; empty: none
}

// ParseProse extracts the prose of a page in UTF-8.
func ParseProse(doc []byte) Prose {
	z := newTokenizer(doc, minSkippedScript)
	var p prose
	canonical := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return Prose{Title: p.title.String(), Text: p.body.String(), Canonical: canonical}
		case html.TextToken:
			if p.isCapturing() {
				p.into.Write(z.Text())
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			tag := atom.Lookup(name)
			if tag == atom.Link && canonical == "" {
				if a := readAttrs(z.Tokenizer, more); a.hasRelation("canonical") {
					canonical = strings.TrimSpace(a.href.value)
				}
			}
			p.start(tag)
			z.skipRawText(tag)
		case html.EndTagToken:
			name, _ := z.TagName()
			p.end(atom.Lookup(name))
		}
	}
}

// prose is the state of extracting prose.
type prose struct {
	title, body strings.Builder
	into        *strings.Builder // nil: outside of headings and paragraphs
	skip        int              // depth of elements that are not part of the text
}

func (p *prose) isCapturing() bool { return p.into != nil && p.skip == 0 }

func (p *prose) start(tag atom.Atom) {
	switch tag {
	case atom.P:
		p.into = &p.body
	case atom.H1:
		p.into = &p.title
	case atom.Script, atom.Style, atom.Noscript, atom.Nav, atom.Footer, atom.Aside, atom.Form:
		p.skip++
	}
}

func (p *prose) end(tag atom.Atom) {
	switch tag {
	case atom.P, atom.H1, atom.Div, atom.Article, atom.Section, atom.Td, atom.Li:
		if p.into != nil {
			p.into.WriteByte('\n')
		}
		p.into = nil
	case atom.Script, atom.Style, atom.Noscript, atom.Nav, atom.Footer, atom.Aside, atom.Form:
		p.skip = max(p.skip-1, 0)
	}
}
