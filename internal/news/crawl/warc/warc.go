// Package warc writes stored pages as WARC/1.1 files (ISO 28500:2017,
// https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/),
// with one gzip member per record, so that readers can start at any record.
//
// Pages are resource records, whose payload is exactly what is stored, each
// with a metadata record. A response record would need the original bytes of
// the HTTP response, which are not stored.
package warc

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Page is a stored page.
type Page struct {
	URL         string // requested
	FinalURL    string // that responded
	FetchedAt   time.Time
	Status      int
	Header      map[string][]string // stored response headers
	Kind        string
	Body        []byte
	ContentType string
}

// Writer writes a WARC file. It is not safe for concurrent use.
type Writer struct {
	out   io.Writer
	zip   *gzip.Writer
	info  string
	bytes int64
}

// NewWriter starts a file with its warcinfo record.
func NewWriter(out io.Writer, software, operator, description string, now time.Time) (*Writer, error) {
	w := &Writer{out: out, zip: gzip.NewWriter(io.Discard)}
	fields := fields{
		{"software", software},
		{"format", "WARC File Format 1.1"},
		{
			"conformsTo", "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
		},
		{"description", description},
	}
	if operator != "" {
		fields = append(fields, field{"operator", operator})
	}
	w.info = recordID()
	return w, w.record(header{
		{"WARC-Type", "warcinfo"},
		{"WARC-Record-ID", w.info},
		{"WARC-Date", date(now)},
		{"Content-Type", "application/warc-fields"},
	}, []byte(fields.String()))
}

// Bytes is the number of bytes written.
func (w *Writer) Bytes() int64 { return w.bytes }

// Page writes a page and its metadata.
func (w *Writer) Page(p Page) error {
	id := recordID()
	contentType := p.ContentType
	if contentType == "" {
		contentType = "application/octet-stream"
	}
	digest := Digest(p.Body)
	err := w.record(header{
		{"WARC-Type", "resource"},
		{"WARC-Record-ID", id},
		{"WARC-Warcinfo-ID", w.info},
		{"WARC-Date", date(p.FetchedAt)},
		{"WARC-Target-URI", p.FinalURL},
		{"WARC-Block-Digest", digest},
		{"WARC-Payload-Digest", digest},
		{"Content-Type", contentType},
	}, p.Body)
	if err != nil {
		return err
	}
	metadata := fields{{"requested-uri", p.URL}, {"http-status", strconv.Itoa(p.Status)}, {"kind", p.Kind}}
	names := make([]string, 0, len(p.Header))
	for name := range p.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range p.Header[name] {
			metadata = append(metadata, field{"http-header-" + strings.ToLower(name), value})
		}
	}
	return w.record(header{
		{"WARC-Type", "metadata"},
		{"WARC-Record-ID", recordID()},
		{"WARC-Warcinfo-ID", w.info},
		{"WARC-Date", date(p.FetchedAt)},
		{"WARC-Target-URI", p.FinalURL},
		{"WARC-Refers-To", id},
		{"Content-Type", "application/warc-fields"},
	},
		[]byte(metadata.String()))
}

// Digest is the digest of content in WARC's notation.
func Digest(body []byte) string {
	sum := sha256.Sum256(body)
	return "sha256:" + base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])
}

type field struct{ name, value string }

// fields has the format application/warc-fields, which is also that of record
// headers.
type fields []field

type header = fields

func (f fields) String() string {
	var b strings.Builder
	for _, f := range f {
		// A line break would start another field.
		fmt.Fprintf(&b, "%s: %s\r\n", f.name, strings.NewReplacer("\r", " ", "\n", " ").Replace(f.value))
	}
	return b.String()
}

// record writes a record as its own gzip member (§6 and annex D).
func (w *Writer) record(h header, block []byte) error {
	h = append(h, field{"Content-Length", strconv.Itoa(len(block))})
	var compressed bytes.Buffer
	w.zip.Reset(&compressed)
	for _, part := range [][]byte{[]byte("WARC/1.1\r\n" + h.String() + "\r\n"), block, []byte("\r\n\r\n")} {
		if _, err := w.zip.Write(part); err != nil {
			return err
		}
	}
	if err := w.zip.Close(); err != nil {
		return err
	}
	n, err := w.out.Write(compressed.Bytes())
	w.bytes += int64(n)
	return err
}

func recordID() string { return "<urn:uuid:" + uuid.NewString() + ">" }

func date(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000Z") }
