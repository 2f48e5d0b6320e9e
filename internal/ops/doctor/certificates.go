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

// renewBefore is how long before its end a certificate should have been renewed;
// the alert CertificateExpiring has the same bound.
const renewBefore = 14 * 24 * time.Hour

// certificates looks when those end that the settings lead to. A place that does
// not answer is somebody else's finding.
func certificates(ctx context.Context, o Options) []Finding {
	var l list
	ends := (&hoststats.Certificates{Endpoints: hoststats.TLSEndpoints(Addresses(o.Config))}).Expiries(ctx)
	const advice = "See docs/how-to/runbooks/engines.md#certificateexpiring: something did not renew it."
	for _, place := range slices.Sorted(maps.Keys(ends)) {
		day := ends[place].UTC().Format(time.DateOnly)
		switch left := ends[place].Sub(o.Now()); {
		case left <= 0:
			l.fail("certificate", advice, "That of the place %s has ended on %s.", place, day)
		case left < renewBefore:
			l.warn("certificate", advice, "That of the place %s ends on %s.", place, day)
		default:
			l.ok("certificate", "that of the place %s is good until %s", place, day)
		}
	}
	return l
}

// encryption looks whether what goes to the database can be read on the way.
func encryption(conn *pgx.Conn, l *list) {
	const check = "database encryption"
	host := conn.Config().Host
	// A socket, this machine, or a name of a container network, such as Compose's.
	here := loopback(host) || strings.HasPrefix(host, "/") || !strings.ContainsAny(host, ".:")
	_, secured := conn.PgConn().Conn().(*tls.Conn)
	settings := conn.Config().TLSConfig
	switch {
	case !secured && here:
	case !secured:
		l.warn(check, "Let Postgres have a certificate (ssl = on), and add sslmode=verify-full to DATABASE_URL, with sslrootcert=FILE for an authority of your own.",
			"Connections to %s are not encrypted.", host)
	case settings != nil && settings.InsecureSkipVerify && settings.VerifyPeerCertificate == nil:
		l.warn(check, "Set sslmode=verify-full in DATABASE_URL, with sslrootcert=FILE for an authority of your own.", "Connections are encrypted, but whoever answers at %s is believed to be the database.", host)
	default:
		l.ok(check, "connections are encrypted, and it is checked who answers")
	}
}

// Addresses returns the configured addresses that can have TLS certificates.
func Addresses(c *config.Config) hoststats.Addresses {
	a := hoststats.Addresses{PublicURL: c.PublicURL, S3Endpoint: c.S3Endpoint, RedisURL: c.RedisURL, DatabaseURL: c.DatabaseURL}
	if c.TemporalTLS {
		a.Temporal = c.TemporalAddress
	}
	return a
}
