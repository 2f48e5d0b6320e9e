package call_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dateline/platforms/call"
)

// Servers that close a connection after a response without "Connection: close", at once
// or when it has been idle for a moment.
func TestDo_CreatesOnAConnectionOfItsOwn(t *testing.T) {
	for name, row := range map[string]struct {
		idle  time.Duration // until the server closes a connection
		pause time.Duration // between a read and the creating call
	}{
		"closed after each response":  {0, 0},
		"closed a moment later":       {time.Millisecond, time.Millisecond},
		"closed when idle for longer": {5 * time.Millisecond, 5 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, created := serveClosing(t, row.idle)
			client, err := call.NewClient([]string{address})
			if err != nil {
				t.Fatal(err)
			}
			caller := call.New(client)
			for range 100 {
				// A read may break: it is repeated.
				_, _ = caller.Do(t.Context(), call.Request{Method: http.MethodGet, URL: "http://" + address})
				time.Sleep(row.pause)
				if _, err := caller.Do(t.Context(), create("http://"+address)); err != nil {
					t.Fatalf("a creating call: %v, want a response", err)
				}
			}
			if n := created.Load(); n != 100 {
				t.Errorf("the server got %d creating calls, want 100", n)
			}
		})
	}
}

// serveClosing serves HTTP/1.1 and closes connections without saying so.
func serveClosing(t *testing.T, idle time.Duration) (address string, created *atomic.Int32) {
	t.Helper()
	created = &atomic.Int32{}
	listener := listen(t)
	serveOne(listener, func(conn net.Conn, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodPost {
			created.Add(1)
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		time.Sleep(idle)
	})
	return listener.Addr().String(), created
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// serveOne passes one request of each connection to a function, and closes the connection.
func serveOne(listener net.Listener, answer func(conn net.Conn, r *http.Request)) {
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					answer(conn, r)
				}
			}()
		}
	}()
}

func TestMultipart_NamesAreQuotedAsBrowsersDo(t *testing.T) {
	for name, want := range map[string]string{
		`chợ "nổi".png`:      `filename="chợ %22nổi%22.png"`,
		"a\r\nb.png":         `filename="a%0D%0Ab.png"`,
		`C:\ảnh\chợ.png`:     `filename="C:\ảnh\chợ.png"`,
		"50%.png":            `filename="50%.png"`,
		"a; filename=b.png":  `filename="a; filename=b.png"`,
		"chợ nổi 'sáng'.png": `filename="chợ nổi 'sáng'.png"`,
	} {
		body, err := call.Multipart(map[string]string{"a\"b": "c"}, call.File{
			Field: "file", Name: name, Type: "image/png", Data: io.NopCloser(strings.NewReader("x")),
		})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(body.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(raw); !strings.Contains(got, want+"\r\n") || !strings.Contains(got, `name="a%22b"`) {
			t.Errorf("%q: got %q, want %s", name, got, want)
		}
	}
}
