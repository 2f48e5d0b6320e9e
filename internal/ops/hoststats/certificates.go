package hoststats

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"sync"
	"time"
)

// Certificates reads the expiry of the TLS certificates of endpoints. It is safe for
// concurrent use.
type Certificates struct {
	Endpoints map[string]Endpoint // by name

	mu        sync.Mutex
	checkedAt time.Time
	expiries  map[string]time.Time
}

const (
	// certificatesTTL is how long results are cached.
	certificatesTTL = 10 * time.Minute
	// certificatesTimeout is the time limit for all endpoints together.
	certificatesTimeout = 3 * time.Second
)

// Expiries returns when the certificate of each endpoint expires. Endpoints that do
// not respond are omitted.
func (c *Certificates) Expiries(ctx context.Context) map[string]time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.expiries != nil && time.Since(c.checkedAt) < certificatesTTL {
		return c.expiries
	}
	ctx, cancel := context.WithTimeout(ctx, certificatesTimeout)
	defer cancel()
	type result struct {
		name   string
		expiry time.Time
		ok     bool
	}
	results := make(chan result, len(c.Endpoints))
	for name, endpoint := range c.Endpoints {
		go func() {
			expiry, ok := endpoint.certificateExpiry(ctx)
			results <- result{name, expiry, ok}
		}()
	}
	expiries := map[string]time.Time{}
	for range c.Endpoints {
		if r := <-results; r.ok {
			expiries[r.name] = r.expiry
		}
	}
	c.expiries, c.checkedAt = expiries, time.Now()
	return expiries
}

// certificateExpiry connects, reads the certificate and disconnects. The certificate
// is not verified, because no data is exchanged and the expiry of an invalid
// certificate is of interest as well.
func (e Endpoint) certificateExpiry(ctx context.Context) (time.Time, bool) {
	host, _, err := net.SplitHostPort(e.Address)
	if err != nil {
		return time.Time{}, false
	}
	var dialer net.Dialer
	plain, err := dialer.DialContext(ctx, "tcp", e.Address)
	if err != nil {
		return time.Time{}, false
	}
	defer func() { _ = plain.Close() }()
	if until, ok := ctx.Deadline(); ok {
		_ = plain.SetDeadline(until)
	}
	if e.UsesSSLRequest && !requestTLS(plain) {
		return time.Time{}, false
	}
	secured := tls.Client(plain, &tls.Config{
		ServerName: host, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12, //nolint:gosec // see above
		NextProtos: e.protocols,
	})
	if err := secured.HandshakeContext(ctx); err != nil || len(secured.ConnectionState().PeerCertificates) == 0 {
		return time.Time{}, false
	}
	return secured.ConnectionState().PeerCertificates[0].NotAfter, true
}

// sslRequest asks a Postgres server for TLS, which responds with one byte: S if it
// supports TLS (postgresql.org/docs/current/protocol-message-formats.html,
// "SSLRequest").
const sslRequest = "\x00\x00\x00\x08\x04\xd2\x16\x2f"

func requestTLS(c net.Conn) bool {
	if _, err := io.WriteString(c, sslRequest); err != nil {
		return false
	}
	var response [1]byte
	_, err := io.ReadFull(c, response[:])
	return err == nil && response[0] == 'S'
}
