package discover

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tokenizer reads the tags and text of a page. It skips long scripts and style
// sheets, which contain no links and which html.Tokenizer would scan byte by
// byte.
type tokenizer struct {
	*html.Tokenizer
	doc        []byte
	rest       bytes.Reader // not read by the tokenizer yet
	minSkipped int          // minimum length of skipped scripts
}

// minSkippedScript is the length from which skipping pays for another
// html.Tokenizer.
const minSkippedScript = 1 << 10

func newTokenizer(doc []byte, long int) *tokenizer {
	t := &tokenizer{doc: doc, minSkipped: long}
	t.reset()
	return t
}

func (t *tokenizer) reset() {
	t.rest.Reset(t.doc)
	t.Tokenizer = html.NewTokenizer(&t.rest)
}

// skipRawText continues at the end tag of the script or style sheet that was
// just opened, if it is long and simple: without "<!--", it ends at the first
// end tag of its name (HTML Standard §13.2.5.4, §13.2.5.5 and their end tags).
func (t *tokenizer) skipRawText(tag atom.Atom) {
	if tag != atom.Script && tag != atom.Style {
		return
	}
	content := t.doc[len(t.doc)-t.rest.Len()-len(t.Buffered()):]
	end := endTagIndex(content, tag.String())
	if end < t.minSkipped || end > 0 && bytes.Contains(content[:end], []byte("<!--")) {
		return
	}
	t.doc = content[end:]
	t.reset()
}

// endTagIndex is the index of the end tag of a name; -1: there is none.
func endTagIndex(content []byte, name string) int {
	for from := 0; ; {
		i := bytes.Index(content[from:], []byte("</"))
		if i < 0 {
			return -1
		}
		from += i
		after := from + len("</") + len(name)
		if after >= len(content) {
			return -1
		}
		if bytes.EqualFold(content[from+len("</"):after], []byte(name)) &&
			bytes.IndexByte([]byte(" \n\r\t\f/>"), content[after]) >= 0 {
			return from
		}
		from++
	}
}
