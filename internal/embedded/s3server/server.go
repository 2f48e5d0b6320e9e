// Package s3server serves S3 from a directory, in this process, over gofakes3.
// It suits one machine and tests: listings read the whole bucket.
//
// An object that was answered for is on the disk, name and content: it survives
// the end of the process and a power cut. A crash in the middle of an upload
// leaves the old object or none, never a part of one.
package s3server

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"

	"github.com/johannesboyne/gofakes3"
)

// Options say what is served.
type Options struct {
	Dir       string // exists, and is this server's alone
	Bucket    string // created where it is missing
	AccessKey string
	SecretKey string
	Log       *slog.Logger // told of what takes long at the start; nil: nobody is
}

// New makes the handler. Requests must carry a signature, which gofakes3 itself
// does not check; uploads in parts are kept on disk, where gofakes3 itself would
// keep them in memory and lose them with the process.
func New(o Options) (http.Handler, error) {
	incoming := filepath.Join(o.Dir, "incoming")
	if err := errors.Join(os.RemoveAll(incoming), os.MkdirAll(incoming, 0o700)); err != nil {
		return nil, fmt.Errorf("prepare the S3 directory: %w", err)
	}
	store, err := newBackend(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the S3 directory: %w", err)
	}
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	moved, err := store.adopt(log)
	if err != nil {
		return nil, fmt.Errorf("move what an earlier version stored: %w", err)
	}
	if moved > 0 {
		log.Info("objects that an earlier version stored were moved", "objects", moved)
	}
	exists, err := store.BucketExists(o.Bucket)
	if err == nil && !exists {
		err = store.CreateBucket(o.Bucket)
	}
	if err != nil {
		return nil, fmt.Errorf("create the S3 bucket %s: %w", o.Bucket, err)
	}
	return crossOrigin(requireSignature(o.AccessKey, o.SecretKey, spool(incoming, fullStatus(gofakes3.New(store).Server())))), nil
}

// crossOrigin lets pages of any origin use presigned addresses: who has one may
// use it, and nothing else is let in. A preflight carries no signature, so it is
// answered before signatures are checked.
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
