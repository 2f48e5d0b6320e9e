package pdf

import (
	"bytes"
	"strconv"
)

// The values of a PDF that are not Go's. A string is the span of its content.
type (
	name string
	ref  int // the number of an object
	dict map[string]any
)

// maxDepth limits how deep values are nested.
const maxDepth = 32

// parser reads values. ISO 32000-2, 7.3
type parser struct {
	text    []byte
	at      int
	strings []span // the contents of the strings that were read, in order
}

// span is a part of the text.
type span struct{ from, to int }

func (p *parser) rest() []byte { return p.text[p.at:] }

// skipSpace skips white space and comments.
func (p *parser) skipSpace() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case 0, '\t', '\n', '\f', '\r', ' ':
			p.at++
		case '%':
			end := bytes.IndexAny(p.rest(), "\r\n")
			if end < 0 {
				p.at = len(p.text)
				return
			}
			p.at += end
		default:
			return
		}
	}
}

// take skips a token after white space, if it is next.
func (p *parser) take(token string) bool {
	p.skipSpace()
	if !bytes.HasPrefix(p.rest(), []byte(token)) {
		return false
	}
	p.at += len(token)
	return true
}

// word reads the characters before a delimiter.
func (p *parser) word() string {
	end := bytes.IndexAny(p.rest(), "\x00\t\n\f\r ()<>[]{}/%")
	if end < 0 {
		end = len(p.rest())
	}
	p.at += end
	return string(p.text[p.at-end : p.at])
}

func (p *parser) integer() (int, bool) {
	p.skipSpace()
	n, err := strconv.Atoi(p.word())
	return n, err == nil
}

// value reads one value.
func (p *parser) value(depth int) (any, error) {
	p.skipSpace()
	switch {
	case p.at == len(p.text) || depth > maxDepth:
		return nil, ErrDamaged
	case p.take("<<"):
		return p.dict(depth)
	case p.take("<"):
		end := bytes.IndexByte(p.rest(), '>')
		if end < 0 {
			return nil, ErrDamaged
		}
		content := span{p.at, p.at + end}
		p.strings = append(p.strings, content)
		p.at += end + 1
		return content, nil
	case p.take("("):
		return p.literal()
	case p.take("["):
		return p.array(depth)
	case p.take("/"):
		return name(p.word()), nil
	}
	word := p.word()
	if word == "" {
		return nil, ErrDamaged
	}
	n, err := strconv.Atoi(word)
	if err != nil {
		return word, nil //nolint:nilerr // true, null, 1.5
	}
	// 12 0 R refers to an object.
	after := p.at
	if _, ok := p.integer(); ok {
		if p.skipSpace(); p.word() == "R" {
			return ref(n), nil
		}
	}
	p.at = after
	return n, nil
}

func (p *parser) dict(depth int) (any, error) {
	out := dict{}
	for !p.take(">>") {
		key, err := p.value(depth + 1)
		field, ok := key.(name)
		if err != nil || !ok {
			return nil, ErrDamaged
		}
		if out[string(field)], err = p.value(depth + 1); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (p *parser) array(depth int) (any, error) {
	list := []any{}
	for !p.take("]") {
		value, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	return list, nil
}

// literal reads a string in parentheses, after the first one.
func (p *parser) literal() (any, error) {
	start := p.at
	for open := 1; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '\\':
			p.at++
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				content := span{start, p.at}
				p.strings = append(p.strings, content)
				p.at++
				return content, nil
			}
		}
	}
	return nil, ErrDamaged
}
