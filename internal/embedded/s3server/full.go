package s3server

import (
	"bytes"
	"errors"
	"net/http"
	"syscall"

	"github.com/johannesboyne/gofakes3"
)

// codeFull says that the disk is full. S3 itself has no code for it; other
// servers answer with the status 507, too, which clients do not retry.
const codeFull gofakes3.ErrorCode = "InsufficientStorage"

// isFull says whether an error of the disk is that it is full.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// orFull names the reason to the client if the disk is full.
func orFull(err error) error {
	if isFull(err) {
		return codeFull
	}
	return err
}

// fullStatus answers with the status 507 where the disk is full: gofakes3
// answers with 500 to every code that it does not know.
func fullStatus(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut || r.Method == http.MethodPost {
			f := &fullWriter{ResponseWriter: w}
			defer f.flush()
			w = f
		}
		next.ServeHTTP(w, r)
	})
}

// fullWriter holds an answer with the status 500 back until its body says why.
type fullWriter struct {
	http.ResponseWriter
	failed bool
	body   bytes.Buffer
}

func (w *fullWriter) WriteHeader(status int) {
	if w.failed = status == http.StatusInternalServerError; !w.failed {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *fullWriter) Write(p []byte) (int, error) {
	if w.failed {
		return w.body.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

func (w *fullWriter) flush() {
	if !w.failed {
		return
	}
	status := http.StatusInternalServerError
	if bytes.Contains(w.body.Bytes(), []byte("<Code>"+codeFull+"</Code>")) {
		status = http.StatusInsufficientStorage
	}
	w.ResponseWriter.WriteHeader(status)
	_, _ = w.ResponseWriter.Write(w.body.Bytes()) // the reader may be gone
}
