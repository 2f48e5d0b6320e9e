package vitals

import (
	"context"
	"crypto/tls"
	"net"
	"sync"
	"time"
)

// Certificates looks when certificates end that are shown at some places. It is
// safe for concurrent use.
type Certificates struct {
	Places map[string]string // host:port by what it is called

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
	for place, address := range c.Places {
		go func() {
			end, ok := certificateEnd(ctx, address)
			answers <- answer{place, end, ok}
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
func certificateEnd(ctx context.Context, address string) (time.Time, bool) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return time.Time{}, false
	}
	dialer := tls.Dialer{Config: &tls.Config{ServerName: host, InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}} //nolint:gosec // see above
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return time.Time{}, false
	}
	defer func() { _ = connection.Close() }()
	secured, ok := connection.(*tls.Conn)
	if !ok || len(secured.ConnectionState().PeerCertificates) == 0 {
		return time.Time{}, false
	}
	return secured.ConnectionState().PeerCertificates[0].NotAfter, true
}
