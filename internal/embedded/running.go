package embedded

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// RunningDatabase returns the URL of the PostgreSQL that a `dateline up` runs in this
// data directory, for other commands.
func RunningDatabase(dataDir string) (string, error) {
	notRunning := fmt.Errorf("no `dateline up` runs with the data directory %s; start it, or set DATABASE_URL or "+
		"DATELINE_DATA_DIR", dataDir)
	port, err := runningPort(filepath.Join(dataDir, "postgres", "postmaster.pid"))
	if err == nil {
		var password []byte
		if password, err = os.ReadFile(filepath.Join(dataDir, "secrets", "postgres")); err == nil {
			return databaseURL(strings.TrimSpace(string(password)), port, postgresDatabase), nil
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", notRunning
	case errors.Is(err, fs.ErrPermission):
		return "", fmt.Errorf("the data directory %s belongs to another user; run this as the user who runs "+
			"`dateline up`, or as root", dataDir)
	default:
		return "", err
	}
}

// RunningRedis returns the URL of the Redis that a `dateline up` runs in this data
// directory.
func RunningRedis(dataDir string) (string, error) {
	conf, err := os.ReadFile(filepath.Join(dataDir, "redis", "redis.conf"))
	if err != nil {
		return "", fmt.Errorf("the data directory %s has no Redis of `dateline up`; set REDIS_URL or "+
			"DATELINE_DATA_DIR: %w", dataDir, err)
	}
	password, err := os.ReadFile(filepath.Join(dataDir, "secrets", "redis"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(conf)) {
		if port, ok := strings.CutPrefix(strings.TrimSpace(line), "port "); ok {
			return redisURL(net.JoinHostPort(loopback, port), strings.TrimSpace(string(password))), nil
		}
	}
	return "", fmt.Errorf("%s is damaged", filepath.Join(dataDir, "redis", "redis.conf"))
}

// runningPort reads the port from the file by which PostgreSQL marks that it
// runs: the fourth line.
// https://github.com/postgres/postgres/blob/REL_17_STABLE/src/include/utils/pidfile.h
func runningPort(path string) (int, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for range 4 {
		if !lines.Scan() {
			return 0, fmt.Errorf("%s is damaged", path)
		}
	}
	port, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
	if err != nil {
		return 0, fmt.Errorf("%s is damaged", path)
	}
	return port, nil
}
