package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.temporal.io/sdk/client"

	"dateline/internal/infra/retry"
	"dateline/internal/infra/temporalclient"
	"dateline/internal/testing/cputime"
	"dateline/platforms/fake"
)

const loopback = "127.0.0.1"

// namespace is the default of DATELINE_TEMPORAL_NAMESPACE.
const namespace = "default"

// stack is one `dateline up` with its engines, an external fake network, and a client
// of its Temporal.
type stack struct {
	dir      string
	cmd      *exec.Cmd
	ended    chan error
	log      *tail
	api      string
	token    string
	pprof    string // host:port of the program's profiler; empty: off
	network  *fake.Server
	bluesky  *httptest.Server
	temporal client.Client
	http     *http.Client
	stderr   io.Writer
}

// progress prints the current step to stderr.
func (s *stack) progress(format string, args ...any) {
	_, _ = fmt.Fprintf(s.stderr, format+"\n", args...)
}

// startStack starts everything and waits until it is ready.
func startStack(ctx context.Context, o options, stderr io.Writer) (_ *stack, err error) {
	s := &stack{ended: make(chan error, 1), log: &tail{}, stderr: stderr}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.stop())
		}
	}()
	// Keep one connection per scheduling caller, like a real client.
	s.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: callers}, Timeout: time.Minute}
	if s.network, err = fake.New(fake.Options{}); err != nil {
		return s, err
	}
	if err := s.network.Start(loopback + ":0"); err != nil {
		return s, err
	}
	s.bluesky, err = blueskyServer(s.network)
	if err != nil {
		return s, err
	}
	if o.latency > 0 {
		// Two thirds of it, and as much again for every other post.
		for _, path := range []string{"/api/v1/statuses", blueskyPath + "/xrpc/com.atproto.repo.applyWrites"} {
			slow := fake.Fault{
				Kind: fake.Latency, For: o.latency * 2 / 3, Method: http.MethodPost, Path: path,
				Count: -1,
			}
			slower := slow
			slower.Probability = 0.5
			for _, f := range []fake.Fault{slow, slower} {
				if err := s.network.Inject(f); err != nil {
					return s, err
				}
			}
		}
	}
	if s.dir, err = os.MkdirTemp("", "dateline-bench-*"); err != nil {
		return s, err
	}
	// The program may drop to another user.
	if err := os.Chmod(s.dir, 0o755); err != nil { //nolint:gosec // nothing secret lies in it directly
		return s, err
	}
	ports, err := freePorts(8)
	if err != nil {
		return s, err
	}
	args := []string{"up"}
	if o.profiles != "" {
		s.pprof = loopback + ":" + ports[7]
		args = append(args, "--pprof", s.pprof)
	}
	s.cmd = exec.Command(o.program, args...)
	s.cmd.Env = append(os.Environ(),
		"DATELINE_DATA_DIR="+filepath.Join(s.dir, "data"),
		"DATELINE_API_ADDR="+loopback+":"+ports[0],
		"DATELINE_SANDBOX_ADDR="+loopback+":"+ports[1],
		"DATELINE_TEMPORAL_PORT="+ports[2],
		"DATELINE_TEMPORAL_UI_PORT="+ports[3],
		"DATELINE_POSTGRES_PORT="+ports[4],
		"DATELINE_REDIS_PORT="+ports[5],
		"DATELINE_S3_PORT="+ports[6],
		"DATELINE_ALLOW_PRIVATE_HOSTS="+strings.TrimPrefix(s.network.URL(), "http://")+","+
			strings.TrimPrefix(s.bluesky.URL, "http://"),
		"DATELINE_LOG_LEVEL=warn",
	)
	if o.measured == 0 {
		s.cmd.Env = append(s.cmd.Env, "DATELINE_METRICS_SHARE=0")
	}
	s.cmd.Stderr = s.log
	if o.keepLog != "" {
		logFile, err := os.Create(o.keepLog)
		if err != nil {
			return s, err
		}
		s.cmd.Stderr = io.MultiWriter(s.log, logFile)
	}
	s.progress("starting the stack")
	if err := s.launch(ctx); err != nil {
		return s, err
	}
	s.temporal, err = temporalclient.Connect(temporalclient.Options{
		Address:   loopback + ":" + ports[2],
		Namespace: namespace,
	}, slog.New(slog.DiscardHandler))
	return s, err
}

var errEnded = errors.New("the program ended")

func (s *stack) launch(ctx context.Context) error {
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	up := make(chan struct{})
	go func() {
		apiLine, tokenLine := regexp.MustCompile(`API\s+(http://\S+)/api/v1`),
			regexp.MustCompile(`API token\s+(dl_\S+)`)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			if m := apiLine.FindStringSubmatch(lines.Text()); m != nil {
				s.api = m[1]
			}
			if m := tokenLine.FindStringSubmatch(lines.Text()); m != nil {
				s.token = m[1]
			}
			if strings.HasPrefix(lines.Text(), "Stop with") {
				close(up)
			}
		}
		s.ended <- s.cmd.Wait()
	}()
	select {
	case <-up:
	case err := <-s.ended:
		s.cmd = nil
		return fmt.Errorf("%w at its start: %w\n%s", errEnded, err, s.log)
	case <-ctx.Done():
		return ctx.Err()
	}
	return until(ctx, time.Minute, "the program to be ready", func() (bool, error) {
		answer, err := s.http.Get(s.api + "/readyz") //nolint:noctx // the client has a timeout
		if err != nil {
			return false, nil //nolint:nilerr // it is not up yet
		}
		return answer.StatusCode == http.StatusOK, answer.Body.Close()
	})
}

// cpu returns the CPU times of the program with its engines, and of this process.
func (s *stack) cpu() cputime.Times { return cputime.Of(s.cmd.Process.Pid) }

// stop ends the program as Ctrl-C does and removes its data.
func (s *stack) stop() error {
	var errs []error
	if s.temporal != nil {
		s.temporal.Close()
	}
	if s.cmd != nil && s.cmd.Process != nil {
		errs = append(errs, s.cmd.Process.Signal(syscall.SIGINT))
		select {
		case err := <-s.ended:
			if err != nil {
				errs = append(errs, fmt.Errorf("%w: %w\n%s", errEnded, err, s.log))
			}
		case <-time.After(time.Minute):
			errs = append(errs, errors.New("the program did not stop within a minute"), s.cmd.Process.Kill())
		}
	}
	if s.network != nil {
		if s.bluesky != nil {
			s.bluesky.Close()
		}
		errs = append(errs, s.network.Close())
	}
	if s.dir != "" {
		errs = append(errs, os.RemoveAll(s.dir)) //nolint:gosec // a directory that this process made
	}
	return errors.Join(errs...)
}

// call sends a request to the API and decodes its response.
func (s *stack) call(ctx context.Context, method, path string, body, out any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return s.request(ctx, method, path, "application/json", raw, out)
}

// send posts a body of another type to the API.
func (s *stack) send(ctx context.Context, path, contentType, body string) error {
	return s.request(ctx, http.MethodPost, path, contentType, []byte(body), nil)
}

func (s *stack) request(ctx context.Context, method, path, contentType string, raw []byte, out any) error {
	request, err := http.NewRequestWithContext(ctx, method, s.api+path, bytes.NewReader(raw)) //nolint:gosec // the address is one that the program under test said
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	request.Header.Set("Content-Type", contentType)
	answer, err := s.http.Do(request) //nolint:gosec // the address is one that the program under test said
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	got, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, got)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(got, out)
}

// blueskyPath is the path of the fake Bluesky server.
const blueskyPath = "/bluesky"

// blueskyServer serves the fake Bluesky server at the root of an address, because
// servers of Bluesky have no path.
func blueskyServer(network *fake.Server) (*httptest.Server, error) {
	target, err := url.Parse(network.URL() + blueskyPath)
	return httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}), err
}

// connect connects accounts of the fake networks to the program and returns their ids.
func (s *stack) connect(ctx context.Context, name string, n, networks int) (ids []string, err error) {
	for i := range n {
		path, request := "/api/v1/accounts", map[string]any{"network": "mastodon", "base_url": s.network.URL()}
		account := fake.Account{Name: fmt.Sprintf("%s%d", name, i)}
		if i%networks == 1 {
			account.Network = "bluesky"
			path = "/api/v1/accounts/form"
			request = map[string]any{
				"network": account.Network,
				"values": map[string]string{
					"handle": account.Name + ".test", "app_password": fake.BlueskyAppPassword,
					"pds": s.bluesky.URL,
				},
			}
		}
		if account, err = s.network.Add(account); err != nil {
			return nil, err
		}
		if i%networks == 0 {
			request["access_token"] = account.Token
		}
		var connected struct{ ID string }
		if err := s.call(ctx, http.MethodPost, path, request, &connected); err != nil {
			return nil, err
		}
		ids = append(ids, connected.ID)
	}
	return ids, nil
}

func freePorts(n int) ([]string, error) {
	var ports []string
	for range n {
		l, err := net.Listen("tcp", loopback+":0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // all are closed at the end, so that no port is returned twice
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, err
		}
		ports = append(ports, port)
	}
	return ports, nil
}

// until polls until done returns true, at most for the timeout.
func until(ctx context.Context, timeout time.Duration, what string, done func() (bool, error)) error {
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); {
		ok, err := done()
		if ok || err != nil {
			return err
		}
		if err := retry.Sleep(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
	return fmt.Errorf("timed out after %s waiting for %s", timeout, what)
}

// tail keeps the end of the program's output for an error message.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if excess := len(t.buf) - 8<<10; excess > 0 {
		t.buf = t.buf[excess:]
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
