// Package s3server is an S3 server that stores objects in a local directory, based on
// gofakes3. It is made for a single machine and for tests: listings read the whole
// bucket.
//
// Writes are durable: when a request succeeds, the object has been synced to disk and
// survives a crash or a power failure. A crash during an upload leaves the previous
// object or none, never a partial one.
package s3server

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/johannesboyne/gofakes3"
)

// Options configure the server.
type Options struct {
	Dir       string // must exist and not be used by anything else
	Bucket    string // created if it does not exist
	AccessKey string
	SecretKey string
}

// New returns the handler of the server. Unlike plain gofakes3, it verifies signatures
// and stores multipart uploads on disk instead of in memory.
func New(o Options) (http.Handler, error) {
	incoming := filepath.Join(o.Dir, "incoming")
	if err := errors.Join(os.RemoveAll(incoming), os.MkdirAll(incoming, 0o700)); err != nil {
		return nil, fmt.Errorf("preparing the S3 directory: %w", err)
	}
	store, err := newBackend(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the S3 directory: %w", err)
	}
	exists, err := store.BucketExists(o.Bucket)
	if err == nil && !exists {
		err = store.CreateBucket(o.Bucket)
	}
	if err != nil {
		return nil, fmt.Errorf("creating the S3 bucket %s: %w", o.Bucket, err)
	}
	return crossOrigin(requireSignature(o.AccessKey, o.SecretKey,
		spool(incoming, insufficientStorage(gofakes3.New(store).Server())))), nil
}

// crossOrigin allows all origins, because every request needs a signature. Preflight
// requests have no signature, so they are handled before the verification.
// https://fetch.spec.whatwg.org/#http-cors-protocol
func crossOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", "*")
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			h.Set("Access-Control-Allow-Methods", "GET, HEAD, PUT")
			h.Set("Access-Control-Allow-Headers", "*")
			h.Set("Access-Control-Max-Age", "3600")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.Set("Access-Control-Expose-Headers", "ETag, Content-Range, Accept-Ranges")
		next.ServeHTTP(w, r)
	})
}
