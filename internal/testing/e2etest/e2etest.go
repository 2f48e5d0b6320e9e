// Package e2etest contains helpers for tests that run the real program with real
// engines and send it HTTP requests.
package e2etest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Answer is a response.
type Answer struct {
	Status int
	Body   []byte
}

// Into decodes the response, unless out is nil.
func (a Answer) Into(out any) error {
	if out == nil {
		return nil
	}
	return json.Unmarshal(a.Body, out)
}

// Ask sends a request with an API token, and body as JSON unless it is nil.
func Ask(ctx context.Context, method, address, token string, body any) (Answer, error) {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return Answer{}, err
		}
		sent = bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, sent)
	if err != nil {
		return Answer{}, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return Do(request)
}

// Do sends a request and reads the complete response.
func Do(request *http.Request) (Answer, error) {
	answer, err := http.DefaultClient.Do(request) //nolint:gosec // tests ask their own servers
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	raw, err := io.ReadAll(answer.Body)
	return Answer{answer.StatusCode, raw}, err
}

// Works reports whether an address returns 200.
func Works(ctx context.Context, address string) bool {
	answer, err := Ask(ctx, http.MethodGet, address, "", nil)
	return err == nil && answer.Status == http.StatusOK
}

// pause is the polling interval of Eventually.
const pause = 50 * time.Millisecond

// Eventually polls until done returns true.
func Eventually(t testing.TB, within time.Duration, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(pause) {
		if done() {
			return
		}
	}
	t.Fatalf("%[2]s: timed out after %[1]s", within, what)
}

// IsDir reports whether a directory exists.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// FreePort finds a free port of this machine. It is below the range of ephemeral ports:
// outgoing connections of parallel tests could otherwise take the port before the
// program listens.
func FreePort(t testing.TB) string {
	t.Helper()
	const first, last = 10_000, 32_000
	var lc net.ListenConfig
	var err error
	for range 100 {
		port := strconv.Itoa(first + rand.IntN(last-first)) //nolint:gosec // needs no secrecy
		var l net.Listener
		if l, err = lc.Listen(t.Context(), "tcp", "127.0.0.1:"+port); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatalf("no free port: %v", err)
	return ""
}

// Must fails the test on errors that are not its subject.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Buffer collects the output of several goroutines.
type Buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write adds to it.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String returns the complete output.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Tail returns the last n bytes.
func (b *Buffer) Tail(n int) string {
	s := b.String()
	return s[max(len(s)-n, 0):]
}
