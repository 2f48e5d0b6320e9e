package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"syscall"

	"dateline/internal/identity/keyring"
	"dateline/internal/identity/secret"
	"dateline/internal/storage/postgres"
)

func tlsDefaults() *tls.Config { return &tls.Config{MinVersion: tls.VersionTLS12} }

// settings looks for what is allowed and seldom meant.
func settings(_ context.Context, o Options) []Finding {
	var l list
	cfg := o.Config
	u, err := url.Parse(cfg.PublicURL)
	switch {
	case err != nil || u.Host == "":
		l.fail("public address", "Set DATELINE_PUBLIC_URL to where browsers reach the API.", "%q is no address.", cfg.PublicURL)
	case u.Scheme != "https" && !loopback(u.Hostname()):
		l.warn("public address", "Put a proxy with TLS in front, and set DATELINE_PUBLIC_URL to its https address.", "%s is not https: browsers cannot log in, and networks take no such redirect address.", cfg.PublicURL)
	default:
		l.ok("public address", "%s", cfg.PublicURL)
	}
	if u != nil && !loopback(u.Hostname()) && len(cfg.TrustedProxies) == 0 {
		l.warn("proxies", "Set DATELINE_TRUSTED_PROXIES to the proxy's address.", "None is trusted: behind one, all readers and logins seem to come from the same address.")
	}
	return l
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// keyset looks whether the keys are there, are guarded, and open what is sealed.
func keyset(ctx context.Context, o Options) []Finding {
	var l list
	all, err := secret.Keys(ctx, o.Keyset)
	if err != nil {
		advice := "Restore it from its copy (DATELINE_KEYSET). Only for a new installation: dateline keyset new FILE"
		if !errors.Is(err, fs.ErrNotExist) {
			advice = "Put its copy into place (DATELINE_KEYSET, DATELINE_KEYSET_JSON), and see DATELINE_KEYSET_KMS."
		}
		l.fail("keyset", advice, "%s", err)
		return l
	}
	l.ok("keyset", "%d keys", len(all))
	if o.Keyset.JSON.Empty() && o.Keyset.KMS == "" {
		if info, err := os.Stat(o.Keyset.Path); err == nil && info.Mode().Perm()&0o077 != 0 {
			l.warn("keyset", "chmod 600 "+o.Keyset.Path, "%s can be read by others (%s).", o.Keyset.Path, info.Mode().Perm())
		}
	}
	if o.Config.DatabaseURL == "" {
		return l
	}
	s, err := postgres.Open(ctx, o.Config.DatabaseURL)
	if err != nil {
		return l // said by the database's check
	}
	defer s.Close()
	lost, err := (&keyring.Keeper{Store: s, Columns: postgres.SealedColumns(), Source: o.Keyset}).Unopenable(ctx)
	switch {
	case err != nil:
		return l // the schema is behind; that is said already
	case lost > 0:
		l.fail("keyset", "Put the keyset into place that sealed them, or connect their accounts again.", "%d secrets in the database open with none of its keys.", lost)
	default:
		l.ok("keyset", "opens everything that is sealed")
	}
	return l
}

// Bounds of what is left on a disk.
const (
	diskFailure = 256 << 20
	diskWarning = 2 << 30
)

// disk looks at where this process writes.
func disk(_ context.Context, o Options) []Finding {
	var l list
	places := map[string]string{"temporary files": os.TempDir()}
	if _, err := os.Stat(o.Config.DataDir); err == nil {
		places["data directory"] = o.Config.DataDir
	}
	for _, name := range []string{"data directory", "temporary files"} {
		dir, ok := places[name]
		if !ok {
			continue
		}
		var s syscall.Statfs_t
		if err := syscall.Statfs(filepath.Clean(dir), &s); err != nil {
			l.warn(name, "", "%s cannot be looked at: %s", dir, err)
			continue
		}
		left := s.Bavail * uint64(s.Bsize) //nolint:gosec // sizes of blocks are positive
		text := fmt.Sprintf("%s has %.1f GiB left.", dir, float64(left)/(1<<30))
		switch {
		case left < diskFailure:
			l.fail(name, "Make room: databases stop when their disk is full.", "%s", text)
		case left < diskWarning:
			l.warn(name, "Make room before it is needed.", "%s", text)
		default:
			l.ok(name, "%s", text)
		}
	}
	return l
}
