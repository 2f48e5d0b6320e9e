package warc_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/textproto"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/news/crawl/warc"
)

type record struct {
	header textproto.MIMEHeader
	block  []byte
}

// read reads a file member by member, as the format specifies.
func read(t *testing.T, file []byte) (all []record) {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(file))
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	for {
		z.Multistream(false)
		member, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		r := textproto.NewReader(bufio.NewReader(bytes.NewReader(member)))
		if version, err := r.ReadLine(); err != nil || version != "WARC/1.1" {
			t.Fatalf("it begins with %q, %v", version, err)
		}
		header, err := r.ReadMIMEHeader()
		if err != nil {
			t.Fatal(err)
		}
		rest, err := io.ReadAll(r.R)
		if err != nil {
			t.Fatal(err)
		}
		length, err := strconv.Atoi(header.Get("Content-Length"))
		if err != nil || len(rest) != length+4 || string(rest[length:]) != "\r\n\r\n" {
			t.Fatalf("%d bytes follow a length of %d, %v", len(rest), length, err)
		}
		all = append(all, record{header, rest[:length]})
		if err := z.Reset(in); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestWriter_Records(t *testing.T) {
	var out bytes.Buffer
	at := time.Date(2026, 11, 21, 10, 0, 0, 5000, time.UTC)
	w, err := warc.NewWriter(&out, "Dateline", "https://dateline.example/bot", "pages of news.example", at)
	if err != nil {
		t.Fatal(err)
	}
	body := []byte("<html>Xin chào\r\n\r\nWARC/1.1</html>")
	page := warc.Page{
		URL: "https://news.example/a", FinalURL: "https://news.example/b", FetchedAt: at, Status: 200,
		Kind: "article", Body: body, ContentType: "text/html",
		Header: map[string][]string{"Etag": {`"x"`}, "Link": {"evil\r\nWARC-Type: response"}},
	}
	for range 2 {
		if err := w.Page(page); err != nil {
			t.Fatal(err)
		}
	}
	if w.Bytes() != int64(out.Len()) {
		t.Errorf("%d bytes reported, %d written", w.Bytes(), out.Len())
	}
	all := read(t, out.Bytes())
	var types []string
	ids := map[string]bool{}
	for _, r := range all {
		types = append(types, r.header.Get("WARC-Type"))
		ids[r.header.Get("WARC-Record-ID")] = true
	}
	if strings.Join(types, " ") != "warcinfo resource metadata resource metadata" || len(ids) != 5 {
		t.Fatalf("%v with %d ids", types, len(ids))
	}
	got := all[1]
	require.Equal(t, body, got.block)
	require.Equal(t, page.FinalURL, got.header.Get("WARC-Target-URI"))
	require.Equal(t, "2026-11-21T10:00:00.000005Z", got.header.Get("WARC-Date"))
	require.Equal(t, warc.Digest(body), got.header.Get("WARC-Payload-Digest"))
	require.Equal(t, all[0].header.Get("WARC-Record-ID"), got.header.Get("WARC-Warcinfo-ID"))
	known := string(all[2].block)
	if all[2].header.Get("WARC-Refers-To") != got.header.Get("WARC-Record-ID") ||
		!strings.Contains(known, "requested-uri: https://news.example/a\r\n") ||
		!strings.Contains(known, "http-header-etag: \"x\"\r\n") || strings.Contains(known, "\r\nWARC-Type") {
		t.Errorf("%s", known)
	}
	if !strings.Contains(string(all[0].block), "operator: https://dateline.example/bot\r\n") {
		t.Errorf("%s", all[0].block)
	}
}
