// Package temporaltest provides a real Temporal server for tests.
package temporaltest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"dateline/internal/embedded/programs"
	"dateline/internal/embedded/temporalserver"
	"dateline/internal/testing/enginetest"
	"dateline/workflows"
)

// Namespace is the namespace of tests.
const Namespace = "default"

const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
)

// Start runs the Temporal server of one machine on an empty store for the duration of the test and returns its address.
// Several may run concurrently.
func Start(t testing.TB) (address string) {
	t.Helper()
	return StartIn(t, t.TempDir())
}

// StartIn is Start with the store in a given folder.
func StartIn(t testing.TB, dir string) (address string) {
	t.Helper()
	return New(t, dir).Address
}

// Server is a server that a test kills and restarts.
type Server struct {
	Address string

	server  temporalserver.Server
	process process
}

// New is StartIn for tests that kill the server.
func New(t testing.TB, dir string) *Server {
	t.Helper()
	s := &Server{server: temporalserver.Server{
		Database: filepath.Join(dir, "temporal.db"), Port: freePort(t),
		Namespace:        Namespace,
		SearchAttributes: workflows.SearchAttributes(),
	}}
	s.Address = s.server.Address()
	s.Start(t)
	return s
}

// Start starts the server again, on the same store and port.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	s.process = run(t, exec.Command(Program(t), s.server.Args()...), temporalserver.Env(), s.server.Ready)
}

// Kill ends the server as a crash does.
func (s *Server) Kill() { s.process.kill() }

// Program is the Temporal CLI, which is fetched if there is none.
func Program(t testing.TB) string {
	t.Helper()
	enginetest.NeedEngines(t)
	path, err := programs.Finder{}.Temporal(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// process is a running server.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// run starts a server, waits until it is ready, and stops it when the test is over.
func run(t testing.TB, cmd *exec.Cmd, env []string, ready func(context.Context) error) process {
	t.Helper()
	var log strings.Builder
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), env...), &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := process{cmd: cmd, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		_ = cmd.Wait() // how it ended only matters if it never was ready
	}()
	t.Cleanup(func() { p.stop(t) })
	for deadline := time.Now().Add(startTimeout); ; time.Sleep(20 * time.Millisecond) {
		err := ready(t.Context())
		if err == nil {
			return p
		}
		select {
		case <-p.ended:
			t.Fatalf("%s ended: %s", cmd.Path, log.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s was not ready after %s: %v", cmd.Path, startTimeout, err)
		}
	}
}

func (p process) stop(t testing.TB) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill()
		<-p.ended
		t.Errorf("%s did not stop within %s", p.cmd.Path, stopTimeout)
	}
}

func (p process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
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

type quiet struct{}

func (quiet) Debug(string, ...any) {}
func (quiet) Info(string, ...any)  {}
func (quiet) Warn(string, ...any)  {}
func (quiet) Error(string, ...any) {}
