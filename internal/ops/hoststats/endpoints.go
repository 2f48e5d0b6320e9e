package hoststats

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Endpoint is a TLS endpoint with a certificate.
type Endpoint struct {
	Address        string // host:port
	UsesSSLRequest bool   // the Postgres protocol negotiates TLS before the handshake

	protocols []string // ALPN protocols of the handshake
}

// Addresses are the configured addresses of an installation; empty ones are ignored.
type Addresses struct {
	PublicURL, S3Endpoint, RedisURL, DatabaseURL string

	Temporal string // host:port, if Temporal uses TLS
}

// TLSEndpoints returns the endpoints that are configured to use TLS, by name.
func TLSEndpoints(a Addresses) map[string]Endpoint {
	endpoints := map[string]Endpoint{}
	add := func(name, address, scheme, port string) {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != scheme || u.Hostname() == "" {
			return
		}
		if u.Port() != "" {
			port = u.Port()
		}
		endpoints[name] = Endpoint{Address: net.JoinHostPort(u.Hostname(), port)}
	}
	add("public", a.PublicURL, "https", "443")
	add("objects", a.S3Endpoint, "https", "443")
	add("redis", a.RedisURL, "rediss", "6379")
	if a.Temporal != "" {
		endpoints["temporal"] = Endpoint{Address: a.Temporal}
	}
	if e, ok := postgresEndpoint(a.DatabaseURL); ok {
		endpoints["database"] = e
	}
	return endpoints
}

// postgresEndpoint returns the endpoint of a database that requires TLS. With
// sslmode=prefer, the default, the server might not support it.
func postgresEndpoint(address string) (Endpoint, bool) {
	c, err := pgconn.ParseConfig(address)
	if address == "" || err != nil || c.TLSConfig == nil || strings.HasPrefix(c.Host, "/") {
		return Endpoint{}, false
	}
	e := Endpoint{
		Address:        net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))),
		UsesSSLRequest: c.SSLNegotiation != "direct",
	}
	if !e.UsesSSLRequest {
		e.protocols = []string{"postgresql"} // required for direct TLS
	}
	return e, true
}
