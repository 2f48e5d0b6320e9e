// Package e2e starts the real program with its embedded engines, sends it HTTP requests
// like a user, and counts what the network received.
package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
	"dateline/platforms/fake"
)

// program is the binary under test, built once. As in root's home, only its owner can
// enter its directory, although it drops root's privileges.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "dateline-e2e-*")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "dateline")
	build := exec.Command("go", "build", "-ldflags", "-s -w", "-o", path, "..")
	out, err := build.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building: %w\n%s", err, out)
	}
	return path, nil
})

// atATime is the number of concurrent installations: each mostly waits for the time of
// a post and takes 700 MB.
const atATime = 4

func TestMain(m *testing.M) {
	enginetest.RunAtATime(atATime)
	code := m.Run()
	if !testing.Short() {
		if path, err := program(); err == nil {
			_ = os.RemoveAll(filepath.Dir(path))
		}
	}
	os.Exit(code)
}

// dateline is one `dateline up` with a data directory that outlives it.
type dateline struct {
	metrics  string // address of /metrics
	t        testing.TB
	env      []string
	cmd      *exec.Cmd
	ended    chan struct{} // closed when the process has ended
	err      error         // how it ended
	log      *e2etest.Buffer
	API      string
	Token    string
	Temporal string
}

// newDateline prepares an installation; start starts it.
func newDateline(t testing.TB, env ...string) *dateline {
	t.Helper()
	enginetest.NeedEngines(t)
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	temporal := e2etest.FreePort(t)
	d := &dateline{t: t, Temporal: "127.0.0.1:" + temporal}
	d.env = append(os.Environ(),
		"DATELINE_DATA_DIR="+filepath.Join(dir, "data"),
		"DATELINE_API_ADDR=127.0.0.1:"+e2etest.FreePort(t),
		"DATELINE_SANDBOX_ADDR=127.0.0.1:"+e2etest.FreePort(t),
		"DATELINE_TEMPORAL_PORT="+temporal,
		"DATELINE_TEMPORAL_UI_PORT="+e2etest.FreePort(t),
		"DATELINE_POSTGRES_PORT="+e2etest.FreePort(t),
		"DATELINE_REDIS_PORT="+e2etest.FreePort(t),
		"DATELINE_S3_PORT="+e2etest.FreePort(t),
	)
	d.env = append(d.env, env...)
	if given := os.Getenv("TEMPORAL_ADDRESS"); given != "" {
		d.Temporal = given
	}
	t.Cleanup(func() {
		d.stop()
		if t.Failed() {
			t.Logf("the program's log:\n%s", d.log)
		}
	})
	return d
}

var (
	apiLine     = regexp.MustCompile(`API\s+(http://\S+)/api/v1`)
	tokenLine   = regexp.MustCompile(`API token\s+(dl_\S+)`)
	metricsLine = regexp.MustCompile(`Metrics\s+(http://\S+)`)
)

// start starts the program and waits until it is ready.
func (d *dateline) start(args ...string) {
	d.t.Helper()
	d.await(d.launch(args...))
}

// launch starts the program and returns the lines that it prints.
func (d *dateline) launch(args ...string) <-chan string {
	d.t.Helper()
	path, err := program()
	if err != nil {
		d.t.Fatal(err)
	}
	if d.log == nil {
		d.log = &e2etest.Buffer{}
	}
	d.cmd = exec.Command(path, append([]string{"up"}, args...)...)
	d.cmd.Dir = absolute(d.t, "..")
	d.cmd.Env = d.env
	d.cmd.Stderr = d.log
	stdout, err := d.cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	cmd, ended := d.cmd, make(chan struct{})
	d.ended = ended
	lines := make(chan string, 100)
	go func() {
		for s := bufio.NewScanner(stdout); s.Scan(); {
			_, _ = fmt.Fprintln(d.log, s.Text())
			lines <- s.Text()
		}
		d.err = cmd.Wait()
		close(ended)
	}()
	return lines
}

func (d *dateline) await(lines <-chan string) {
	d.t.Helper()
	// Generous: the first start may have to build the Temporal server.
	deadline := time.After(12 * time.Minute)
	for up := false; !up; {
		select {
		case line := <-lines:
			if m := apiLine.FindStringSubmatch(line); m != nil {
				d.API = m[1]
			}
			if m := metricsLine.FindStringSubmatch(line); m != nil {
				d.metrics = m[1]
			}
			if m := tokenLine.FindStringSubmatch(line); m != nil {
				d.Token = m[1]
			}
			up = strings.HasPrefix(line, "Stop with")
		case <-d.ended:
			d.t.Fatalf("the program ended at its start: %v\n%s", d.err, d.log)
		case <-deadline:
			d.t.Fatalf("the program did not come up\n%s", d.log)
		}
	}
	go func() {
		for range lines { // the pipe must not fill up
		}
	}()
}

// ready waits until /readyz returns 200.
func (d *dateline) ready() {
	d.t.Helper()
	e2etest.Eventually(d.t, 60*time.Second, "the program to be ready", func() bool {
		return e2etest.Works(context.Background(), d.API+"/readyz")
	})
}

// stop ends the program as Ctrl-C does.
func (d *dateline) stop() { d.end(syscall.SIGINT) }

// kill ends the program as a power failure would.
func (d *dateline) kill() { d.end(syscall.SIGKILL) }

func (d *dateline) end(signal syscall.Signal) {
	if d.cmd == nil {
		return
	}
	_ = d.cmd.Process.Signal(signal)
	select {
	case <-d.ended:
	case <-time.After(60 * time.Second):
		_ = d.cmd.Process.Kill()
		d.t.Errorf("the program did not stop within a minute of %s", signal)
	}
	d.cmd = nil
}

// call sends a request and decodes its response into out unless it is nil.
func (d *dateline) call(method, path string, body, out any) int {
	d.t.Helper()
	var status int
	// A 503 means that nothing was done: an engine is unavailable for a moment.
	e2etest.Eventually(d.t, 90*time.Second, method+" "+path+" to get a response", func() bool {
		var err error
		if status, err = d.try(method, path, body, out); err != nil {
			d.t.Fatalf("%s %s: %v", method, path, err)
		}
		return status != http.StatusServiceUnavailable
	})
	return status
}

func (d *dateline) try(method, path string, body, out any) (int, error) {
	answer, err := e2etest.Ask(context.Background(), method, d.API+path, d.Token, body) // also while the test ends
	if err != nil || answer.Status == http.StatusServiceUnavailable {
		return answer.Status, err
	}
	return answer.Status, answer.Into(out)
}

// post holds the fields of a post that the tests read.
type post struct {
	ID         string    `json:"id"`
	Status     string    `json:"status"`
	Content    string    `json:"content"`
	Version    int       `json:"version"`
	Scheduled  time.Time `json:"scheduled_time"`
	WorkflowID string    `json:"workflow_id"`
	Targets    []struct {
		Status string `json:"status"`
		LateMS *int64 `json:"late_ms"`
		URL    string `json:"url"`
	} `json:"targets"`
}

type problem struct {
	Code   string `json:"code"`
	Detail string `json:"detail"`
}

// schedule creates a post that is due after the given duration.
func (d *dateline) schedule(text string, in time.Duration, more map[string]any) post {
	d.t.Helper()
	body := map[string]any{
		"content": text, "scheduled_time": time.Now().Add(in).Format(time.RFC3339Nano),
		"attachments": []string{},
	}
	for k, v := range more {
		body[k] = v
	}
	var p post
	if status := d.call(http.MethodPost, "/api/schedule-post", body, &p); status != http.StatusCreated {
		d.t.Fatalf("scheduling %q: status %d", text, status)
	}
	return p
}

func (d *dateline) read(id string) post {
	d.t.Helper()
	var p post
	d.call(http.MethodGet, "/api/v1/posts/"+id, nil, &p)
	return p
}

// await waits until a post has a status.
func (d *dateline) awaitStatus(id, status string, within time.Duration) post {
	d.t.Helper()
	var p post
	e2etest.Eventually(d.t, within, "post "+id+" to be "+status, func() bool {
		p = d.read(id)
		return p.Status == status
	})
	return p
}

// network is a fake network outside of the program, so that it survives when the
// program is killed.
type network struct {
	*fake.Server
	t      testing.TB
	tokens map[string]string // by the account's name
}

func newNetwork(t testing.TB) *network {
	t.Helper()
	server, err := fake.New(fake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return &network{server, t, map[string]string{}}
}

// host is the address that the program must be allowed to reach.
func (n *network) host() string { return strings.TrimPrefix(n.URL(), "http://") }

// connect connects an account of the fake network to the program and returns its id.
func (n *network) connect(d *dateline, name string) string {
	n.t.Helper()
	account, err := n.AddAccount(name)
	if err != nil {
		n.t.Fatal(err)
	}
	n.tokens[name] = account.Token
	var connected struct{ ID string }
	status := d.call(http.MethodPost, "/api/v1/accounts",
		map[string]string{"network": "mastodon", "base_url": n.URL(), "access_token": account.Token}, &connected)
	if status != http.StatusCreated {
		n.t.Fatalf("connecting the account: status %d", status)
	}
	return connected.ID
}

// copies counts the live posts with a text.
func (n *network) copies(text string) int {
	count := 0
	for _, p := range n.Posts() {
		if p.Text == text && !p.Deleted {
			count++
		}
	}
	return count
}

func absolute(t testing.TB, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
