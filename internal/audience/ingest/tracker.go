package ingest

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"github.com/tdewolff/minify/v2"
	"github.com/tdewolff/minify/v2/js"
)

//go:embed tracker.js
var trackerSource []byte

// Tracker is the minified script that pages load.
type Tracker struct {
	plain, zipped []byte
	etag          string
}

// NewTracker minifies the script.
func NewTracker() (*Tracker, error) {
	m := minify.New()
	m.AddFunc("text/javascript", js.Minify)
	plain, err := m.Bytes("text/javascript", trackerSource)
	if err != nil {
		return nil, fmt.Errorf("minify the tracker: %w", err)
	}
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(plain); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(plain)
	return &Tracker{plain: plain, zipped: zipped.Bytes(), etag: `"` + hex.EncodeToString(sum[:8]) + `"`}, nil
}

// serve serves GET /v1/d.js.
func (t *Tracker) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=86400")
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", t.etag)
	h.Set("Access-Control-Allow-Origin", "*")
	if r.Header.Get("If-None-Match") == t.etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	body := t.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = t.zipped
	}
	_, _ = w.Write(body)
}
