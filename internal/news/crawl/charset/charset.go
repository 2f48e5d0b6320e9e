// Package charset decodes web documents to UTF-8. Servers and pages often
// declare a wrong encoding or none, so the evidence of the bytes takes
// precedence.
package charset

import (
	"bytes"
	"mime"
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/unicode/norm"
)

// prescanLimit is how far into a document a declaration of its encoding is
// searched. Browsers read 1,024 bytes, which many pages fill with scripts.
const prescanLimit = 16 << 10

var (
	metaCharset    = regexp.MustCompile(`(?i)<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([a-z0-9._:-]+)`)
	xmlEncoding    = regexp.MustCompile(`^\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9._:-]+)`)
	comment        = regexp.MustCompile(`(?s)<!--.*?-->`)
	vietnameseLang = regexp.MustCompile(`(?i)<html\b[^>]*\blang\s*=\s*["']?vi\b`)
)

// Decode returns the document in UTF-8 and its original encoding. contentType
// is the header of that name and may be empty. It never fails: invalid bytes
// become U+FFFD. The result may share memory with body.
func Decode(body []byte, contentType string) (text []byte, name string) {
	if text, name, ok := decodeBOM(body); ok {
		return text, name
	}
	header := ""
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		header = params["charset"]
	} else if _, after, ok := strings.Cut(strings.ToLower(contentType), "charset="); ok {
		header, _, _ = strings.Cut(strings.Trim(after, `"' `), ";")
	}
	// Text in another encoding is valid UTF-8 by chance only if it is all
	// ASCII, which decodes the same, or in a 7-bit or 16-bit encoding.
	if utf8.Valid(body) && bytes.IndexByte(body, 0) < 0 && bytes.IndexByte(body, 0x1b) < 0 {
		return body, "utf-8"
	}
	// Whatever header and document say: another encoding forms letters of UTF-8 only rarely.
	if isMostlyUTF8(body) {
		return bytes.ToValidUTF8(body, []byte("\uFFFD")), "utf-8"
	}
	for _, label := range []string{header, declared(body)} {
		if label == "" {
			continue
		}
		known, canonical := charset.Lookup(label)
		switch {
		case known == nil || canonical == "replacement" || canonical == "utf-8":
		case strings.HasPrefix(canonical, "utf-16") && bytes.IndexByte(body, 0) < 0:
			// The spaces and tags of a document in UTF-16 have zero bytes.
		default:
			return decode(body, known, canonical)
		}
	}
	switch {
	case vietnameseLang.Match(body[:min(len(body), prescanLimit)]):
		return decode(body, charmap.Windows1258, "windows-1258")
	default:
		return decode(body, charmap.Windows1252, "windows-1252")
	}
}

// decodeBOM decodes a document with a byte order mark (Encoding Standard §6,
// "BOM sniff").
func decodeBOM(body []byte) ([]byte, string, bool) {
	switch {
	case bytes.HasPrefix(body, []byte("\xEF\xBB\xBF")):
		return bytes.ToValidUTF8(body[3:], []byte("\uFFFD")), "utf-8", true
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		text, name := decode(body[2:], unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "utf-16be")
		return text, name, true
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		text, name := decode(body[2:], unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), "utf-16le")
		return text, name, true
	}
	return nil, "", false
}

func declared(body []byte) string {
	head := body[:min(len(body), prescanLimit)]
	if found := xmlEncoding.FindSubmatch(head); found != nil {
		return string(found[1])
	}
	if found := metaCharset.FindSubmatch(comment.ReplaceAll(head, nil)); found != nil {
		// A meta element that is readable as ASCII cannot be in UTF-16 (HTML
		// Standard, "prescan a byte stream").
		if label := strings.ToLower(string(found[1])); !strings.HasPrefix(label, "utf-16") {
			return label
		}
		return "utf-8"
	}
	return ""
}

// isMostlyUTF8 reports whether a document is UTF-8 with a few broken
// characters, such as a title truncated in the middle of a letter. What is left of a letter
// counts as one.
func isMostlyUTF8(body []byte) bool {
	valid, invalid := 0, 0
	for i := 0; i < len(body); {
		if body[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(body[i:])
		if r != utf8.RuneError || size > 1 {
			valid++
			i += size
			continue
		}
		invalid++
		i++
		if body[i-1] < 0xC2 {
			continue // begins no letter
		}
		for n := 1; n < 3 && i < len(body) && body[i]&0xC0 == 0x80; n++ {
			i++
		}
	}
	return valid > 0 && valid >= 2*invalid
}

func decode(body []byte, from encoding.Encoding, name string) ([]byte, string) {
	text, err := from.NewDecoder().Bytes(body)
	if err != nil {
		return bytes.ToValidUTF8(body, []byte("\uFFFD")), "utf-8"
	}
	if name == "windows-1258" {
		// It encodes tone marks as combining characters.
		text = norm.NFC.Bytes(text)
	}
	return bytes.ToValidUTF8(text, []byte("\uFFFD")), name
}
