package api

import (
	"compress/gzip"
	"net/http"

	"github.com/klauspost/compress/gzhttp"
)

// compressed compresses answers to GET requests for clients that accept gzip, if they are
// JSON, CSV or YAML of more than minCompressedSize bytes: a month of posts becomes a
// twentieth. Secrets are only in answers to other requests. The random length keeps an
// attacker who can see sizes from guessing at content
// (https://www.breachattack.com).
func compressed(h http.Handler) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(
		gzhttp.EnableZstd(false), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.MinSize(minCompressedSize),
		gzhttp.RandomJitter(64, 0, false),
		gzhttp.ContentTypes([]string{"application/json", "application/problem+json", "application/yaml", "text/csv"}))
	if err != nil {
		return nil, err
	}
	zipped := wrap(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			zipped.ServeHTTP(w, r)
			return
		}
		h.ServeHTTP(w, r)
	}), nil
}

// minCompressedSize is about what fits in one packet.
const minCompressedSize = 1400
