package discover

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"dateline/internal/news/crawl/weburl"
)

// xmlReader reads XML as found on the web: malformed, with HTML in unexpected
// places, and with arbitrary prefixes. It is based on an HTML tokenizer, which
// accepts everything and expands no custom entities. It resolves namespaces (Namespaces in
// XML 1.0) and collects bases (XML Base).
type xmlReader struct {
	z        *html.Tokenizer
	open     []openElement
	spaces   []declaration // namespaces in scope, the innermost last
	bases    []declaration // xml:base in scope, the innermost last
	popEmpty bool          // the last element is empty, and ends before the next token
}

type openElement struct {
	name    string // full
	foreign bool   // see xmlReader.markForeign
}

// declaration is a namespace or base that an element declares.
type declaration struct {
	depth         int // of the element
	prefix, value string
}

// maxOpen bounds the depth of a document. Tags of HTML in a feed may lack their ends.
const maxOpen = 256

// element is a start tag.
type element struct {
	name      string // in lower case, without its prefix
	prefix    string
	space     string // the namespace, see namespace; empty: none
	attr      map[string]string
	empty     bool // <like-this/>
	isForeign bool // inside an element of a vocabulary that the parser does not know
}

func newXMLReader(doc []byte) *xmlReader {
	z := html.NewTokenizer(bytes.NewReader(doc))
	z.SetMaxBuf(8 << 20)
	z.AllowCDATA(true)
	return &xmlReader{z: z}
}

// token is the next start tag, end tag or text.
type token struct {
	start *element
	end   string // full name, see element.full
	text  string
	done  bool
}

func (m *xmlReader) next() token {
	if m.popEmpty {
		m.popEmpty = false
		m.pop(len(m.open) - 1)
	}
	for {
		switch m.z.Next() {
		case html.ErrorToken:
			return token{done: true}
		case html.TextToken:
			return token{text: string(m.z.Text())}
		case html.StartTagToken:
			return token{start: m.element(false)}
		case html.SelfClosingTagToken:
			return token{start: m.element(true)}
		case html.EndTagToken:
			name, _ := m.z.TagName()
			m.close(name)
			return token{end: string(name)}
		}
	}
}

func (m *xmlReader) element(empty bool) *element {
	// The HTML tokenizer would treat the content of title and other elements as
	// raw text.
	m.z.NextIsNotRawText()
	name, more := m.z.TagName()
	e := &element{name: string(name), empty: empty}
	full := e.name
	if prefix, local, ok := strings.Cut(e.name, ":"); ok {
		e.prefix, e.name = prefix, local
	}
	if len(m.open) > 0 {
		e.isForeign = m.open[len(m.open)-1].foreign
	}
	if len(m.open) < maxOpen {
		m.open, m.popEmpty = append(m.open, openElement{full, e.isForeign}), empty
	}
	if more {
		e.attr = attributes(m.z, more)
		m.declare(e.attr)
	}
	e.space = m.namespace(e.prefix)
	return e
}

// declare adds the namespaces and the base of the element that was just opened.
func (m *xmlReader) declare(attr map[string]string) {
	for key, value := range attr {
		switch {
		case key == "xml:base":
			m.bases = append(m.bases, declaration{depth: len(m.open), value: strings.TrimSpace(value)})
		case key == "xmlns":
			m.spaces = append(m.spaces, declaration{depth: len(m.open), value: normalizeNamespace(value)})
		case strings.HasPrefix(key, "xmlns:"):
			m.spaces = append(m.spaces, declaration{
				len(m.open), strings.TrimPrefix(key, "xmlns:"), normalizeNamespace(value),
			})
		}
	}
}

// close ends an element, and those in it that lack an end tag.
func (m *xmlReader) close(name []byte) {
	for i := len(m.open) - 1; i >= 0; i-- {
		if m.open[i].name == string(name) {
			m.pop(i)
			return
		}
	}
}

func (m *xmlReader) pop(depth int) {
	m.open = m.open[:depth]
	for len(m.spaces) > 0 && m.spaces[len(m.spaces)-1].depth > depth {
		m.spaces = m.spaces[:len(m.spaces)-1]
	}
	for len(m.bases) > 0 && m.bases[len(m.bases)-1].depth > depth {
		m.bases = m.bases[:len(m.bases)-1]
	}
}

// markForeign marks the elements inside of the one that was just opened.
func (m *xmlReader) markForeign() {
	if len(m.open) > 0 {
		m.open[len(m.open)-1].foreign = true
	}
}

// Namespaces, see normalizeNamespace.
const (
	atomSpace       = "www.w3.org/2005/atom"
	oldAtomSpace    = "purl.org/atom/ns" // Atom 0.3
	dublinCoreSpace = "purl.org/dc/elements/1.1"
	newsSpace       = "www.google.com/schemas/sitemap-news/0.9"
)

// normalizeNamespace returns a namespace without the parts in which feeds differ.
func normalizeNamespace(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	name = strings.TrimPrefix(strings.TrimPrefix(name, "https://"), "http://")
	return strings.TrimRight(name, "/#")
}

// namespace returns the namespace of a prefix. Many feeds do not declare the prefixes that
// they use: those stand for the namespaces that usually have them, or for one of their own.
func (m *xmlReader) namespace(prefix string) string {
	for i := len(m.spaces) - 1; i >= 0; i-- {
		if m.spaces[i].prefix == prefix {
			return m.spaces[i].value
		}
	}
	switch prefix {
	case "":
		return ""
	case "atom", "a10":
		return atomSpace
	case "dc":
		return dublinCoreSpace
	case "news":
		return newsSpace
	}
	return prefix + ":"
}

// base returns the base of the element that was just opened, in a document from a URL: the
// bases of the elements around it add up (XML Base, section 4.2; RFC 3986, section 5.1).
func (m *xmlReader) base(at weburl.URL) weburl.URL {
	for _, d := range m.bases {
		if u, err := at.Resolve(d.value, weburl.Rules{DropNothing: true}); err == nil && d.value != "" {
			at = u
		}
	}
	return at
}

func (e *element) full() string {
	if e.prefix == "" {
		return e.name
	}
	return e.prefix + ":" + e.name
}

// relations returns the relations of a link in lower case, without the prefix that names
// them as URIs (RFC 4287, section 4.2.7.2).
func (e *element) relations() []string {
	all := strings.Fields(strings.ToLower(e.attr["rel"]))
	for i, rel := range all {
		rel = strings.TrimPrefix(strings.TrimPrefix(rel, "https://"), "http://")
		all[i] = strings.TrimPrefix(rel, "www.iana.org/assignments/relation/")
	}
	return all
}

// isAlternate reports whether a link leads to what the entry or the feed describes. A link
// without a relation does.
func (e *element) isAlternate() bool {
	rel := e.relations()
	return len(rel) == 0 ||
		slices.Contains(rel, "alternate") && !slices.Contains(rel, "enclosure") && !slices.Contains(rel, "self")
}

// content returns the text of the element that was just opened, without the
// tags in it. An end tag of an enclosing element, named in stops, ends it, too.
func (m *xmlReader) content(of *element, stops ...string) (text string, stopped string) {
	if of.empty {
		return "", ""
	}
	var b strings.Builder
	for {
		t := m.next()
		switch {
		case t.done || t.end == of.full():
			return b.String(), ""
		case t.end != "":
			for _, stop := range stops {
				if t.end == stop {
					return b.String(), stop
				}
			}
		case b.Len() < maxField:
			b.WriteString(t.text[:min(len(t.text), maxField-b.Len())])
		}
	}
}

// stripTags returns text that may contain HTML without its tags.
func stripTags(text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(text), "<![CDATA["), "]]>")
	for range 2 { // some sites escape twice
		if !strings.ContainsAny(text, "<&") {
			break
		}
		z := html.NewTokenizer(strings.NewReader(text))
		var b strings.Builder
		for more := true; more; {
			switch z.Next() {
			case html.ErrorToken:
				more = false
			case html.TextToken:
				b.Write(z.Text())
			case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
				b.WriteByte(' ')
			}
		}
		text = b.String()
	}
	return cleanText(text)
}

// Limits for one tag.
const (
	maxAttributes = 64
	maxAttribute  = 16 << 10
)

// attributes returns a bounded number of a tag's attributes.
func attributes(z *html.Tokenizer, more bool) map[string]string {
	all := map[string]string{}
	for n := 0; more && n < maxAttributes; n++ {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, exists := all[string(key)]; !exists && len(value) <= maxAttribute {
			all[string(key)] = string(value)
		}
	}
	return all
}
