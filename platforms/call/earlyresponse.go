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

// keepResponses makes the connections of a dialer keep early responses.
func keepResponses(dial dialer) dialer {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &earlyResponse{Conn: conn, read: make(chan struct{})}, nil
	}
}

// earlyResponse is a connection that keeps an early response. A server may refuse a
// request and close the connection while the body is still being sent (RFC 9112, 9.6).
// net/http then returns either the response or the error of the write, whichever it sees
// first (net/http persistConn.roundTrip, Go 1.26): a refusal would look like a call that
// nobody knows the outcome of. So a failed write is reported when everything was read.
type earlyResponse struct {
	net.Conn
	once sync.Once
	read chan struct{} // closed when nothing more can be read
}

func (c *earlyResponse) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.end()
	}
	return n, err
}

func (c *earlyResponse) Write(p []byte) (int, error) {
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

func (c *earlyResponse) Close() error {
	c.end()
	return c.Conn.Close()
}

func (c *earlyResponse) end() { c.once.Do(func() { close(c.read) }) }
