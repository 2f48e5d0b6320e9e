package e2etest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// OpenDir returns a directory that is readable for programs that switch to another
// user, with a path short enough for sockets.
func OpenDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "dateline-e2e-")
	Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	Must(t, os.Chmod(dir, 0o755)) //nolint:gosec // see above
	return dir
}

// Child is a program that a test runs.
type Child struct {
	*exec.Cmd
	Log   *Buffer
	name  string
	ended chan struct{}
	once  sync.Once
}

// Run starts a program and kills it when the test ends. If the test fails, its output
// is logged.
func Run(t testing.TB, dir string, env []string, command string, args ...string) *Child {
	t.Helper()
	c := &Child{
		Cmd: exec.Command(command, args...), name: filepath.Base(command) + " " + strings.Join(args[:min(len(args), 1)],
			" "), Log: &Buffer{}, ended: make(chan struct{}),
	}
	c.Env, c.Stdout, c.Stderr, c.Dir = append(os.Environ(), env...), c.Log, c.Log, dir
	if err := c.Start(); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	go func() { _ = c.Wait(); close(c.ended) }()
	t.Cleanup(func() {
		c.Kill()
		if t.Failed() {
			t.Logf("%s said:\n%s", c.name, c.Log.Tail(6000))
		}
	})
	return c
}

// Kill ends it as a power failure would, also while it is stopped.
func (c *Child) Kill() {
	c.once.Do(func() {
		_ = c.Process.Signal(syscall.SIGCONT)
		_ = c.Process.Kill()
		<-c.ended
	})
}

// Ended reports whether it has ended.
func (c *Child) Ended() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// Stop ends it with SIGINT, like an operator.
func (c *Child) Stop(t testing.TB) {
	t.Helper()
	_ = c.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.ended:
	case <-time.After(time.Minute):
		t.Errorf("%s does not stop", c.name)
	}
}

// WaitForOutput waits until the output matches pattern and returns the submatches.
func (c *Child) WaitForOutput(t testing.TB, within time.Duration, pattern string) []string {
	t.Helper()
	var found []string
	wanted := regexp.MustCompile(pattern)
	Eventually(t, within, c.name+" to print "+pattern, func() bool {
		found = wanted.FindStringSubmatch(c.Log.String())
		return found != nil
	})
	return found
}
