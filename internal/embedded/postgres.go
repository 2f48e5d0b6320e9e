package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"dateline/internal/embedded/programs"
)

const (
	postgresUser     = "dateline"
	postgresDatabase = "dateline"
	// postgresMarker is a file in the cluster's directory that marks it as created by
	// Dateline.
	postgresMarker = "made-by-dateline"
)

// startPostgres runs `postgres` itself as the child, not pg_ctl, so that its end is noticed.
func (h *Host) startPostgres(ctx context.Context) (engine, error) {
	dir := h.path("postgres")
	major, err := clusterMajor(dir)
	if err != nil {
		return engine{}, err
	}
	password, err := h.secret("postgres")
	if err != nil {
		return engine{}, err
	}
	if major == 0 {
		if err := h.initCluster(ctx, dir); err != nil {
			return engine{}, err
		}
	}
	// SIGINT is PostgreSQL's fast shutdown: it does not wait for clients.
	// https://www.postgresql.org/docs/current/server-shutdown.html
	if err := stopOrphans(dir, syscall.SIGINT, 30*time.Second, "postgres"); err != nil {
		return engine{}, fmt.Errorf("PostgreSQL: %w", err)
	}
	// It is stale now, and its process id may have been reused.
	if err := os.Remove(filepath.Join(dir, "postmaster.pid")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return engine{}, err
	}
	c, port, err := h.startOnPort(ctx, h.cfg.PostgresPort, func(port int) (childSpec, error) {
		return childSpec{
			name: "postgres", path: filepath.Join(h.postgres.Dir, "postgres"), dir: dir,
			args: h.postgresArgs(dir, port), stopSignal: syscall.SIGINT, grace: 30 * time.Second,
			ready: func(ctx context.Context) error {
				return createDatabase(ctx, databaseURL(password, port, "postgres"))
			},
			cleanup: func() { endBackends(dir) },
		}, nil
	})
	if err != nil {
		return engine{}, err
	}
	return engine{
		name: "postgres", child: c,
		fill: func(e *Engines) { e.DatabaseURL = databaseURL(password, port, postgresDatabase) },
	}, nil
}

func databaseURL(password string, port int, database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(postgresUser, password),
		Host: loopback + ":" + strconv.Itoa(port), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// clusterMajor returns the major version of the cluster in dir, 0 if there is none yet,
// and refuses directories that Dateline did not create.
func clusterMajor(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || (err == nil && len(entries) == 0) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("PostgreSQL's directory %s cannot be read: %w", dir, err)
	}
	if _, err := os.Stat(filepath.Join(dir, postgresMarker)); err != nil {
		return 0, fmt.Errorf("the directory %s is not empty and was not created by Dateline; it was not modified."+
			" Move it away, set DATELINE_DATA_DIR to another directory, or run that PostgreSQL yourself and set "+
			"DATABASE_URL", dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, "PG_VERSION"))
	if err != nil {
		return 0, fmt.Errorf("the PostgreSQL data in %s is damaged (no PG_VERSION); it was not modified, restore it "+
			"from a backup: %w", dir, err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || major < programs.OldestPostgres {
		return 0, fmt.Errorf("the data in %s belongs to PostgreSQL %s, and Dateline needs %d or newer; it was "+
			"not modified."+
			" Move it over with pg_upgrade or pg_dump, or set DATELINE_DATA_DIR to another directory", dir,
			strings.TrimSpace(string(text)), programs.OldestPostgres)
	}
	return major, nil
}

// initCluster creates a cluster in a temporary directory and renames it when it is
// complete, so that an interrupted first start leaves no partial cluster.
func (h *Host) initCluster(ctx context.Context, dir string) error {
	// In a new directory each time: the initdb of a start that was killed may still write to its own for a moment.
	left, _ := filepath.Glob(dir + ".new*") // the pattern is valid
	for _, l := range left {
		_ = os.RemoveAll(l)
	}
	temporary, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".new")
	if err != nil {
		return err
	}
	bin := h.postgres
	var problems []error
	for _, locale := range locales(bin.Major) {
		if err := os.RemoveAll(temporary); err != nil {
			return err
		}
		args := append([]string{
			"-D", temporary, "--username=" + postgresUser, "--auth=scram-sha-256",
			"--pwfile=" + h.path("secrets", "postgres"), "--encoding=UTF8", "--no-instructions",
		}, locale...)
		cmd := exec.CommandContext(ctx, filepath.Join(bin.Dir, "initdb"), args...)
		cmd.Env, cmd.Dir, cmd.SysProcAttr = childEnv(h.dataDir), h.dataDir, childAttributes(syscall.SIGKILL)
		out, err := cmd.CombinedOutput()
		if err != nil {
			problems = append(problems, fmt.Errorf("initdb of PostgreSQL %d in %s: %w\n%s", bin.Major, bin.Dir, err,
				out))
			if ctx.Err() != nil {
				break
			}
			continue
		}
		if err := os.WriteFile(filepath.Join(temporary, postgresMarker),
			[]byte("Dateline made this PostgreSQL cluster.\n"), 0o600); err != nil {
			return err
		}
		// An empty directory is replaced; any other makes the rename fail.
		if err := os.Rename(temporary, dir); err != nil {
			return fmt.Errorf("put the new PostgreSQL cluster in its place: %w", err)
		}
		return nil
	}
	_ = os.RemoveAll(temporary)
	return errors.Join(problems...)
}

// locales lists initdb's options to try, best first. All sort by code point; all but
// the last know upper and lower case beyond ASCII, which searching Vietnamese text
// needs. The builtin provider exists since PostgreSQL 17.
func locales(major int) [][]string {
	libc := [][]string{{"--locale=C.UTF-8"}, {"--locale=C", "--lc-ctype=en_US.UTF-8"}, {"--locale=C"}}
	if major < 17 {
		return libc
	}
	return append([][]string{{"--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"}}, libc...)
}

// postgresArgs configures PostgreSQL for one machine that it shares with other
// programs. fsync stays on.
func (h *Host) postgresArgs(dir string, port int) []string {
	settings := []string{
		"listen_addresses=" + loopback,
		"port=" + strconv.Itoa(port),
		"unix_socket_directories=" + socketDir(h.path("run"), port),
		"unix_socket_permissions=0700",
		"max_connections=100",
		"shared_buffers=128MB",
		"jit=off", // JIT compilation takes longer than our queries, which read few rows or an index
		"password_encryption=scram-sha-256",
		"logging_collector=off",
		"log_destination=stderr",
		"timezone=UTC",
	}
	args := []string{"-D", dir}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return args
}

// socketDir returns "" (no socket) if the socket's path would be too long for the
// system or contains a separator of the setting's list. sun_path has 108 bytes on Linux
// and 104 on macOS, including the final zero: unix(7), unix(4).
func socketDir(dir string, port int) string {
	if len(fmt.Sprintf("%s/.s.PGSQL.%d", dir, port)) > 103 || strings.ContainsAny(dir, `," `) {
		return ""
	}
	return dir
}

// createDatabase connects and creates our database if it is not there; it fails until the server accepts connections.
func createDatabase(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "28P01" { // invalid_password
		return permanent{errors.New("the password in secrets/postgres of the data directory is not the one that " +
			"the database" +
			" was made with; restore that file from a backup")}
	} else if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var exists bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_database where datname = $1)", postgresDatabase).
		Scan(&exists); err != nil {
		return err
	}
	if !exists {
		_, err = conn.Exec(ctx, "create database "+pgx.Identifier{postgresDatabase}.Sanitize())
	}
	return err
}
