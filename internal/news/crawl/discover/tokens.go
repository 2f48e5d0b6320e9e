package discover

import (
	"bytes"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// tokenizer reads the tags and texts of a page. Long scripts and style sheets, of
// which pages are full and which hold no links, are passed over, where the
// tokenizer would look at each of their letters.
type tokenizer struct {
	*html.Tokenizer
	doc        []byte
	rest       bytes.Reader // what the tokenizer has not read yet
	minSkipped int          // from which length on a script is passed over
}

// minSkippedScript is worth another tokenizer.
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

// skipRawText goes on at the end tag of the script or style sheet that has just begun,
// if it is long and simple: one that holds no "<!--" ends at the first end tag of
// its name (HTML Standard §13.2.5.4, §13.2.5.5 and their end tags).
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

// endTagIndex is where the end tag of a name begins; -1: there is none.
func endTagIndex(content []byte, name string) int {
	for from := 0; ; {
		i := bytes.Index(content[from:], []byte("</"))
		if i < 0 {
			return -1
		}
		from += i
		behind := from + len("</") + len(name)
		if behind >= len(content) {
			return -1
		}
		if bytes.EqualFold(content[from+len("</"):behind], []byte(name)) && bytes.IndexByte([]byte(" \n\r\t\f/>"), content[behind]) >= 0 {
			return from
		}
		from++
	}
}
