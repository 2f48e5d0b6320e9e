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

// inMemory is how long an upload may be that is checked in memory. Longer ones go
// through a file.
const inMemory = 256 << 10

// spool receives an upload and checks its length and hash before gofakes3 sees it, which would write what arrives at
// the pace of the client, and not check the hash.
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
		receive := toFile
		if r.ContentLength <= inMemory {
			receive = toMemory
		}
		body, sum, refusal := receive(dir, r)
		if refusal != nil {
			refusal.write(w)
			return
		}
		defer func() { _ = body.Close() }()
		// The header is part of what is signed. It holds a word in place of a hash for streams, and for unsigned bodies.
		if hashes(r) && r.Header.Get("X-Amz-Content-Sha256") != hex.EncodeToString(sum) {
			writeError(w, http.StatusBadRequest, "XAmzContentSHA256Mismatch", "the body is not the one that was signed")
			return
		}
		r.Body = body
		next.ServeHTTP(w, r)
	})
}

// hashes says whether a request tells the hash of its body.
func hashes(r *http.Request) bool { return len(r.Header.Get("X-Amz-Content-Sha256")) == 2*sha256.Size }

// refusal is an answer to an upload that cannot be received.
type refusal struct {
	status        int
	code, message string
}

func (r *refusal) write(w http.ResponseWriter) { writeError(w, r.status, r.code, r.message) }

func broken() *refusal {
	return &refusal{http.StatusBadRequest, "IncompleteBody", "the upload ended early"}
}

func ours(err error) *refusal {
	if isFull(err) {
		return &refusal{http.StatusInsufficientStorage, string(codeFull), "the disk of this server is full"}
	}
	return &refusal{http.StatusInternalServerError, "InternalError", "the upload cannot be kept: " + err.Error()}
}

func toMemory(_ string, r *http.Request) (io.ReadCloser, []byte, *refusal) {
	content := make([]byte, r.ContentLength)
	if _, err := io.ReadFull(r.Body, content); err != nil {
		return nil, nil, broken()
	}
	if !hashes(r) {
		return io.NopCloser(bytes.NewReader(content)), nil, nil
	}
	sum := sha256.Sum256(content)
	return io.NopCloser(bytes.NewReader(content)), sum[:], nil
}

// spooled is a file that goes when it is closed.
type spooled struct{ *os.File }

func (f spooled) Close() error {
	_ = os.Remove(f.Name())
	return f.File.Close()
}

func toFile(dir string, r *http.Request) (body io.ReadCloser, sum []byte, problem *refusal) {
	file, err := os.CreateTemp(dir, "put-")
	if err != nil {
		return nil, nil, ours(err)
	}
	f := spooled{file}
	defer func() {
		if problem != nil {
			_ = f.Close()
		}
	}()
	hash := sha256.New()
	if n, err := io.Copy(io.MultiWriter(f, hash), r.Body); isFull(err) {
		return nil, nil, ours(err)
	} else if err != nil || n != r.ContentLength {
		return nil, nil, broken()
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, nil, ours(err)
	}
	return f, hash.Sum(nil), nil
}
