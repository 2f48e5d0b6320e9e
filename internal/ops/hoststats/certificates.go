package hoststats

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"
)

// Certificates looks when certificates end that are shown at some places. It is
// safe for concurrent use.
type Certificates struct {
	Places map[string]TLSEndpoint // by what they are called

	mu     sync.Mutex
	looked time.Time
	ends   map[string]time.Time
}

const (
	// certificatesLast is how long an answer is good for.
	certificatesLast = 10 * time.Minute
	// certificatePatience is how long all places together may take.
	certificatePatience = 3 * time.Second
)

// End says when each place's certificate ends. One that does not answer is left
// out.
func (c *Certificates) End(ctx context.Context) map[string]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ends != nil && time.Since(c.looked) < certificatesLast {
		return c.ends
	}
	ctx, cancel := context.WithTimeout(ctx, certificatePatience)
	defer cancel()
	type answer struct {
		place string
		end   time.Time
		ok    bool
	}
	answers := make(chan answer, len(c.Places))
	for name, place := range c.Places {
		go func() {
			end, ok := place.certificateEnd(ctx)
			answers <- answer{name, end, ok}
		}()
	}
	ends := map[string]time.Time{}
	for range c.Places {
		if a := <-answers; a.ok {
			ends[a.place] = a.end
		}
	}
	c.ends, c.looked = ends, time.Now()
	return ends
}

// certificateEnd asks for the certificate and hangs up. It trusts nobody with
// anything, so it need not check whose certificate it is: one that has ended, or
// that is not for this name, tells its end as well.
func (p TLSEndpoint) certificateEnd(ctx context.Context) (time.Time, bool) {
	host, _, err := net.SplitHostPort(p.Address)
	if err != nil {
		return time.Time{}, false
	}
	var dialer net.Dialer
	plain, err := dialer.DialContext(ctx, "tcp", p.Address)
	if err != nil {
		return time.Time{}, false
	}
	defer func() { _ = plain.Close() }()
	if until, ok := ctx.Deadline(); ok {
		_ = plain.SetDeadline(until)
	}
	if p.StartTLS && !agreesToTLS(plain) {
		return time.Time{}, false
	}
	secured := tls.Client(plain, &tls.Config{ServerName: host, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12, NextProtos: p.protocols}) //nolint:gosec // see above
	if err := secured.HandshakeContext(ctx); err != nil || len(secured.ConnectionState().PeerCertificates) == 0 {
		return time.Time{}, false
	}
	return secured.ConnectionState().PeerCertificates[0].NotAfter, true
}

// sslRequest asks a Postgres for TLS, which answers with one byte: S when it is
// willing (postgresql.org/docs/current/protocol-message-formats.html,
// "SSLRequest").
const sslRequest = "\x00\x00\x00\x08\x04\xd2\x16\x2f"

func agreesToTLS(c net.Conn) bool {
	if _, err := io.WriteString(c, sslRequest); err != nil {
		return false
	}
	var answer [1]byte
	_, err := io.ReadFull(c, answer[:])
	return err == nil && answer[0] == 'S'
}
