package api

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
)

// NewListener responds to oversized headers with a problem document. net/http writes
// plain text directly to the connection, before any handler (RFC 6585, section 5).
func NewListener(l net.Listener) net.Listener { return headerLimitListener{l} }

type headerLimitListener struct{ net.Listener }

func (l headerLimitListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return headerLimitConn{c}, nil
}

type headerLimitConn struct{ net.Conn }

func (c headerLimitConn) Write(p []byte) (int, error) {
	status := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: text/plain", http.StatusRequestHeaderFieldsTooLarge,
		http.StatusText(http.StatusRequestHeaderFieldsTooLarge))
	if !bytes.HasPrefix(p, []byte(status)) {
		return c.Conn.Write(p)
	}
	body := fmt.Sprintf(
		`{"type":"about:blank","title":%q,"status":%d,"code":"headers_too_large","detail":"The headers are larger than %d bytes."}`,
		http.StatusText(http.StatusRequestHeaderFieldsTooLarge),
		http.StatusRequestHeaderFieldsTooLarge,
		maxHeaderBytes,
	)
	_, err := fmt.Fprintf(c.Conn, "HTTP/1.1 %d %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\n"+
		"Connection: close\r\n\r\n%s",
		http.StatusRequestHeaderFieldsTooLarge, http.StatusText(http.StatusRequestHeaderFieldsTooLarge), len(body),
		body)
	return len(p), err
}

// CloseWrite lets the server finish a response while the client is still sending.
func (c headerLimitConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
