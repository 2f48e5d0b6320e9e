package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/unicode/norm"
)

// Reasons why a page has no article. They are wrapped with details; use errors.Is.
var (
	ErrTooLarge     = errors.New("the page is too large")
	ErrTooDeep      = errors.New("the page nests elements too deeply")
	ErrTooSlow      = errors.New("parsing the page timed out")
	ErrTooManyNodes = errors.New("the page has too many elements")
	ErrEncoding     = errors.New("the page has an unknown encoding")
	ErrNotHTML      = errors.New("the page is not HTML")
	ErrNoArticle    = errors.New("the page contains no article")
)

// Limits limits the cost of a page. The parser itself allows at most 512 open elements.
type Limits struct {
	MaxBytes int // of the raw page
	MaxNodes int // elements and text nodes
	Timeout  time.Duration
}

// DefaultLimits returns limits far above those of real pages.
func DefaultLimits() Limits {
	return Limits{MaxBytes: 8 << 20, MaxNodes: 400_000, Timeout: 10 * time.Second}
}

// Page is a fetched page.
type Page struct {
	HTML        []byte
	URL         string               // final URL, the base of relative URLs
	ContentType string               // response header; may be empty
	Header      textproto.MIMEHeader // response headers with reservations; may be nil
	Zone        *time.Location       // time zone of the site; default: that of its country
	Now         time.Time            // fetch time; needed for relative dates
	Marks       []Mark               // of editors, on the site
}

// Document is a parsed page. It is not safe for concurrent use.
type Document struct {
	Root *html.Node
	URL  *url.URL // of the page; never nil
	Base *url.URL // base of relative URLs; never nil
	Meta *Meta

	jsonLD   *jsonLD  // parsed on first use
	outline  *outline // built on first use
	names    *nameCache
	template *Template    // of the site; may be nil
	marks    *markIndex   // of editors; may be nil
	live     *live        // found on first use
	texts    []*html.Node // all text nodes in document order
	source   [][]byte     // the parts of the decoded page, if it has noscript elements

	// What was extracted, for Explain.
	body       Body
	bySelector bool      // body is of the selected elements
	static     *Document // without scripting, if the article is from there
}

// Parse decodes and parses a page within limits, and collects its metadata.
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
	parts := removeScripts(text)
	root, err := html.Parse(&contextReader{ctx: ctx, parts: parts})
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
	doc := &Document{
		Root: root, URL: base, Base: base, names: newNameCache(), texts: composeText(nil, root),
		marks: newMarkIndex(p.Marks),
	}
	if slices.ContainsFunc(parts, func(p []byte) bool { return bytes.Contains(p, []byte("<noscript")) }) {
		doc.source = parts
	}
	if err := doc.readMeta(lim.MaxNodes); err != nil {
		return nil, err
	}
	return doc, nil
}

// withoutScripting parses the page again as a browser without JavaScript does, which shows
// the content of noscript elements. Some forums have all of their text there. It returns
// nil if there are none.
func (d *Document) withoutScripting(ctx context.Context, lim Limits) *Document {
	if d.source == nil {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lim.Timeout, ErrTooSlow)
	defer cancel()
	source := &contextReader{ctx: ctx, parts: d.source}
	root, err := html.ParseWithOptions(source, html.ParseOptionEnableScripting(false))
	if err != nil {
		return nil
	}
	texts := composeText(nil, root)
	for n := range root.Descendants() {
		if n.DataAtom == atom.Noscript {
			n.DataAtom, n.Data = atom.Div, "div"
		}
	}
	out := &Document{
		Root: root, URL: d.URL, Base: d.URL, names: d.names, texts: texts, template: d.template, marks: d.marks,
	}
	if out.readMeta(lim.MaxNodes) != nil {
		return nil
	}
	return out
}

// composeText composes the text of a page (NFC, UAX #15): editors on macOS and Windows-1258
// leave letters decomposed, which networks and readers of articles count and compare
// otherwise. Values of attributes and scripts are composed when they are read as text,
// because their addresses must stay as they are. It appends the text nodes to a list.
func composeText(texts []*html.Node, n *html.Node) []*html.Node {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.TextNode {
			texts = composeText(texts, c)
			continue
		}
		if n.DataAtom != atom.Script && n.DataAtom != atom.Style {
			c.Data = compose(c.Data)
		}
		texts = append(texts, c)
	}
	return texts
}

// compose composes a text. All letters before U+0300, the first that combines with another, are composed.
func compose(s string) string {
	for i := range len(s) {
		if s[i] >= 0xCC { // the first byte of U+0300
			return norm.NFC.String(s)
		}
	}
	return s
}

// contextReader makes parsing cancelable: it fails when ctx ends.
type contextReader struct {
	ctx   context.Context //nolint:containedctx // the parser takes a reader and no context
	parts [][]byte
	at    int // position in the first part
}

func (r *contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	all := 0
	for len(r.parts) > 0 && all < len(b) {
		n := copy(b[all:], r.parts[0][r.at:])
		all += n
		if r.at += n; r.at == len(r.parts[0]) {
			r.parts, r.at = r.parts[1:], 0
		}
	}
	if all == 0 {
		return 0, io.EOF
	}
	return all, nil
}

// decode converts a page to UTF-8. Valid UTF-8 is accepted whatever the page declares:
// one in ten Vietnamese pages declares no encoding and has only ASCII in the first
// kilobyte, which is all that the sniffing of the HTML standard examines.
func decode(raw []byte, contentType string) ([]byte, error) {
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if bytes.IndexByte(raw[:min(len(raw), 1024)], 0) < 0 && utf8.Valid(raw) {
		return raw, nil
	}
	if t, _, err := mime.ParseMediaType(contentType); err == nil && contentType != "" &&
		!strings.Contains(t, "html") && !strings.Contains(t, "xml") && !strings.HasPrefix(t, "text/") {
		return nil, fmt.Errorf("%w: its content type is %s", ErrNotHTML, t)
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

// mostlyUTF8 distinguishes damaged UTF-8 from legacy encodings: nine in ten non-ASCII
// bytes belong to valid sequences.
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
