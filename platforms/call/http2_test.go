package call_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"dateline/platforms/call"
	"dateline/platforms/network"
)

// TestDo_HTTP2 expects the same classes over HTTP/2, which real instances use.
func TestDo_HTTP2(t *testing.T) {
	var calls atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if r.ProtoMajor != 2 {
			t.Errorf("spoke %s", r.Proto)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
		}
		panic(http.ErrAbortHandler) // resets the stream
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	caller := call.New(server.Client())

	request := create(server.URL)
	request.IdempotencyKey = "key"
	_, err := caller.Do(t.Context(), request)
	wantClass(t, err, network.Ambiguous)
	request = create(server.URL + "/hang")
	request.Timeout = 100 * time.Millisecond
	_, err = caller.Do(t.Context(), request)
	wantClass(t, err, network.Ambiguous)
	if calls.Load() != 2 {
		t.Errorf("sent %d times, want 2", calls.Load())
	}

	// An untrusted certificate: the handshake fails, nothing is sent.
	plain, err := call.NewClient([]string{server.Listener.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = call.New(plain).Do(t.Context(), create(server.URL))
	wantClass(t, err, network.NotSent)
}
