package call

import (
	"context"
	"net"
	"sync"
	"time"
)

// responseTime is how long a failed write waits for the response to be read. What the
// server sent before it closed the connection has arrived by then.
const responseTime = time.Second

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

// readEarlyResponses returns a dialer of connections on which a response is read although
// the request could not be sent completely.
func readEarlyResponses(dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &earlyResponseConn{Conn: conn, read: make(chan struct{})}, nil
	}
}

// earlyResponseConn reports a failed write only after everything was read. A server may
// refuse a request and close the connection while the body is still being sent (RFC 9112,
// 9.6). net/http then returns either the response or the error of the write, whichever it
// sees first (persistConn.roundTrip, Go 1.26): a refusal would look like a call whose
// outcome is unknown.
type earlyResponseConn struct {
	net.Conn
	once sync.Once
	read chan struct{} // closed when nothing more can be read
}

func (c *earlyResponseConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.end()
	}
	return n, err
}

func (c *earlyResponseConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		limit := time.NewTimer(responseTime)
		defer limit.Stop()
		select {
		case <-c.read:
		case <-limit.C:
		}
	}
	return n, err
}

func (c *earlyResponseConn) Close() error {
	c.end()
	return c.Conn.Close()
}

func (c *earlyResponseConn) end() { c.once.Do(func() { close(c.read) }) }
