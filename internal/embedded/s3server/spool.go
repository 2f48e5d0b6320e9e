package s3server

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"os"
	"strings"
)

// maxMemoryBody is the size up to which a body is verified in memory; larger ones are
// written to a file.
const maxMemoryBody = 256 << 10

// spool receives the whole body of an upload and verifies its length and hash before it calls next. gofakes3 does not
// verify the hash.
func spool(dir string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPut || r.ContentLength <= 0 {
			next.ServeHTTP(w, r)
			return
		}
		if streaming := r.Header.Get("X-Amz-Content-Sha256"); strings.HasPrefix(streaming, "STREAMING-") &&
			streaming != "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" {
			// gofakes3 would store the chunk framing as content.
			writeError(w, http.StatusNotImplemented, "NotImplemented", "unsupported payload encoding "+streaming)
			return
		}
		receive := toFile
		if r.ContentLength <= maxMemoryBody {
			receive = toMemory
		}
		body, sum, failure := receive(dir, r)
		if failure != nil {
			failure.write(w)
			return
		}
		defer func() { _ = body.Close() }()
		// The signature covers the header. For streams and unsigned bodies it contains a keyword instead of a hash.
		if hasBodyHash(r) && r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum) {
			writeError(w, http.StatusBadRequest, "XAmzContentSHA256Mismatch", "the body is not the one that was signed")
			return
		}
		r.Body = body
		next.ServeHTTP(w, r)
	})
}

// hasBodyHash reports whether a request contains the hash of its body.
func hasBodyHash(r *http.Request) bool {
	return len(r.Header.Get("X-Amz-Content-Sha256")) == 2*sha256.Size
}

// uploadError is the response to an upload that cannot be received.
type uploadError struct {
	status        int
	code, message string
}

func (e *uploadError) write(w http.ResponseWriter) { writeError(w, e.status, e.code, e.message) }

func incompleteBody() *uploadError {
	return &uploadError{http.StatusBadRequest, "IncompleteBody", "the upload ended early"}
}

func internalError(err error) *uploadError {
	if isDiskFull(err) {
		return &uploadError{http.StatusInsufficientStorage, string(codeDiskFull), "the disk of the server is full"}
	}
	return &uploadError{http.StatusInternalServerError, "InternalError", "the upload cannot be stored: " + err.Error()}
}

func toMemory(_ string, r *http.Request) (io.ReadCloser, []byte, *uploadError) {
	content := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, content); err != nil {
		return nil, nil, incompleteBody()
	}
	if !hasBodyHash(r) {
		return io.NopCloser(bytes.NewReader(content)), nil, nil
	}
	sum := sha256.Sum256(content)
	return io.NopCloser(bytes.NewReader(content)), sum[:], nil
}

// tempFile is a file that is removed when it is closed.
type tempFile struct{ *os.File }

func (f tempFile) Close() error {
	_ = os.Remove(f.Name())
	return f.File.Close()
}

func toFile(dir string, r *http.Request) (body io.ReadCloser, sum []byte, failure *uploadError) {
	file, err := os.CreateTemp(dir, "put-")
	if err != nil {
		return nil, nil, internalError(err)
	}
	f := tempFile{file}
	defer func() {
		if failure != nil {
			_ = f.Close()
		}
	}()
	hash := sha256.New()
	if n, err := io.Copy(io.MultiWriter(f, hash), r.Body); isDiskFull(err) {
		// A connection that is closed while the client still writes is reset, and the client
		// may lose the response with it (RFC 9112 section 9.6). Receiving the rest avoids that.
		_, _ = io.Copy(io.Discard, r.Body)
		return nil, nil, internalError(err)
	} else if err != nil || n != r.ContentLength {
		return nil, nil, incompleteBody()
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, nil, internalError(err)
	}
	return f, hash.Sum(nil), nil
}
