package s3server

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/spf13/afero"
)

// spool receives an upload into a file and checks its length and hash before gofakes3 sees it. gofakes3 itself would
// write what arrives over the old object, hold its only lock at the pace of the client, and not check the hash.
func spool(dir string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut || r.ContentLength <= 0 {
			next.ServeHTTP(w, r)
			return
		}
		if streaming := r.Header.Get("X-Amz-Content-Sha256"); strings.HasPrefix(streaming, "STREAMING-") && streaming != "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" {
			// gofakes3 would store the framing of these as if it were content.
			writeError(w, http.StatusNotImplemented, "NotImplemented", "this server does not understand "+streaming)
			return
		}
		f, err := os.CreateTemp(dir, "put-")
		if err != nil {
			writeError(w, http.StatusInternalServerError, "InternalError", "the upload cannot be kept: "+err.Error())
			return
		}
		defer os.Remove(f.Name())
		defer f.Close()
		hash := sha256.New()
		if n, err := io.Copy(io.MultiWriter(f, hash), r.Body); err != nil || n != r.ContentLength {
			writeError(w, http.StatusBadRequest, "IncompleteBody", "the upload ended early")
			return
		}
		// The header is part of what is signed. It holds a word in place of a hash for streams, and for unsigned bodies.
		if want := r.Header.Get("X-Amz-Content-Sha256"); len(want) == 64 && want != hex.EncodeToString(hash.Sum(nil)) {
			writeError(w, http.StatusBadRequest, "XAmzContentSHA256Mismatch", "the body is not the one that was signed")
			return
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			writeError(w, http.StatusInternalServerError, "InternalError", "the upload cannot be read: "+err.Error())
			return
		}
		r.Body = f
		next.ServeHTTP(w, r)
	})
}

// atomicFs writes every file aside and renames it when it is whole, so that a crash leaves the old object or the new
// one, never half of one.
type atomicFs struct{ afero.Fs }

func (fs atomicFs) Create(name string) (afero.File, error) {
	return fs.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

func (fs atomicFs) OpenFile(name string, flag int, perm os.FileMode) (afero.File, error) {
	if flag&os.O_TRUNC == 0 {
		return fs.Fs.OpenFile(name, flag, perm)
	}
	if info, err := fs.Stat(name); err == nil && info.IsDir() {
		return nil, &os.PathError{Op: "create", Path: name, Err: os.ErrExist}
	}
	f, err := afero.TempFile(fs.Fs, "incoming", "object-")
	if err != nil {
		return nil, err
	}
	return &atomicFile{File: f, fs: fs.Fs, final: name}, nil
}

type atomicFile struct {
	afero.File
	fs     afero.Fs
	final  string
	failed bool
	closed bool
}

func (f *atomicFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.failed = f.failed || err != nil
	return n, err
}

func (f *atomicFile) Close() error {
	if f.closed {
		return os.ErrClosed
	}
	f.closed = true
	temporary := f.Name()
	err := f.Sync()
	if closeErr := f.File.Close(); err == nil {
		err = closeErr
	}
	if err != nil || f.failed {
		_ = f.fs.Remove(temporary)
		return err
	}
	return f.fs.Rename(temporary, f.final)
}
