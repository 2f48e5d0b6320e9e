package call_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"dateline/platforms/call"
)

// A server that refuses an upload without reading it, and closes the connection: the
// refusal is the outcome, not the interrupted upload.
func TestDo_ReadsARefusalThatCutsAnUploadShort(t *testing.T) {
	const refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 9\r\nConnection: close\r\n\r\ntoo large"
	certified := httptest.NewTLSServer(http.NotFoundHandler())
	defer certified.Close()
	roots := x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	for _, scheme := range []string{"http", "https"} {
		t.Run(scheme, func(t *testing.T) {
			listener := listen(t)
			address := listener.Addr().String()
			if scheme == "https" {
				listener = tls.NewListener(listener, &tls.Config{Certificates: certified.TLS.Certificates})
			}
			serveOne(listener, func(conn net.Conn, _ *http.Request) { _, _ = io.WriteString(conn, refusal) })
			client, err := call.NewClient([]string{address})
			if err != nil {
				t.Fatal(err)
			}
			call.WithTLS(client, &tls.Config{RootCAs: roots})
			caller, upload := call.New(client), strings.Repeat("x", 2<<20)
			for range 200 {
				request := create(scheme + "://" + address)
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
		})
	}
}
