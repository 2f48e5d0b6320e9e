package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// runEnv makes the test binary behave as temporald. Each start is a real process,
// because only a process can be killed, and because the server's SQLite plugin keeps
// its connection for the life of the process.
const runEnv = "TEMPORALD_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(runEnv) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process is one running temporald.
type process struct {
	cmd         *exec.Cmd
	address, ui string
	stderr      lockedBuffer
}

// lockedBuffer can be read while the process still writes.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), runEnv+"=1")
	return cmd
}

// start runs temporald and waits for its ready line.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: command(args...)}
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // Has no effect on a process that has ended.

	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(stdout).ReadString('\n')
		line <- text
	}()
	select {
	case text := <-line:
		match := regexp.MustCompile(`^temporald ready address=(\S+) ui=http://(\S+)\n$`).FindStringSubmatch(text)
		if match == nil {
			t.Fatalf("ready line %q; stderr:\n%s", text, p.stderr.String())
		}
		p.address, p.ui = match[1], match[2]
	case <-time.After(30 * time.Second):
		t.Fatalf("no ready line; stderr:\n%s", p.stderr.String())
	}
	return p
}

// stop requests a clean stop and expects exit code 0 within the promised time.
func (p *process) stop(t *testing.T) {
	t.Helper()
	began := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("stop: %v; stderr:\n%s", err, p.stderr.String())
	}
	if took := time.Since(began); took > stopLimit+2*time.Second {
		t.Errorf("stop took %s", took)
	}
}

// kill ends the process as kill -9 does.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Wait(); err == nil {
		t.Error("a killed process reported success")
	}
}

// portArgs returns free ports for the frontend and the Web UI.
func portArgs(t *testing.T) []string {
	t.Helper()
	ports, err := freePorts(2)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"--port", strconv.Itoa(ports[0]), fmt.Sprintf("--ui-port=%d", ports[1])}
}
