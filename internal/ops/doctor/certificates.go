package doctor

import (
	"context"
	"crypto/tls"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"dateline/internal/infra/config"
	"dateline/internal/ops/hoststats"
)

// renewBefore is the remaining validity below which a certificate should have been
// renewed. The alert CertificateExpiring has the same threshold.
const renewBefore = 14 * 24 * time.Hour

// certificates checks the expiry of the TLS certificates of the configured endpoints.
// Other checks report endpoints that are down.
func certificates(ctx context.Context, o Options) []Finding {
	var l list
	expiries := (&hoststats.Certificates{Endpoints: hoststats.TLSEndpoints(Addresses(o.Config))}).Expiries(ctx)
	const advice = "See docs/how-to/runbooks/engines.md#certificateexpiring: it was not renewed automatically."
	for _, endpoint := range slices.Sorted(maps.Keys(expiries)) {
		day := expiries[endpoint].UTC().Format(time.DateOnly)
		switch left := expiries[endpoint].Sub(o.Now()); {
		case left <= 0:
			l.fail("certificate", advice, "The certificate of the %s endpoint expired on %s.", endpoint, day)
		case left < renewBefore:
			l.warn("certificate", advice, "The certificate of the %s endpoint expires on %s.", endpoint, day)
		default:
			l.ok("certificate", "the certificate of the %s endpoint is valid until %s", endpoint, day)
		}
	}
	return l
}

// encryption checks whether the connection to the database is encrypted and verified.
func encryption(conn *pgx.Conn, l *list) {
	const check = "database encryption"
	host := conn.Config().Host
	// A socket, this machine, or a name of a container network, such as that of Compose.
	isLocal := loopback(host) || strings.HasPrefix(host, "/") || !strings.ContainsAny(host, ".:")
	_, secured := conn.PgConn().Conn().(*tls.Conn)
	settings := conn.Config().TLSConfig
	switch {
	case !secured && isLocal:
	case !secured:
		l.warn(check, "Enable TLS in Postgres (ssl = on) and add sslmode=verify-full to DATABASE_URL, with "+
			"sslrootcert=FILE for a private CA.",
			"Connections to %s are not encrypted.", host)
	case settings != nil && settings.InsecureSkipVerify && settings.VerifyPeerCertificate == nil:
		l.warn(check, "Set sslmode=verify-full in DATABASE_URL, with sslrootcert=FILE for a private CA.",
			"Connections are encrypted, but the certificate of %s is not verified.", host)
	default:
		l.ok(check, "connections are encrypted, and the certificate is verified")
	}
}

// Addresses returns the configured addresses that can have TLS certificates.
func Addresses(c *config.Config) hoststats.Addresses {
	a := hoststats.Addresses{
		PublicURL: c.PublicURL, S3Endpoint: c.S3Endpoint, RedisURL: c.RedisURL, DatabaseURL: c.DatabaseURL,
	}
	if c.TemporalTLS {
		a.Temporal = c.TemporalAddress
	}
	return a
}
