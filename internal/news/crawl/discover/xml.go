package discover

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// xmlReader reads XML as found on the web: malformed, with HTML in unexpected
// places, and with arbitrary prefixes. It is based on an HTML tokenizer, which
// accepts everything and expands no custom entities.
type xmlReader struct {
	z *html.Tokenizer
}

// element is a start tag.
type element struct {
	name  string // in lower case, without its prefix
	space string // the prefix
	attr  map[string]string
	empty bool // <like-this/>
}

func newXMLReader(doc []byte) *xmlReader {
	z := html.NewTokenizer(bytes.NewReader(doc))
	z.SetMaxBuf(8 << 20)
	z.AllowCDATA(true)
	return &xmlReader{z}
}

// token is the next start tag, end tag or text.
type token struct {
	start *element
	end   string // full name, see element.full
	text  string
	done  bool
}

func (m *xmlReader) next() token {
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
	if space, local, ok := strings.Cut(e.name, ":"); ok {
		e.space, e.name = space, local
	}
	e.attr = attributes(m.z, more)
	return e
}

func (e *element) full() string {
	if e.space == "" {
		return e.name
	}
	return e.space + ":" + e.name
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
