// Package observe shows what an operator sees: it runs the real program beside a
// real Prometheus, makes trouble, and asks what Prometheus says of it.
package observe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
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

	"dateline/internal/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// program builds the binary under test; a second build costs little.
func program(t testing.TB) string {
	t.Helper()
	path := filepath.Join(openDir(t), "dateline")
	if out, err := exec.Command("go", "build", "-o", path, "../..").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	return path
}

// openDir is a directory that the program may read when it has become another
// user, with a path short enough for sockets.
func openDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "dateline-observe-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// child is a program that the test runs.
type child struct {
	*exec.Cmd
	name  string
	log   *buffer
	ended chan struct{}
	once  sync.Once
}

// run starts a program; it is killed when the test is over. What it said is
// told when the test fails.
func run(t testing.TB, env []string, command string, args ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(command, args...), name: filepath.Base(command) + " " + strings.Join(args[:min(len(args), 1)], " "), log: &buffer{}, ended: make(chan struct{})}
	c.Env, c.Stdout, c.Stderr, c.Dir = append(os.Environ(), env...), c.log, c.log, "../.."
	if err := c.Start(); err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	go func() { _ = c.Wait(); close(c.ended) }()
	t.Cleanup(func() {
		c.kill()
		if t.Failed() {
			t.Logf("%s said:\n%s", c.name, c.log.tail(6000))
		}
	})
	return c
}

func (c *child) kill() {
	c.once.Do(func() {
		_ = c.Process.Signal(syscall.SIGCONT)
		_ = c.Process.Kill()
		<-c.ended
	})
}

// stop ends it as an operator does.
func (c *child) stop(t testing.TB) {
	t.Helper()
	_ = c.Process.Signal(syscall.SIGTERM)
	select {
	case <-c.ended:
	case <-time.After(60 * time.Second):
		t.Errorf("%s does not stop", c.name)
	}
}

// says waits until the program prints what matches, and gives its parts.
func (c *child) says(t testing.TB, within time.Duration, pattern string) []string {
	t.Helper()
	var found []string
	eventually(t, within, c.name+" to say "+pattern, func() bool {
		found = regexp.MustCompile(pattern).FindStringSubmatch(c.log.String())
		return found != nil
	})
	return found
}

// buffer collects what several goroutines write.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *buffer) tail(n int) string {
	s := b.String()
	return s[max(len(s)-n, 0):]
}

// client speaks to the API.
type client struct {
	t     testing.TB
	base  string
	token string
}

// try sends a request, and decodes the answer into out unless that is nil.
func (c *client) try(method, path string, body, out any) (int, error) {
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		reader = bytes.NewReader(raw)
	}
	request, err := http.NewRequest(method, c.base+path, reader)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err == nil && out != nil && answer.StatusCode < 300 {
		err = json.Unmarshal(raw, out)
	}
	if err == nil && answer.StatusCode >= 300 {
		err = fmt.Errorf("%d %s", answer.StatusCode, raw)
	}
	return answer.StatusCode, err
}

// call is try for what must succeed.
func (c *client) call(method, path string, body, out any) {
	c.t.Helper()
	if _, err := c.try(method, path, body, out); err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
}

// schedule makes a post to some accounts; to none in particular: to all.
func (c *client) schedule(text string, in time.Duration, accounts ...string) (id string) {
	c.t.Helper()
	var p struct{ ID string }
	body := map[string]any{"content": text, "scheduled_time": time.Now().Add(in).Format(time.RFC3339Nano)}
	if len(accounts) > 0 {
		body["accounts"] = accounts
	}
	c.call(http.MethodPost, "/api/v1/posts", body, &p)
	return p.ID
}

// awaitPost waits until a post has a status.
func (c *client) awaitPost(id, status string, within time.Duration) {
	c.t.Helper()
	var p struct{ Status string }
	eventually(c.t, within, "a post to be "+status, func() bool {
		c.call(http.MethodGet, "/api/v1/posts/"+id, nil, &p)
		return p.Status == status
	})
}

// hit tells of a page view as a browser does, and gives the answer's status.
func (c *client) hit(key, page string) int {
	c.t.Helper()
	raw, _ := json.Marshal(map[string]string{"site": key, "page": page})
	request, err := http.NewRequest(http.MethodPost, c.base+"/v1/view", bytes.NewReader(raw))
	if err != nil {
		c.t.Error(err)
		return 0
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept-Language": "vi-VN,vi;q=0.9",
		"User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/144.0.0.0 Safari/537.36"} {
		request.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Error(err)
		return 0
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// site makes a site and gives its write key.
func (c *client) site() string {
	c.t.Helper()
	var made struct {
		Site struct {
			WriteKey string `json:"write_key"`
		}
	}
	c.call(http.MethodPost, "/api/v1/sites", map[string]any{"name": "News", "rate_hits": 1000}, &made)
	return made.Site.WriteKey
}

func eventually(t testing.TB, within time.Duration, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		if done() {
			return
		}
	}
	t.Fatalf("waited %s in vain for %s", within, what)
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
