package s3server

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// verifier computes the expected signatures of requests. It caches the signing key of
// the current day, because every request is signed.
type verifier struct {
	accessKey, secretKey string

	mu    sync.Mutex
	scope string // of the cached key
	key   []byte
}

// signature returns the expected signature of a request; ok is false if the signature
// fields are invalid.
func (v *verifier) signature(r *http.Request, c signatureFields) (signature string, ok bool) {
	parts := strings.Split(c.scope, "/")
	if len(parts) != 4 || parts[3] != "aws4_request" || c.headers == "" {
		return "", false
	}
	if len(c.at) != len(amzTime) || c.at[:8] != parts[0] {
		return "", false
	}
	var b strings.Builder
	b.Grow(1024)
	path := r.URL.EscapedPath() // as sent: S3 does not escape it again
	if path == "" {
		path = "/"
	}
	b.WriteString(r.Method + "\n" + path + "\n" + c.query + "\n")
	host := false
	for name := range strings.SplitSeq(c.headers, ";") {
		host = host || name == "host"
		b.WriteString(name)
		b.WriteByte(':')
		writeHeader(&b, r, name)
		b.WriteByte('\n')
	}
	b.WriteString("\n" + c.headers + "\n" + c.payload)
	canonical := sha256.Sum256([]byte(b.String()))
	sum := mac(v.signingKey(c.scope, parts), algorithm+"\n"+c.at+"\n"+c.scope+"\n"+hex.EncodeToString(canonical[:]))
	return hex.EncodeToString(sum), host
}

// writeHeader writes the values of a header with repeated spaces collapsed.
func writeHeader(b *strings.Builder, r *http.Request, name string) {
	switch name {
	case "host":
		b.WriteString(r.Host)
		return
	case "content-length":
		b.WriteString(strconv.FormatInt(r.ContentLength, 10))
		return
	}
	for i, value := range r.Header.Values(name) {
		if i > 0 {
			b.WriteByte(',')
		}
		value = strings.TrimSpace(value)
		for strings.Contains(value, "  ") {
			value = strings.ReplaceAll(value, "  ", " ")
		}
		b.WriteString(value)
	}
}

func (v *verifier) signingKey(scope string, parts []string) []byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.scope != scope {
		key := []byte("AWS4" + v.secretKey)
		for _, part := range parts {
			key = mac(key, part)
		}
		v.scope, v.key = scope, key
	}
	return v.key
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = h.Write([]byte(text)) // hash.Hash never returns an error
	return h.Sum(nil)
}
