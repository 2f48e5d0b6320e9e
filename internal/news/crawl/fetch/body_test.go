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

func TestFetch_ContentEncodings(t *testing.T) {
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
		{"gzip header, other content", "gzip", plain, OK},
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

func TestFetch_Charset(t *testing.T) {
	f, site := serve(t, Limits{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=windows-1252")
		_, _ = w.Write([]byte("Caf\xe9"))
	})
	if r := fetch(t, f, Request{URL: site}); string(r.Text) != "Café" || string(r.Body) != "Caf\xe9" ||
		r.Charset != "windows-1252" {
		t.Errorf("%q from %q in %s", r.Text, r.Body, r.Charset)
	}
}

func TestFetch_ContentTypes(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n0000"
	for _, c := range []struct {
		contentType, body string
		kind              Kind
		want              Outcome
	}{
		{"text/html", "<p>", KindPage, OK},
		{"application/xhtml+xml;charset=utf-8", "<p>", KindPage, OK},
		{"TEXT/HTML", "<p>", KindPage, OK},
		{"", "<!doctype html><p>", KindPage, OK},
		{"", png, KindPage, WrongType},
		{"text/html", png, KindPage, WrongType},
		{"application/pdf", "%PDF-1.7", KindPage, WrongType},
		{"image/png", png, KindPage, WrongType},
		{"application/json", "{}", KindPage, WrongType},
		{"application/rss+xml", "<rss/>", KindPage, WrongType},
		{"application/rss+xml", "<rss/>", KindFeed, OK},
		{"text/html", "<rss/>", KindFeed, OK},
		{"application/octet-stream", "<?xml version='1.0'?><rss/>", KindFeed, OK},
		{"image/png", png, KindFeed, WrongType},
		{"text/plain", "User-agent: *", KindRobots, OK},
		{"text/html", "<p>not found, they say", KindRobots, OK},
		{"image/gif", "GIF89a..", KindRobots, WrongType},
		{"application/gzip", string(gz("<urlset/>")), KindSitemap, OK},
		{"text/xml", string(gz(string(gz("<urlset/>")))), KindSitemap, OK},
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
		if c.kind == KindSitemap && string(r.Body) != "<urlset/>" {
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
