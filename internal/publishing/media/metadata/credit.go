package metadata

import (
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Credit is the IPTC metadata about the creator and the rights of an image. IPTC Photo
// Metadata Standard 2023.2: Creator, Credit Line, Copyright Notice
type Credit struct {
	Creators  []string
	Line      string
	Copyright string

	sources [3]source // source of each of them
}

// source is where a value was found. IPTC-IIM takes precedence over XMP, and XMP over
// EXIF, as in the Metadata Working Group's guidelines.
type source int

const (
	sourceNone source = iota
	sourceEXIF
	sourceXMP
	sourceIPTC
)

const (
	maxCreators   = 10
	maxCreditText = 500 // characters
)

func (c *Credit) empty() bool {
	return len(c.Creators) == 0 && c.Line == "" && c.Copyright == ""
}

func (c *Credit) creators(from source, names ...string) {
	for _, name := range names {
		name = cleanCredit(name)
		if name == "" || from < c.sources[0] {
			continue
		}
		if from > c.sources[0] {
			c.Creators, c.sources[0] = nil, from
		}
		if len(c.Creators) < maxCreators {
			c.Creators = append(c.Creators, name)
		}
	}
}

func (c *Credit) line(from source, value string) {
	if value = cleanCredit(value); value != "" && from > c.sources[1] {
		c.Line, c.sources[1] = value, from
	}
}

func (c *Credit) copyright(from source, value string) {
	if value = cleanCredit(value); value != "" && from > c.sources[2] {
		c.Copyright, c.sources[2] = value, from
	}
}

// cleanCredit is one line of printable text of bounded length.
func cleanCredit(value string) string {
	value = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return -1
		}
		return r
	}, value)
	value = strings.Join(strings.Fields(value), " ")
	if runes := []rune(value); len(runes) > maxCreditText {
		value = string(runes[:maxCreditText])
	}
	return value
}

// text decodes text of an unknown encoding: UTF-8, else Latin 1.
func text(raw []byte) string {
	raw = bytes.TrimRight(raw, "\x00 ")
	if utf8.Valid(raw) {
		return string(raw)
	}
	runes := make([]rune, len(raw))
	for i, b := range raw {
		runes[i] = rune(b)
	}
	return string(runes)
}

// xmp is a packet with the credit only. ISO 16684-1
func (c *Credit) xmp() []byte {
	var b bytes.Buffer
	b.WriteString(`<?xpacket begin="` + "\uFEFF" +
		`" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">` +
		`<rdf:Description rdf:about="" xmlns:dc="` + nsDublinCore + `" xmlns:photoshop="` + nsPhotoshop + `">`)
	write := func(before, value, after string) {
		b.WriteString(before)
		_ = xml.EscapeText(&b, []byte(value)) // a Buffer never fails
		b.WriteString(after)
	}
	if len(c.Creators) > 0 {
		b.WriteString("<dc:creator><rdf:Seq>")
		for _, name := range c.Creators {
			write("<rdf:li>", name, "</rdf:li>")
		}
		b.WriteString("</rdf:Seq></dc:creator>")
	}
	if c.Line != "" {
		write("<photoshop:Credit>", c.Line, "</photoshop:Credit>")
	}
	if c.Copyright != "" {
		write(`<dc:rights><rdf:Alt><rdf:li xml:lang="x-default">`, c.Copyright, "</rdf:li></rdf:Alt></dc:rights>")
	}
	b.WriteString(`</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="r"?>`)
	return b.Bytes()
}

// photoshop is the body of an APP13 segment with the credit only. IPTC-IIM 4.2 limits
// fields in bytes; XMP has the whole text.
func (c *Credit) photoshop() []byte {
	iim := []byte("\x1C\x01\x5A\x00\x03\x1B%G") // 1:90, UTF-8
	add := func(dataset byte, value string, limit int) {
		for len(value) > limit {
			_, last := utf8.DecodeLastRuneInString(value)
			value = value[:len(value)-last]
		}
		iim = binary.BigEndian.AppendUint16(append(iim, 0x1C, 2, dataset), uint16(len(value))) //nolint:gosec // at most the limit
		iim = append(iim, value...)
	}
	for _, name := range c.Creators {
		add(iptcCreator, name, 32)
	}
	if c.Line != "" {
		add(iptcCredit, c.Line, 32)
	}
	if c.Copyright != "" {
		add(iptcCopyright, c.Copyright, 128)
	}
	out := append([]byte(photoshop), "8BIM\x04\x04\x00\x00"...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(iim))) //nolint:gosec // a few hundred bytes
	out = append(out, iim...)
	return append(out, make([]byte, len(iim)%2)...)
}
