package programs

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// OldestPostgres is the oldest major version that Dateline supports.
const OldestPostgres = 14

// Postgres is one installation of PostgreSQL.
type Postgres struct {
	Dir   string // contains postgres, initdb, pg_ctl
	Major int
}

// postgresDirs lists where systems and package managers put PostgreSQL's programs.
func (f Finder) postgresDirs(ctx context.Context) []string {
	var dirs []string
	if f.Postgres != nil {
		return f.Postgres()
	}
	for _, dir := range f.Dirs {
		dirs = append(dirs, filepath.Join(filepath.Dir(dir), "postgres", "bin"))
	}
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
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

// InstalledPostgres finds every installation of a major version or newer, newest first.
func (f Finder) InstalledPostgres(ctx context.Context, oldest int) []Postgres {
	dirs := f.postgresDirs(ctx)
	for _, name := range []string{"postgres", "initdb", "pg_ctl"} {
		if path, err := f.lookPath(name); err == nil {
			if real, err := filepath.EvalSymlinks(path); err == nil {
				path = real
			}
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	var found []Postgres
	for _, dir := range dirs {
		major, ok := postgresMajor(ctx, dir)
		if ok && major >= oldest && !slices.ContainsFunc(found, func(p Postgres) bool { return p.Dir == dir }) {
			found = append(found, Postgres{dir, major})
		}
	}
	slices.SortStableFunc(found, func(a, b Postgres) int { return b.Major - a.Major })
	return found
}

// postgresMajor runs the program to get its version, whatever the name of its
// directory. Development versions have no dot: "18devel".
func postgresMajor(ctx context.Context, dir string) (int, bool) {
	if !isProgram(filepath.Join(dir, "initdb")) {
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

// postgresVersion returns the version that the library offers for a major version; 0 means a stable one.
func postgresVersion(major int) (embeddedpostgres.PostgresVersion, bool) {
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

// HasPostgres reports whether FetchPostgres knows a major version.
func HasPostgres(major int) bool {
	_, ok := postgresVersion(major)
	return ok
}

// FetchPostgres returns the programs of a major version from the cache, and downloads them before
// if necessary; 0 means a stable version.
func (f Finder) FetchPostgres(ctx context.Context, major int) (Postgres, error) {
	version, ok := postgresVersion(major)
	if !ok {
		return Postgres{}, fmt.Errorf("there is no download of PostgreSQL %d", major)
	}
	folder := fmt.Sprintf("postgres-%s-%s-%s", version, runtime.GOOS, runtime.GOARCH)
	if p, ok := postgresIn(ctx, filepath.Join(systemCache, folder)); ok && f.Cache == "" {
		return p, nil
	}
	cache, err := f.cache()
	if err != nil {
		return Postgres{}, err
	}
	home := filepath.Join(cache, folder)
	if p, ok := postgresIn(ctx, home); ok {
		return p, nil
	}
	if err := os.MkdirAll(home, 0o755); err != nil { //nolint:gosec // programs are readable by everyone
		return Postgres{}, cacheError(err)
	}
	unlock, err := lock(filepath.Join(home, "lock"))
	if err != nil {
		return Postgres{}, cacheError(err)
	}
	defer unlock()
	if p, ok := postgresIn(ctx, home); ok {
		return p, nil // downloaded by another process meanwhile
	}
	start := time.Now()
	f.say("downloading PostgreSQL %s (once, 10 MB)", version)
	if err := unpackPostgres(ctx, version, home); err != nil {
		return Postgres{}, err
	}
	p, ok := postgresIn(ctx, home)
	if !ok {
		return Postgres{}, fmt.Errorf("the downloaded PostgreSQL in %s does not run on this machine", home)
	}
	f.say("downloaded PostgreSQL in %.1f s", time.Since(start).Seconds())
	return p, nil
}

func postgresIn(ctx context.Context, home string) (Postgres, bool) {
	dir := filepath.Join(home, "programs", "bin")
	major, ok := postgresMajor(ctx, dir)
	return Postgres{dir, major}, ok
}

// unpackPostgres downloads a version into home. The library extracts it only while it starts a
// server, and deletes any data directory of another version then, so it gets a temporary
// directory. As root the start fails, but after the extraction.
func unpackPostgres(ctx context.Context, version embeddedpostgres.PostgresVersion, home string) error {
	scratch, err := os.MkdirTemp(home, ".fetch-")
	if err != nil {
		return cacheError(err)
	}
	unpacked := filepath.Join(scratch, "unpacked")
	server := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().
		Version(version).Port(0).Locale("C").Logger(io.Discard).
		CachePath(filepath.Join(scratch, "cache")).RuntimePath(filepath.Join(scratch, "runtime")).
		DataPath(filepath.Join(scratch, "data")).BinariesPath(unpacked))
	done := make(chan error, 1)
	go func() { // The library cannot be canceled, so it cleans up after itself even if the caller no longer waits.
		defer os.RemoveAll(scratch)
		err := server.Start()
		if err == nil {
			err = server.Stop()
		}
		if _, ok := postgresMajor(context.WithoutCancel(ctx), filepath.Join(unpacked, "bin")); ok {
			err = os.Rename(unpacked, filepath.Join(home, "programs"))
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
