package embedded

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func ownerOf(t *testing.T, path string) uint32 {
	t.Helper()
	var stat syscall.Stat_t
	if err := syscall.Lstat(path, &stat); err != nil {
		t.Fatal(err)
	}
	return stat.Uid
}

func testHost(t *testing.T) *Host {
	t.Helper()
	h := &Host{dataDir: t.TempDir(), ports: &ports{}, lookup: testLookup()}
	for _, dir := range []string{"logs", "run", "secrets", "tmp"} {
		if err := os.Mkdir(h.path(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func shell(t *testing.T, h *Host, name, script string) *child {
	t.Helper()
	c, err := h.startChild(childSpec{
		name: name, path: "/bin/sh", args: []string{"-c", script}, dir: h.dataDir,
		stopSignal: syscall.SIGTERM, grace: 300 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A child that ignores the request to stop is killed after the grace period, together
// with its own children.
func TestStubbornChild(t *testing.T) {
	h := testHost(t)
	c := shell(t, h, "stubborn", `trap "" TERM; sleep 300 & echo $! > grandchild; wait; sleep 300`)
	var grandchild string
	for deadline := time.Now().Add(30 * time.Second); grandchild == "" &&
		time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(h.path("grandchild"))
		grandchild = strings.TrimSpace(string(text))
	}
	if grandchild == "" {
		t.Fatal("the child did not start a child of its own")
	}
	c.stop(t.Context())
	if c.alive() {
		t.Error("still alive")
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if exec.Command("kill", "-0", grandchild).Run() != nil {
			break
		}
		if text, _ := os.ReadFile("/proc/" + grandchild + "/cmdline"); len(text) == 0 {
			break // a zombie, if nothing reaps orphans
		}
		if time.Now().After(deadline) {
			t.Fatal("the grandchild still runs")
		}
	}
	if _, err := os.Stat(h.path("run", "stubborn.pid")); err == nil {
		t.Error("the PID file still exists")
	}
}

func TestChild_FailureShowsTheLogOfThisRun(t *testing.T) {
	h := testHost(t)
	for _, word := range []string{"first", "second"} {
		c := shell(t, h, "talker", "echo "+word+" run; exit 7")
		<-c.done
		message := c.failure().Error()
		if !strings.Contains(message, "talker exited unexpectedly (exit status 7); log: "+
			h.path("logs", "talker.log")) || !strings.HasSuffix(message, "\n  "+word+" run") {
			t.Errorf("failure: %s", message)
		}
	}
	text, err := os.ReadFile(h.path("logs", "talker.log"))
	if err != nil || string(text) != "first run\nsecond run\n" {
		t.Errorf("log: %q %v", text, err)
	}
}

func TestChild_RotatesItsLog(t *testing.T) {
	h := testHost(t)
	if err := os.WriteFile(h.path("logs", "talker.log"), make([]byte, maxLogSize+1), 0o600); err != nil {
		t.Fatal(err)
	}
	<-shell(t, h, "talker", "echo new").done
	text, err := os.ReadFile(h.path("logs", "talker.log"))
	if err != nil || string(text) != "new\n" {
		t.Errorf("log: %d bytes, %v", len(text), err)
	}
	if _, err := os.Stat(h.path("logs", "talker.log.old")); err != nil {
		t.Error(err)
	}
}

// Children get neither our secrets nor settings of other installations.
func TestChildEnvironment(t *testing.T) {
	t.Setenv("PGDATA", "/elsewhere")
	t.Setenv("TEMPORAL_API_KEY", "hunter2")
	h := testHost(t)
	<-shell(t, h, "env", "env").done
	text, err := os.ReadFile(h.path("logs", "env.log"))
	if err != nil || strings.Contains(string(text), "PGDATA") || strings.Contains(string(text), "hunter2") ||
		!strings.Contains(string(text), "HOME="+h.dataDir) {
		t.Errorf("%s %v", text, err)
	}
}

func TestStopOrphans(t *testing.T) {
	dir := t.TempDir()
	start := func(args ...string) (*exec.Cmd, chan error) {
		cmd := exec.Command("/bin/sh", append([]string{"-c", "sleep 300; true"}, args...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		return cmd, done
	}
	stop := func(names ...string) {
		t.Helper()
		if err := stopOrphans(dir, syscall.SIGTERM, 5*time.Second, names...); err != nil {
			t.Fatal(err)
		}
	}
	stranger, elsewhere := start("elsewhere")
	_, here := start(filepath.Join(dir, "conf"))
	stop("redis-server") // another program, such as an editor of the file
	select {
	case <-elsewhere:
		t.Fatal("a process of another directory was stopped")
	case <-here:
		t.Fatal("another program was stopped")
	case <-time.After(100 * time.Millisecond):
	}
	stop("redis-server", "sh")
	select {
	case <-elsewhere:
		t.Fatal("a process of another directory was stopped")
	case <-here:
	case <-time.After(30 * time.Second):
		t.Error("the orphan still runs")
	}
	stop("sh") // nothing to do
	_ = stranger.Process.Kill()
	<-elsewhere
}

func TestSocketDir(t *testing.T) {
	if got := socketDir("/var/lib/dateline/run", 15432); got != "/var/lib/dateline/run" {
		t.Errorf("short: %q", got)
	}
	for _, dir := range []string{"/" + strings.Repeat("x", 100), "/with space", "/with,comma"} {
		if got := socketDir(dir, 15432); got != "" {
			t.Errorf("%q: %q", dir, got)
		}
	}
}
