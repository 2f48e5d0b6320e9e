package enginetest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// cluster is a Postgres server for one test process.
type cluster struct {
	admin  *url.URL // any database of it
	own    *child   // nil: TEST_DATABASE_URL's
	dir    string
	create sync.Mutex // concurrent copies of one template slow each other down
	// strategy of `create database`: copying files takes a fifth of the time of copying
	// blocks through the WAL, and is the only strategy before Postgres 15.
	strategy string

	migrated sync.Once
	template string // name of a database with all migrations
	err      error  // of creating it
}

// Postgres returns the URL of a new, empty database. TEST_DATABASE_URL names a server
// to use instead of a temporary one; its user must be allowed to create databases.
func Postgres(t testing.TB) string {
	t.Helper()
	c := startedCluster(t)
	name, err := c.newDatabase(t.Context(), "template0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.drop(name) })
	return c.url(name)
}

// MigratedPostgres returns the URL of a new database with all migrations. migrate applies
// them once per test process; the other databases are copies.
func MigratedPostgres(t testing.TB, migrate func(ctx context.Context, url string) error) string {
	t.Helper()
	c := startedCluster(t)
	c.migrated.Do(func() { c.template, c.err = c.newTemplate(t.Context(), migrate) })
	if c.err != nil {
		t.Fatal(c.err)
	}
	name, err := c.newDatabase(t.Context(), c.template)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.drop(name) })
	return c.url(name)
}

func startedCluster(t testing.TB) *cluster {
	t.Helper()
	NeedEngines(t)
	process.mu.Lock()
	defer process.mu.Unlock()
	if !process.inMain {
		t.Fatal("declare func TestMain(m *testing.M) { enginetest.Main(m) }, so that Postgres is stopped " +
			"after the tests")
	}
	if process.postgres != nil {
		return process.postgres
	}
	c, err := startCluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	process.postgres = c
	return c
}

// clusterPrefix is followed by the process id. Nothing else may use it: removeLeftovers
// deletes matching directories.
const clusterPrefix = "dateline-enginetest-"

// clusterParents may contain the directories of servers. The first is memory on Linux:
// with a database for every test, a disk is the bottleneck.
func clusterParents() []string { return []string{"/dev/shm", "/tmp"} }

// minMemory is the free memory required: concurrent test processes share it, and each
// needs about 300 MB.
const minMemory = 4 << 30

func clusterParent() string {
	parents := clusterParents()
	if freeSpace(parents[0]) >= minMemory {
		return parents[0]
	}
	return parents[1]
}

// freeSpace is 0 for a directory that does not exist.
func freeSpace(dir string) uint64 {
	var s syscall.Statfs_t
	if syscall.Statfs(dir, &s) != nil {
		return 0
	}
	return s.Bavail * uint64(s.Bsize) //nolint:gosec,unconvert // its type depends on the system, and a size is positive
}

func startCluster(ctx context.Context) (*cluster, error) {
	if given := os.Getenv("TEST_DATABASE_URL"); given != "" {
		u, err := url.Parse(given)
		if err != nil || u.Scheme == "" {
			return nil, fmt.Errorf("TEST_DATABASE_URL must be a URL like postgres://user:password@host:5432/postgres")
		}
		return &cluster{admin: u}, nil
	}
	removeLeftovers()
	bin, err := postgresPrograms(ctx)
	if err != nil {
		return nil, err
	}
	// Not the system's temporary directory: a socket's path has to be short, and no
	// other user may access it.
	dir, err := os.MkdirTemp(clusterParent(), clusterPrefix+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir, admin: &url.URL{
		Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: "host=" + url.QueryEscape(dir),
	}}
	if err := c.start(ctx, bin); err != nil {
		c.stop()
		return nil, err
	}
	return c, nil
}

// start creates and starts the server. If an option is repeated, the last one applies.
func (c *cluster) start(ctx context.Context, bin string, options ...string) error {
	owner := unprivileged()
	if owner != nil {
		if err := os.Chown(c.dir, int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	data := filepath.Join(c.dir, "data")
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync")
	initdb.Dir, initdb.Env, initdb.SysProcAttr = c.dir, environment(c.dir), &syscall.SysProcAttr{Credential: owner}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	var err error
	// SIGQUIT is Postgres' immediate shutdown; no data has to be saved.
	c.own, err = startChild(syscall.SIGQUIT, owner, c.dir, filepath.Join(bin, "postgres"), append([]string{
		"-D", data,
		"-c", "listen_addresses=", "-c", "unix_socket_directories=" + c.dir, "-c", "max_connections=400", "-c",
		"shared_buffers=64MB", "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c",
		"max_wal_senders=0", "-c", "wal_level=minimal", "-c", "min_wal_size=32MB", "-c", "max_wal_size=128MB", "-c",
		"jit=off",
	}, options...)...)
	if err != nil {
		return err
	}
	if err := c.own.await(func() error { return c.do(context.Background(), "select 1") }); err != nil {
		return err
	}
	return c.chooseStrategy(ctx)
}

func (c *cluster) chooseStrategy(ctx context.Context) error {
	connection, err := pgx.Connect(ctx, c.admin.String())
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }()
	var version int
	if err := connection.QueryRow(ctx, "select current_setting('server_version_num')::int").Scan(&version); err != nil {
		return err
	}
	if version >= 150000 {
		c.strategy = " strategy file_copy"
	}
	return nil
}

// do runs a statement outside of any test database.
func (c *cluster) do(ctx context.Context, statement string) error {
	connection, err := pgx.Connect(ctx, c.admin.String())
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }()
	_, err = connection.Exec(ctx, statement)
	return err
}

func (c *cluster) newDatabase(ctx context.Context, template string) (name string, err error) {
	c.create.Lock()
	defer c.create.Unlock()
	name = "test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if err := c.do(ctx, "create database "+name+" template "+template+c.strategy); err != nil {
		return "", fmt.Errorf("create a database for the test: %w", err)
	}
	return name, nil
}

func (c *cluster) newTemplate(
	ctx context.Context, migrate func(ctx context.Context, url string) error,
) (name string, err error) {
	if name, err = c.newDatabase(ctx, "template0"); err != nil {
		return "", err
	}
	return name, migrate(ctx, c.url(name))
}

func (c *cluster) url(database string) string {
	u := *c.admin
	u.Path = "/" + database
	return u.String()
}

// drop frees the memory or the disk.
func (c *cluster) drop(database string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	// Another server: leftovers are identified by their name
	_ = c.do(ctx, "drop database if exists "+database+" with (force)")
}

func (c *cluster) stop() {
	if c.own != nil {
		c.own.stop(syscall.SIGQUIT)
	}
	for _, parent := range clusterParents() {
		own, _ := filepath.Glob(filepath.Join(parent, clusterPrefix+strconv.Itoa(os.Getpid())+"-*"))
		for _, dir := range own {
			_ = os.RemoveAll(dir)
		}
	}
	if c.own == nil && c.template != "" {
		c.drop(c.template)
	}
}

// removeLeftovers deletes the directories of test processes that were killed.
func removeLeftovers() {
	var dirs []string
	for _, parent := range clusterParents() {
		left, _ := filepath.Glob(filepath.Join(parent, clusterPrefix+"*"))
		dirs = append(dirs, left...)
	}
	for _, dir := range dirs {
		pid, err := strconv.Atoi(strings.SplitN(strings.TrimPrefix(filepath.Base(dir), clusterPrefix), "-", 2)[0])
		if err == nil && syscall.Kill(pid, 0) == syscall.ESRCH {
			_ = os.RemoveAll(dir)
		}
	}
}
