package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dateline/internal/infra/config"
)

// The tests start this test binary as `dateline up`, because a process that drops root
// cannot regain it.
const (
	roleVariable = "TEST_ROLE"
	hideVariable = "TEST_HIDE" // programs to hide, separated by commas; "postgres" hides all of PostgreSQL
)

// external configures every engine but Redis, so that nothing else starts.
var external = []string{
	"DATABASE_URL=postgres://u@127.0.0.1:1/d", "TEMPORAL_ADDRESS=127.0.0.1:1", "S3_ENDPOINT=http://127.0.0.1:1",
}

func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) == "up" {
		os.Exit(up())
	}
	os.Exit(m.Run())
}

// report is printed when everything is up.
type report struct {
	Engines  Endpoints
	Warnings []string
	Children map[string]int
	UID      int
	Home     string
	Took     time.Duration
}

var attributes = map[string]string{
	"PostStatus": "Keyword", "Platform": "Keyword", "AccountID": "Keyword",
	"Domain": "Keyword", "PublishAt": "Datetime",
}

func up() int {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	began := time.Now()
	cfg, err := config.Load("", os.Environ())
	if err != nil {
		return fail(err)
	}
	host, err := prepare(ctx, cfg, os.Stderr, testLookup())
	if err != nil {
		return fail(err)
	}
	engines, err := host.Start(ctx, slog.New(slog.NewTextHandler(os.Stderr, nil)), attributes)
	if err != nil {
		return fail(err)
	}
	r := report{
		Engines: engines.Endpoints, Warnings: engines.Warnings, Children: make(map[string]int),
		UID: os.Getuid(), Home: os.Getenv("HOME"), Took: time.Since(began),
	}
	for _, e := range engines.running {
		if e.child != nil {
			r.Children[e.name] = e.child.cmd.Process.Pid
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return fail(err)
	}
	code := 0
	select {
	case <-ctx.Done():
	case err := <-engines.Failed():
		code = fail(err) + 2
	}
	if err := engines.Stop(context.Background()); err != nil {
		return fail(err)
	}
	return code
}

func testLookup() lookup {
	look := systemLookup()
	hidden := strings.Split(os.Getenv(hideVariable), ",")
	look.program = func(name string) (string, error) {
		if slices.Contains(hidden, name) ||
			(slices.Contains(hidden, "postgres") && (name == "initdb" || name == "pg_ctl")) {
			return "", fs.ErrNotExist
		}
		return exec.LookPath(name)
	}
	if slices.Contains(hidden, "postgres") {
		look.postgres = func() []string { return nil }
	}
	return look
}

// process is a running test binary.
type process struct {
	report
	cmd    *exec.Cmd
	stderr *text
}

// text may be read while a process still writes to it.
type text struct {
	mu sync.Mutex
	b  strings.Builder
}

func (t *text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

// startUp runs the stand-in as the given user until everything is up, or returns its error.
func startUp(t *testing.T, uid int, env ...string) (*process, error) {
	t.Helper()
	p := &process{cmd: exec.Command(testBinary(t)), stderr: &text{}}
	p.cmd.Env = append(slices.DeleteFunc(os.Environ(),
		func(s string) bool { return strings.HasPrefix(s, "DATELINE_") }), roleVariable+"=up")
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Dir = "/"
	p.cmd.Stderr = p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if uid != os.Getuid() {
		p.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
		p.cmd.Env = append(p.cmd.Env, "HOME=/nonexistent")
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
			_ = p.cmd.Wait()
		}
	})
	if err := json.NewDecoder(stdout).Decode(&p.report); err != nil {
		_ = p.cmd.Wait()
		return p, errors.New(p.stderr.String())
	}
	return p, nil
}

func mustStartUp(t *testing.T, uid int, env ...string) *process {
	t.Helper()
	if testing.Short() {
		t.Skip("starts engines; run without -short")
	}
	p, err := startUp(t, uid, env...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// end sends the signal, waits, and checks that no child is left.
func (p *process) end(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	err := p.cmd.Wait()
	if signal == syscall.SIGTERM {
		if err != nil {
			t.Errorf("a clean stop: got %v: %s", err, p.stderr)
		}
		p.waitForChildrenExit(t)
	}
}

func (p *process) waitForChildrenExit(t *testing.T) {
	t.Helper()
	for name, pid := range p.Children {
		if line := commandLine(pid); line != "" {
			t.Errorf("%s still runs as %d: %s", name, pid, line)
		}
	}
}

// testBinary copies this binary to where every user can run it; go test stores it in a
// private directory.
func testBinary(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := publicDir(t) + "/up"
	if err := copyProgram(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// publicDir creates a temporary directory that every user may enter.
func publicDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dateline-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}
