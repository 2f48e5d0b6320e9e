package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/htmlindex"
)

// Reasons why a page gave no article. They are wrapped with particulars; use errors.Is.
var (
	ErrTooLarge     = errors.New("the page is bigger than the limit")
	ErrTooDeep      = errors.New("the page nests elements deeper than the limit")
	ErrTooSlow      = errors.New("the page takes longer to parse than the limit")
	ErrTooManyNodes = errors.New("the page has more elements than the limit")
	ErrEncoding     = errors.New("the page is in an encoding that is not known")
	ErrNotHTML      = errors.New("the page is not HTML")
	ErrNoArticle    = errors.New("the page has no text that reads like an article")
)

// Limits bound what one page may cost. The parser itself refuses more than 512 open elements.
type Limits struct {
	MaxBytes int // of the page as it came
	MaxNodes int // elements and texts
	Timeout  time.Duration
}

// DefaultLimits hold for every real page that was seen, many times over.
func DefaultLimits() Limits {
	return Limits{MaxBytes: 8 << 20, MaxNodes: 400_000, Timeout: 10 * time.Second}
}

// Page is a page as it was fetched.
type Page struct {
	HTML        []byte
	URL         string         // where it was found; relative addresses are resolved against it
	ContentType string         // the server's header, may be empty
	Zone        *time.Location // of the site where it is known; else that of its country
	Now         time.Time      // when it was fetched; "an hour ago" is read only where it is set
}

// Document is a parsed page. It is read by one goroutine at a time.
type Document struct {
	Root *html.Node
	URL  *url.URL // where the page was found; never nil
	Base *url.URL // what its addresses are relative to; never nil
	Meta *Meta

	jsonLD    *jsonLD // read once
	hintCache hintCache
}

// Parse decodes and parses a page within limits. It reads the page's metadata on the way.
func Parse(ctx context.Context, p Page, lim Limits) (*Document, error) {
	if len(p.HTML) > lim.MaxBytes {
		return nil, fmt.Errorf("%w: %d of %d bytes", ErrTooLarge, len(p.HTML), lim.MaxBytes)
	}
	text, err := decode(p.HTML, p.ContentType)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lim.Timeout, ErrTooSlow)
	defer cancel()
	root, err := html.Parse(&contextReader{ctx: ctx, data: removeScripts(text)})
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("parse the page: %w", context.Cause(ctx))
		}
		return nil, fmt.Errorf("%w: %w", ErrTooDeep, err)
	}
	base, err := url.Parse(p.URL)
	if err != nil {
		base = &url.URL{}
	}
	doc := &Document{Root: root, URL: base, Base: base, hintCache: hintCache{}}
	if err := doc.readMeta(lim.MaxNodes); err != nil {
		return nil, err
	}
	return doc, nil
}

// contextReader hands the page to the parser in pieces, so that a canceled context ends the parsing
// of a page that takes long.
type contextReader struct {
	ctx  context.Context //nolint:containedctx // the parser takes a reader and no context
	data []byte
}

func (r *contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if len(r.data) == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.data)
	r.data = r.data[n:]
	return n, nil
}

// decode makes UTF-8 of a page. A page that is valid UTF-8 as a whole is UTF-8, whatever it
// says: one in ten Vietnamese pages names no encoding and has no letter beyond ASCII in the
// first kilobyte, which is all that the HTML standard's sniffing looks at.
func decode(raw []byte, contentType string) ([]byte, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(raw[:min(len(raw), 1024)], 0) < 0 && utf8.Valid(raw) {
		return raw, nil
	}
	if t, _, err := mime.ParseMediaType(contentType); err == nil && contentType != "" &&
		!strings.Contains(t, "html") && !strings.Contains(t, "xml") && !strings.HasPrefix(t, "text/") {
		return nil, fmt.Errorf("%w: it is served as %s", ErrNotHTML, t)
	}
	enc, name, certain := charset.DetermineEncoding(raw, contentType)
	if name == "utf-8" || !certain && mostlyUTF8(raw) {
		return bytes.ToValidUTF8(raw, []byte("\uFFFD")), nil
	}
	if enc == nil {
		return nil, ErrEncoding
	}
	if _, err := htmlindex.Get(name); err != nil {
		return nil, fmt.Errorf("%w: %s", ErrEncoding, name)
	}
	out, err := enc.NewDecoder().Bytes(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return out, nil
}

// mostlyUTF8 tells a damaged UTF-8 page from one in an old encoding: of the bytes above
// ASCII, nine in ten belong to valid sequences.
func mostlyUTF8(raw []byte) bool {
	good, bad := 0, 0
	for i := 0; i < len(raw); {
		if raw[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			bad++
		} else {
			good += n
		}
		i += n
	}
	return good > 9*bad
}
