package enginetest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// postgresPrograms finds the directory with initdb and postgres, on this machine or by
// a download into the user's cache.
func postgresPrograms() (string, error) {
	if dir, ok := installedPostgres(); ok {
		return dir, nil
	}
	if strict() {
		return "", errors.New("CI=true and no Postgres: install it (on Debian: apt-get install postgresql), or set TEST_DATABASE_URL")
	}
	dir, err := downloadedPostgres()
	if err != nil {
		return "", fmt.Errorf("no Postgres: install it (on Debian: apt-get install postgresql), or set TEST_DATABASE_URL; downloading it failed: %w", err)
	}
	return dir, nil
}

func installedPostgres() (string, bool) {
	var dirs []string
	if path, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		dirs = append(dirs, filepath.Dir(path))
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin"} {
		found, _ := filepath.Glob(pattern)
		slices.Reverse(found) // newest first
		dirs = append(dirs, found...)
	}
	for _, dir := range dirs {
		if runs(dir) {
			return dir, true
		}
	}
	return "", false
}

func runs(dir string) bool {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return false
	}
	return exec.Command(filepath.Join(dir, "postgres"), "--version").Run() == nil
}

// downloadedPostgres makes the library unpack its programs, which it does when it
// starts a server. As root the start fails, but after the unpacking.
func downloadedPostgres() (string, error) {
	dir, err := os.MkdirTemp("/tmp", fmt.Sprintf("%s%d-programs-", clusterPrefix, os.Getpid()))
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // the user nobody has to run them
		return "", err
	}
	server := embeddedpostgres.NewDatabase(embeddedpostgres.DefaultConfig().Version(embeddedpostgres.V17).Port(0).Logger(io.Discard).
		BinariesPath(dir).RuntimePath(filepath.Join(dir, "run")).DataPath(filepath.Join(dir, "data")))
	err = server.Start()
	if err == nil {
		err = server.Stop()
	}
	if bin := filepath.Join(dir, "bin"); runs(bin) {
		return bin, nil
	}
	return "", errors.Join(err, os.RemoveAll(dir))
}
