// Package stack runs api and worker processes of the real program on shared engines,
// like an installation on several machines.
package stack

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"dateline/internal/embedded/s3server"
	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/temporaltest"
	"dateline/platforms/fake"
)

// Stack is an installation whose processes start and stop.
type Stack struct {
	testing.TB
	Env    []string // of every process
	Token  string   // of the first owner
	Net    *fake.Server
	Logged *e2etest.Buffer

	mu   sync.Mutex
	apis []string // that receive requests
}

// Process is an api or a worker of one version.
type Process struct {
	*Stack
	At   string // its address: http://host:port
	name string
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Engines are used instead of those that Open starts.
type Engines struct {
	Redis    string // a URL, or the addresses of a cluster with commas between them
	Temporal string // host:port
	S3       string // URL of a server with the keys test/testtest
	Network  fake.Options
	Env      []string // additional settings
}

// S3Secret is the secret key of the access key "test".
const S3Secret = "testtest"

// grace is the minimum stop timeout in docker-compose.yml and the Kubernetes manifests.
const grace = 60 * time.Second

// Open starts the engines that are not given, and a fake network.
func Open(t testing.TB, e Engines) *Stack {
	t.Helper()
	s := &Stack{TB: t, Logged: &e2etest.Buffer{}}
	var err error
	if s.Net, err = fake.New(e.Network); err != nil {
		t.Fatal(err)
	}
	if err := s.Net.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Net.Close() })
	if e.S3 == "" {
		e.S3 = s3(t)
	}
	if e.Redis == "" {
		e.Redis = enginetest.RedisPort(t)
	}
	if e.Temporal == "" {
		e.Temporal = temporaltest.Start(t)
	}
	s.Env = append(os.Environ(), "DATABASE_URL="+enginetest.Postgres(t), "REDIS_URL="+e.Redis,
		"TEMPORAL_ADDRESS="+e.Temporal,
		"TEMPORAL_NAMESPACE="+temporaltest.Namespace, "S3_ENDPOINT="+e.S3, "S3_BUCKET=dateline", "S3_ACCESS_KEY=test",
		"S3_SECRET_KEY="+S3Secret,
		"DATELINE_KEYSET="+filepath.Join(t.TempDir(), "keyset.json"), "DATELINE_METRICS_ADDR=off",
		"DATELINE_LOG_LEVEL=warn",
		"DATELINE_ALLOW_PRIVATE_HOSTS="+strings.TrimPrefix(s.Net.URL(), "http://"))
	s.Env = append(s.Env, e.Env...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the processes logged:\n%s", s.Logged.Tail(20_000))
		}
	})
	return s
}

// Setting returns a setting of the processes; the last one applies.
func (s *Stack) Setting(name string) (value string) {
	for _, entry := range s.Env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			value = v
		}
	}
	return value
}

func s3(t testing.TB) (url string) {
	t.Helper()
	handler, err := s3server.New(s3server.Options{
		Dir: t.TempDir(), Bucket: "dateline", AccessKey: "test", SecretKey: S3Secret,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

// Setup creates the keys, the tables and the first owner's token.
func (s *Stack) Setup(program string) {
	s.Helper()
	for _, e := range s.Env {
		if path, ok := strings.CutPrefix(e, "DATELINE_KEYSET="); ok {
			s.Run(program, "keyset", "new", path)
		}
	}
	s.Run(program, "migrate")
	s.Token = s.Run(program, "token")
}

// Run runs a command and waits for its end.
func (s *Stack) Run(program string, args ...string) string {
	s.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = s.Env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, s.Logged
	if err := cmd.Run(); err != nil {
		s.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, s.Logged)
	}
	return strings.TrimSpace(out.String())
}

// launch starts an api or a worker and waits until it is ready.
func (s *Stack) launch(name, program, part, variable string) *Process {
	s.Helper()
	address := "127.0.0.1:" + e2etest.FreePort(s)
	p := &Process{
		Stack: s, name: name, cmd: exec.Command(program, part), done: make(chan struct{}),
		At: "http://" + address,
	}
	p.cmd.Env = append(append([]string{}, s.Env...), variable+"="+address)
	p.cmd.Stdout, p.cmd.Stderr = s.Logged, s.Logged
	if err := p.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	go func() { p.err = p.cmd.Wait(); close(p.done) }()
	s.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.done })
	e2etest.Eventually(s, 60*time.Second, name+" to live", func() bool {
		select {
		case <-p.done:
			s.Fatalf("%s ended: %v\n%s", name, p.err, s.Logged)
		default:
		}
		return e2etest.Works(s.Context(), p.At+"/livez")
	})
	return p
}

// API starts an api that receives requests from then on.
func (s *Stack) API(name, program string) *Process {
	s.Helper()
	p := s.launch(name, program, "api", "DATELINE_API_ADDR")
	s.mu.Lock()
	s.apis = append(s.apis, p.At)
	s.mu.Unlock()
	return p
}

// Worker starts a worker and waits until it is ready.
func (s *Stack) Worker(name, program string) *Process {
	s.Helper()
	p := s.launch(name, program, "worker", "DATELINE_WORKER_HEALTH_ADDR")
	e2etest.Eventually(s, 60*time.Second, name+" to be ready", func() bool {
		return e2etest.Works(s.Context(), p.At+"/readyz")
	})
	return p
}

// PID is the id of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Drain stops a process like an orchestrator. It removes an api from the load balancer
// first.
func (p *Process) Drain() {
	p.Helper()
	p.leave()
	time.Sleep(time.Second) // like preStop, which waits for load balancers
	p.Signal(syscall.SIGTERM)
	if ended, err := p.Ended(grace); !ended {
		p.Fatalf("%s has not drained within %s", p.name, grace)
	} else if err != nil {
		p.Errorf("%s ended with %v", p.name, err)
	}
}

// Signal sends the process a signal, also if it has already ended.
func (p *Process) Signal(signal syscall.Signal) { _ = p.cmd.Process.Signal(signal) }

// Kill ends the process as a power failure would.
func (p *Process) Kill() {
	p.leave()
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Ended waits for the end of the process and returns its error.
func (p *Process) Ended(within time.Duration) (ended bool, err error) {
	select {
	case <-p.done:
		return true, p.err
	case <-time.After(within):
		return false, nil
	}
}

// leave removes an api from the load balancer.
func (p *Process) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.apis = slices.DeleteFunc(p.apis, func(at string) bool { return at == p.At })
}

// Call sends a request to one of the apis behind the load balancer. Users must never
// see a failed connection or a 503, so both fail the test.
func (s *Stack) Call(n int, method, path string, body, out any) (int, error) {
	s.mu.Lock()
	at := s.apis[n%len(s.apis)]
	s.mu.Unlock()
	answer, err := e2etest.Ask(s.Context(), method, at+path, s.Token, body)
	if err == nil {
		err = answer.Into(out)
	}
	return answer.Status, err
}

// WantAllPosted waits until every post is posted, and logs the timelines of some
// that are not.
func (s *Stack) WantAllPosted() {
	s.Helper()
	var page struct {
		Posts []struct{ ID, Status string } `json:"posts"`
	}
	var status int
	var err error
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		status, err = s.Call(0, http.MethodGet,
			"/api/v1/posts?limit=20&status=draft,scheduled,publishing,partly_posted,failed,canceled", nil, &page)
		if err == nil && status == http.StatusOK && len(page.Posts) == 0 {
			return
		}
	}
	s.Errorf("%d, %v: %d posts are not posted", status, err, len(page.Posts))
	for _, p := range page.Posts[:min(3, len(page.Posts))] {
		var timeline struct {
			Entries []struct{ At, Text string } `json:"entries"`
		}
		_, _ = s.Call(0, http.MethodGet, "/api/v1/posts/"+p.ID+"/timeline", nil, &timeline)
		s.Logf("%s is %s: %+v", p.ID, p.Status, timeline)
	}
}
