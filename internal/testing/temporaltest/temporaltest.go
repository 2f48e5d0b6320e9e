// Package temporaltest provides a real Temporal server for tests.
package temporaltest

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
	"dateline/workflows"
)

// Namespace is the namespace of tests.
const Namespace = "default"

const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
)

// Start runs temporald on an empty store for the duration of the test and returns its
// address. Several may run concurrently.
func Start(t testing.TB) (address string) {
	t.Helper()
	return StartIn(t, t.TempDir())
}

// StartIn is Start with the store in a given folder.
func StartIn(t testing.TB, dir string) (address string) {
	t.Helper()
	s := &Server{store: []string{"--db-filename", filepath.Join(dir, "temporal.db")}, port: e2etest.FreePort(t)}
	s.start(t)
	return s.Address
}

// Program is the server's program, which must have been built.
func Program(t testing.TB) string {
	t.Helper()
	enginetest.NeedEngines(t)
	program := filepath.Join(root(t), "bin", "temporald")
	if _, err := os.Stat(program); errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("%s is missing; build it with: make temporald", program)
	}
	return program
}

// Server is a server that a test restarts.
type Server struct {
	Address string

	store []string // options that select the store
	port  string
	cmd   *exec.Cmd
	ended chan struct{}
}

// StartPostgres is Start on an empty Postgres database, which temporald migrates.
func StartPostgres(t testing.TB, database string) *Server {
	t.Helper()
	s := &Server{store: []string{"--postgres-url", database}, port: e2etest.FreePort(t)}
	s.start(t)
	return s
}

// Restart kills the server and restarts it on the same store and port.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	_ = s.cmd.Process.Kill()
	<-s.ended
	s.start(t)
}

func (s *Server) start(t testing.TB) {
	t.Helper()
	args := append(slices.Clone(s.store), "--port", s.port, "--headless", "--log-level", "error")
	for name, kind := range workflows.SearchAttributes() {
		args = append(args, "--search-attribute", name+"="+kind)
	}
	cmd := exec.Command(Program(t), args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), "temporald ready address="); ok {
				at, _, _ := strings.Cut(rest, " ")
				ready <- at
			}
		}
		_ = cmd.Wait() // how it ended only matters if it never was ready
	}()
	s.cmd, s.ended = cmd, ended
	t.Cleanup(func() { stop(t, cmd, ended) })
	select {
	case s.Address = <-ready:
	case <-ended:
		t.Fatalf("temporald did not start: %s", complaints.String())
	case <-time.After(startTimeout):
		t.Fatalf("temporald was not ready after %s", startTimeout)
	}
}

func stop(t testing.TB, cmd *exec.Cmd, ended <-chan struct{}) {
	_ = cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(stopTimeout):
		_ = cmd.Process.Kill()
		<-ended
		t.Errorf("temporald did not stop within %s", stopTimeout)
	}
}

// Dial connects to a server until the test is over. options may be nil.
func Dial(t testing.TB, address string, options func(*client.Options)) client.Client {
	t.Helper()
	o := client.Options{HostPort: address, Namespace: Namespace, Logger: quiet{}}
	if options != nil {
		options(&o)
	}
	c, err := client.DialContext(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// root finds the checkout, because tests run in their package's folder.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("the tests do not run inside a checkout")
		}
		dir = filepath.Dir(dir)
	}
}

type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
