package call_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"dateline/platforms/call"
)

// A server that refuses an upload without reading it, and closes the connection: the
// refusal counts, not the broken upload.
func TestDo_ReadsARefusalThatCutsAnUploadShort(t *testing.T) {
	const refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					_, _ = io.WriteString(conn, refusal)
				}
				_ = conn.Close()
			}()
		}
	}()
	address := listener.Addr().String()
	client, err := call.NewClient([]string{address})
	if err != nil {
		t.Fatal(err)
	}
	caller, upload := call.New(client), strings.Repeat("x", 2<<20)
	for range 200 {
		request := create("http://" + address)
		request.Body = &call.Body{
			Reader: strings.NewReader(upload), Length: int64(len(upload)), Type: "application/octet-stream",
		}
		res, err := caller.Do(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if res.Status != http.StatusRequestEntityTooLarge || string(res.Body) != "too large" {
			t.Fatalf("got %d %q, want the refusal", res.Status, res.Body)
		}
	}
}
