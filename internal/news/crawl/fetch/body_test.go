package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"net/http"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

func TestEncodings(t *testing.T) {
	page := "<p>" + strings.Repeat("Giá vàng hôm nay. ", 200)
	pack := func(name string, text []byte) []byte {
		var b bytes.Buffer
		switch name {
		case "gzip", "x-gzip":
			z := gzip.NewWriter(&b)
			_, _ = z.Write(text)
			_ = z.Close()
		case "two members":
			for _, half := range [][]byte{text[:100], text[100:]} {
				z := gzip.NewWriter(&b)
				_, _ = z.Write(half)
				_ = z.Close()
			}
		case "br":
			z := brotli.NewWriter(&b)
			_, _ = z.Write(text)
			_ = z.Close()
		case "zstd":
			z, _ := zstd.NewWriter(&b)
			_, _ = z.Write(text)
			_ = z.Close()
		case "deflate":
			z := zlib.NewWriter(&b)
			_, _ = z.Write(text)
			_ = z.Close()
		case "raw deflate":
			z, _ := flate.NewWriter(&b, 6)
			_, _ = z.Write(text)
			_ = z.Close()
		default:
			b.Write(text)
		}
		return b.Bytes()
	}
	plain := []byte(page)
	for _, c := range []struct {
		name, header string
		body         []byte
		want         Outcome
	}{
		{"gzip", "gzip", pack("gzip", plain), OK},
		{"capitals", "GZip", pack("gzip", plain), OK},
		{"two members", "gzip", pack("two members", plain), OK},
		{"br", "br", pack("br", plain), OK},
		{"zstd", "zstd", pack("zstd", plain), OK},
		{"deflate", "deflate", pack("deflate", plain), OK},
		{"raw deflate", "deflate", pack("raw deflate", plain), OK},
		{"two layers", "gzip, br", pack("br", pack("gzip", plain)), OK},
		{"says gzip, is none", "gzip", plain, OK},
		{"identity", "identity", plain, OK},
		{"none", "", plain, OK},
		{"unknown", "compress", plain, WrongType},
		{"three layers", "gzip, gzip, gzip", pack("gzip", pack("gzip", pack("gzip", plain))), WrongType},
		{"broken", "gzip", pack("gzip", plain)[:80], WrongType},
		{"rubbish", "br", []byte(strings.Repeat("\xff", 500)), WrongType},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, site := serve(t, Limits{}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", c.header)
				w.Header().Set("Content-Type", "text/html")
				_, _ = w.Write(c.body)
			})
			r := fetch(t, f, Request{URL: site})
			if r.Outcome != c.want || r.Outcome == OK && (string(r.Text) != page || r.WireBytes != int64(len(c.body))) {
				t.Errorf("%s (%s), %d bytes from %d", r.Outcome, r.Reason, len(r.Text), r.WireBytes)
			}
		})
	}
}

func TestCharset(t *testing.T) {
	f, site := serve(t, Limits{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=windows-1252")
		_, _ = w.Write([]byte("Caf\xe9"))
	})
	if r := fetch(t, f, Request{URL: site}); string(r.Text) != "Café" || string(r.Body) != "Caf\xe9" || r.Charset != "windows-1252" {
		t.Errorf("%q from %q in %s", r.Text, r.Body, r.Charset)
	}
}

func TestContentTypes(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n0000"
	for _, c := range []struct {
		contentType, body string
		kind              Kind
		want              Outcome
	}{
		{"text/html", "<p>", Page, OK},
		{"application/xhtml+xml;charset=utf-8", "<p>", Page, OK},
		{"TEXT/HTML", "<p>", Page, OK},
		{"", "<!doctype html><p>", Page, OK},
		{"", png, Page, WrongType},
		{"text/html", png, Page, WrongType},
		{"application/pdf", "%PDF-1.7", Page, WrongType},
		{"image/png", png, Page, WrongType},
		{"application/json", "{}", Page, WrongType},
		{"application/rss+xml", "<rss/>", Page, WrongType},
		{"application/rss+xml", "<rss/>", Feed, OK},
		{"text/html", "<rss/>", Feed, OK},
		{"application/octet-stream", "<?xml version='1.0'?><rss/>", Feed, OK},
		{"image/png", png, Feed, WrongType},
		{"text/plain", "User-agent: *", Robots, OK},
		{"text/html", "<p>not found, they say", Robots, OK},
		{"image/gif", "GIF89a..", Robots, WrongType},
		{"application/gzip", string(gz("<urlset/>")), Sitemap, OK},
		{"text/xml", string(gz(string(gz("<urlset/>")))), Sitemap, OK},
	} {
		f, site := serve(t, Limits{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			if c.contentType != "" {
				w.Header().Set("Content-Type", c.contentType)
			}
			_, _ = w.Write([]byte(c.body))
		})
		r := fetch(t, f, Request{URL: site, Kind: c.kind})
		if r.Outcome != c.want {
			t.Errorf("%q %.10q as %s: %s (%s)", c.contentType, c.body, c.kind, r.Outcome, r.Reason)
		}
		if c.kind == Sitemap && string(r.Body) != "<urlset/>" {
			t.Errorf("%q: got %q", c.contentType, r.Body)
		}
	}
}

func gz(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.Bytes()
}
