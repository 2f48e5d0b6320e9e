package s3server

import (
	"bytes"
	"errors"
	"net/http"
	"syscall"

	"github.com/johannesboyne/gofakes3"
)

// codeDiskFull is the error code for a full disk. S3 has none; like other servers, this
// one uses it with status 507, which clients do not retry.
const codeDiskFull gofakes3.ErrorCode = "InsufficientStorage"

// isDiskFull reports whether an error means that the disk or quota is full.
func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// diskError returns codeDiskFull if the disk is full, and err otherwise.
func diskError(err error) error {
	if isDiskFull(err) {
		return codeDiskFull
	}
	return err
}

// insufficientStorage changes the status of codeDiskFull to 507. gofakes3 uses 500 for
// all codes that it does not know.
func insufficientStorage(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut || r.Method == http.MethodPost {
			f := &statusWriter{ResponseWriter: w}
			defer f.flush()
			w = f
		}
		next.ServeHTTP(w, r)
	})
}

// statusWriter buffers responses with status 500 until their error code is known.
type statusWriter struct {
	http.ResponseWriter
	failed bool
	body   bytes.Buffer
}

func (w *statusWriter) WriteHeader(status int) {
	if w.failed = status == http.StatusInternalServerError; !w.failed {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if w.failed {
		return w.body.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

func (w *statusWriter) flush() {
	if !w.failed {
		return
	}
	status := http.StatusInternalServerError
	if bytes.Contains(w.body.Bytes(), []byte("<Code>"+codeDiskFull+"</Code>")) {
		status = http.StatusInsufficientStorage
	}
	w.ResponseWriter.WriteHeader(status)
	_, _ = w.ResponseWriter.Write(w.body.Bytes()) // the client may have disconnected
}
