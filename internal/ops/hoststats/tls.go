package hoststats

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"dateline/internal/infra/config"
)

// TLSEndpoint is where a certificate is shown.
type TLSEndpoint struct {
	Address  string // host:port
	StartTLS bool   // Postgres is asked for TLS before it begins

	protocols []string // that are named in the handshake (ALPN)
}

// TLSEndpoints are those where an installation meets certificates, as far as its
// settings ask for TLS.
func TLSEndpoints(cfg *config.Config) map[string]TLSEndpoint {
	places := map[string]TLSEndpoint{}
	add := func(name, address, scheme, port string) {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != scheme || u.Hostname() == "" {
			return
		}
		if u.Port() != "" {
			port = u.Port()
		}
		places[name] = TLSEndpoint{Address: net.JoinHostPort(u.Hostname(), port)}
	}
	add("public", cfg.PublicURL, "https", "443")
	add("objects", cfg.S3Endpoint, "https", "443")
	add("redis", cfg.RedisURL, "rediss", "6379")
	if cfg.TemporalTLS {
		places["temporal"] = TLSEndpoint{Address: cfg.TemporalAddress}
	}
	if p, ok := postgres(cfg.DatabaseURL); ok {
		places["database"] = p
	}
	return places
}

// postgres is where a database is asked for TLS. Where it is merely preferred
// (sslmode=prefer, which is the default) the server may turn out to have none.
func postgres(address string) (TLSEndpoint, bool) {
	c, err := pgconn.ParseConfig(address)
	if address == "" || err != nil || c.TLSConfig == nil || strings.HasPrefix(c.Host, "/") {
		return TLSEndpoint{}, false
	}
	p := TLSEndpoint{Address: net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), StartTLS: c.SSLNegotiation != "direct"}
	if !p.StartTLS {
		p.protocols = []string{"postgresql"} // direct TLS names itself
	}
	return p, true
}
