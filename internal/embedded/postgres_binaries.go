package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// postgresBin is one installation of PostgreSQL.
type postgresBin struct {
	dir   string // contains postgres, initdb, pg_ctl
	major int
}

// postgresDirs lists where systems and package managers put PostgreSQL's programs.
func postgresDirs() []string {
	var dirs []string
	if out, err := exec.CommandContext(context.Background(), "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",                          // Debian, Ubuntu
		"/usr/pgsql-*/bin",                                   // PostgreSQL's own packages for Red Hat
		"/usr/libexec/postgresql*",                           // Alpine
		"/opt/homebrew/opt/postgresql*/bin",                  // Homebrew on Apple silicon
		"/usr/local/opt/postgresql*/bin",                     // Homebrew on Intel
		"/Applications/Postgres.app/Contents/Versions/*/bin", // Postgres.app
	} {
		found, _ := filepath.Glob(pattern)
		dirs = append(dirs, found...)
	}
	return dirs
}

// installedPostgres finds every usable installation, newest first.
func (h *Host) installedPostgres(ctx context.Context) []postgresBin {
	dirs := h.lookup.postgresDir()
	for _, name := range []string{"postgres", "initdb", "pg_ctl"} {
		if path, err := h.lookup.program(name); err == nil {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				path = real
			}
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	var found []postgresBin
	for _, dir := range dirs {
		major, ok := postgresMajor(ctx, dir)
		if ok && major >= oldestPostgres && !slices.ContainsFunc(found, func(b postgresBin) bool { return b.dir == dir }) {
			found = append(found, postgresBin{dir, major})
		}
	}
	slices.SortStableFunc(found, func(a, b postgresBin) int { return b.major - a.major })
	return found
}

// postgresMajor runs the program to get its version, whatever the name of its
// directory. Development versions have no dot: "18devel".
func postgresMajor(ctx context.Context, dir string) (int, bool) {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return 0, false
	}
	out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
	if err != nil {
		return 0, false
	}
	match := regexp.MustCompile(`\(PostgreSQL\) (\d+)`).FindSubmatch(out)
	if match == nil {
		return 0, false
	}
	major, err := strconv.Atoi(string(match[1]))
	return major, err == nil
}

// postgresBinaries returns an installation of the major version, or of any supported
// one if major is 0. Without one on the machine, it is downloaded once.
func (h *Host) postgresBinaries(ctx context.Context, major int, log *slog.Logger) (postgresBin, error) {
	installed := h.installedPostgres(ctx)
	for _, b := range installed {
		if major == 0 || b.major == major {
			return b, nil
		}
	}
	version, ok := downloadable(major)
	if !ok {
		return postgresBin{}, fmt.Errorf("the data in %s belongs to PostgreSQL %d, which is not installed (found: %s); it was not modified."+
			" Install PostgreSQL %d, or set DATELINE_DATA_DIR to another directory", h.path("postgres"), major, describe(installed), major)
	}
	b, err := h.downloadPostgres(ctx, version, log)
	if err == nil {
		return b, nil
	}
	if major == 0 {
		return b, fmt.Errorf("PostgreSQL is not installed, and downloading it failed; install PostgreSQL %d or newer, or set DATABASE_URL: %w", oldestPostgres, err)
	}
	return b, fmt.Errorf("the data in %s belongs to PostgreSQL %d, which is not installed (found: %s), and downloading it failed; it was not modified."+
		" Install PostgreSQL %d, or set DATELINE_DATA_DIR to another directory: %w", h.path("postgres"), major, describe(installed), major, err)
}

func describe(installed []postgresBin) string {
	if len(installed) == 0 {
		return "none"
	}
	var parts []string
	for _, b := range installed {
		parts = append(parts, fmt.Sprintf("%d in %s", b.major, b.dir))
	}
	return strings.Join(parts, ", ")
}

// downloadable returns the version that the library offers for a major version; 0 means
// a stable one.
func downloadable(major int) (embeddedpostgres.PostgresVersion, bool) {
	switch major {
	case 14:
		return embeddedpostgres.V14, true
	case 15:
		return embeddedpostgres.V15, true
	case 16:
		return embeddedpostgres.V16, true
	case 0, 17:
		return embeddedpostgres.V17, true
	case 18:
		return embeddedpostgres.V18, true
	}
	return "", false
}

// downloadPostgres downloads the programs of one version into the data directory. The
// library extracts them only while it starts a server, and deletes any data directory
// of another version then. So it gets a temporary directory of its own, never
// Dateline's.
func (h *Host) downloadPostgres(ctx context.Context, version embeddedpostgres.PostgresVersion, log *slog.Logger) (postgresBin, error) {
	home := h.path("bin", "postgres-"+string(version))
	if major, ok := postgresMajor(ctx, filepath.Join(home, "bin")); ok {
		return postgresBin{filepath.Join(home, "bin"), major}, nil
	}
	log.Info("PostgreSQL is not installed; downloading it once", "version", string(version), "to", home)
	scratch, err := os.MkdirTemp(h.path("tmp"), "postgres-")
	if err != nil {
		return postgresBin{}, err
	}
	port, err := h.ports.pick(0)
	if err != nil {
		return postgresBin{}, err
	}
	unpacked := filepath.Join(scratch, "unpacked")
	server := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(version).Port(uint32(port)).Locale("C").Logger(io.Discard). //nolint:gosec // ports fit
		CachePath(filepath.Join(scratch, "cache")).RuntimePath(filepath.Join(scratch, "runtime")).
		DataPath(filepath.Join(scratch, "data")).BinariesPath(unpacked))
	done := make(chan error, 1)
	go func() { // The library cannot be canceled, so it cleans up after itself even if the caller no longer waits.
		defer os.RemoveAll(scratch)
		err := server.Start()
		if err == nil {
			err = server.Stop()
		}
		if err == nil {
			err = os.MkdirAll(h.path("bin"), 0o700)
		}
		if err == nil {
			err = errors.Join(os.RemoveAll(home), os.Rename(unpacked, home))
		}
		done <- err
	}()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return postgresBin{}, err
	}
	dir := filepath.Join(home, "bin")
	major, ok := postgresMajor(ctx, dir)
	if !ok {
		return postgresBin{}, fmt.Errorf("the downloaded PostgreSQL in %s does not run on this machine", dir)
	}
	return postgresBin{dir, major}, nil
}
