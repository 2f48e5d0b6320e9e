package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"dateline/internal/identity/keyring"
	"dateline/internal/identity/secret"
	"dateline/internal/infra/clientaddr"
	"dateline/internal/infra/timezone"
	"dateline/internal/storage/postgres"
	"dateline/internal/storage/postgres/installation"
)

func tlsDefaults() *tls.Config { return &tls.Config{MinVersion: tls.VersionTLS12} }

// settings checks for valid, but probably unintended settings.
func settings(_ context.Context, o Options) []Finding {
	var l list
	cfg := o.Config
	u, err := url.Parse(cfg.PublicURL)
	switch {
	case err != nil || u.Host == "":
		l.fail("public address", "Set DATELINE_PUBLIC_URL to where browsers reach the API.", "%q is not a URL.",
			cfg.PublicURL)
	case u.Scheme != "https" && !loopback(u.Hostname()):
		l.warn("public address", "Use a TLS proxy, and set DATELINE_PUBLIC_URL to its https URL.",
			"%s is not https: browsers cannot log in, and networks reject it as redirect URI.", cfg.PublicURL)
	default:
		l.ok("public address", "%s", cfg.PublicURL)
	}
	if u != nil && !loopback(u.Hostname()) && len(cfg.TrustedProxies) == 0 {
		l.warn("proxies", "Set DATELINE_TRUSTED_PROXIES to the address of the proxy.",
			"No proxy is trusted: behind a proxy, all requests seem to come from the same address.")
	}
	return l
}

// proxy sends a request through the proxy in front of the API, which says in a header
// whether it got the address of the client.
func proxy(ctx context.Context, o Options) []Finding {
	var l list
	u, err := url.Parse(o.Config.PublicURL)
	if err != nil || loopback(u.Hostname()) || len(o.Config.TrustedProxies) == 0 {
		return nil
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(o.Config.PublicURL, "/")+"/livez",
		http.NoBody)
	if err != nil {
		return nil // reported by settings
	}
	client := http.DefaultClient
	if o.HTTP != nil {
		client = o.HTTP
	}
	response, err := client.Do(r)
	if err != nil {
		l.warn("proxy", "Start the API and the proxy, then run dateline doctor again.", "%s cannot be reached: %s",
			o.Config.PublicURL, short(err))
		return l
	}
	defer func() { _ = response.Body.Close() }()
	switch response.Header.Get(clientaddr.ForwardedHeader) {
	case clientaddr.ForwardedMissing:
		l.fail("proxy", "Let the proxy set X-Forwarded-For; see docs/how-to/run-behind-a-proxy.md.",
			"The trusted proxy sends requests without X-Forwarded-For: all readers count as one.")
	case clientaddr.ForwardedYes:
		l.ok("proxy", "X-Forwarded-For arrives")
	default:
		l.warn("proxy", "Check that DATELINE_PUBLIC_URL leads to the API of this version.",
			"%s/livez answers with %s and without %s.", o.Config.PublicURL, response.Status, clientaddr.ForwardedHeader)
	}
	return l
}

// timeZones checks that the rules of time zones are up to date.
func timeZones(_ context.Context, o Options) []Finding {
	var l list
	zones := timezone.Current()
	l.ok("time zones", "IANA database %s (%s)", zones.Version, zones.Source)
	for _, w := range zones.Warnings(o.Now()) {
		switch w.Kind {
		case timezone.Old:
			l.warn("time zones", "Update Dateline, or the system's tzdata package.",
				"The database is of %s, over a year old: posts in zones whose rules have changed since are sent at "+
					"wrong times.", w.Released.Format(time.DateOnly))
		case timezone.Outdated:
			l.warn("time zones", "Restart Dateline.", "%s now has the newer version %s.", w.Source, w.Version)
		case timezone.Anonymous:
			l.warn("time zones", "Set ZONEINFO to a folder with tzdata.zi.",
				"%s (ZONEINFO) does not name its version and is not used.", w.Source)
		}
	}
	return l
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// keyset checks that the keys exist, are protected, and decrypt all secrets.
func keyset(ctx context.Context, o Options) []Finding {
	var l list
	all, err := secret.Keys(ctx, o.Keyset)
	if err != nil {
		advice := "Restore it from a backup (DATELINE_KEYSET). Only for a new installation: dateline keyset new FILE"
		if !errors.Is(err, fs.ErrNotExist) {
			advice = "Restore it from a backup (DATELINE_KEYSET, DATELINE_KEYSET_JSON), and check DATELINE_KEYSET_KMS."
		}
		l.fail("keyset", advice, "%s", err)
		return l
	}
	l.ok("keyset", "%d keys", len(all))
	if o.Keyset.JSON.Empty() && o.Keyset.KMS == nil {
		if info, err := os.Stat(o.Keyset.Path); err == nil && info.Mode().Perm()&0o077 != 0 {
			l.warn("keyset", "chmod 600 "+o.Keyset.Path, "%s is readable by other users (%s).", o.Keyset.Path,
				info.Mode().Perm())
		}
	}
	if o.Config.DatabaseURL == "" {
		return l
	}
	s, err := postgres.Open(ctx, o.Config.DatabaseURL)
	if err != nil {
		return l // reported by the check of the database
	}
	defer s.Close()
	lost, err := (&keyring.Manager{
		Store: s.Installation.Secrets, Columns: installation.SealedColumns(),
		Source: o.Keyset,
	}).
		CountUndecryptable(ctx)
	switch {
	case err != nil:
		return l // the schema is outdated, which is already reported
	case lost > 0:
		l.fail("keyset", "Restore the keyset with which they were encrypted, or reconnect the accounts.",
			"%d secrets in the database cannot be decrypted with its keys.", lost)
	default:
		l.ok("keyset", "all secrets can be decrypted")
	}
	return l
}

// Thresholds for free disk space.
const (
	minFreeFailure = 256 << 20
	minFreeWarning = 2 << 30
)

// disk checks the free space of the directories that this process writes to.
func disk(_ context.Context, o Options) []Finding {
	var l list
	directories := map[string]string{"temporary files": os.TempDir()}
	if _, err := os.Stat(o.Config.DataDir); err == nil {
		directories["data directory"] = o.Config.DataDir
	}
	for _, name := range []string{"data directory", "temporary files"} {
		dir, ok := directories[name]
		if !ok {
			continue
		}
		var s syscall.Statfs_t
		if err := syscall.Statfs(filepath.Clean(dir), &s); err != nil {
			l.warn(name, "", "%s cannot be checked: %s", dir, err)
			continue
		}
		left := s.Bavail * uint64(s.Bsize) //nolint:gosec // block sizes are positive
		text := fmt.Sprintf("%s has %.1f GiB free.", dir, float64(left)/(1<<30))
		switch {
		case left < minFreeFailure:
			l.fail(name, "Free disk space: databases stop when their disk is full.", "%s", text)
		case left < minFreeWarning:
			l.warn(name, "Free disk space.", "%s", text)
		default:
			l.ok(name, "%s", text)
		}
	}
	return l
}
