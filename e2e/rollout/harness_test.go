package rollout

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"dateline/internal/e2etest"
	"dateline/internal/enginetest"
	"dateline/internal/s3server"
	"dateline/internal/starter/temporaltest"
	"dateline/platforms/fake"
)

// site is an installation whose processes come and go.
type site struct {
	*testing.T
	env   []string
	token string
	net   *fake.Server
	log   *e2etest.Buffer

	mu   sync.Mutex
	apis []string // that take requests right now
}

// process is an api or a worker of one version.
type process struct {
	*site
	name string
	cmd  *exec.Cmd
	done chan struct{}
	err  error
	at   string // where it answers
}

// build makes a version's program: of this checkout, or of a commit.
func build(t *testing.T, version, ref string) string {
	t.Helper()
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if ref != "" {
		tree := filepath.Join(dir, "tree")
		if out, err := exec.Command("git", "-C", source, "worktree", "add", "--detach", tree, ref).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		t.Cleanup(func() { _ = exec.Command("git", "-C", source, "worktree", "remove", "--force", tree).Run() })
		source = tree
	}
	path := filepath.Join(dir, "dateline")
	cmd := exec.Command("go", "build", "-ldflags", "-X main.version="+version, "-o", path, ".")
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", version, err, out)
	}
	return path
}

func open(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, log: &e2etest.Buffer{}}
	var err error
	if s.net, err = fake.New(fake.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := s.net.Start("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.net.Close() })
	handler, err := s3server.New(s3server.Options{Dir: t.TempDir(), Bucket: "dateline", AccessKey: "test", SecretKey: "test"})
	if err != nil {
		t.Fatal(err)
	}
	s3 := httptest.NewServer(handler)
	t.Cleanup(s3.Close)
	s.env = append(os.Environ(), "DATABASE_URL="+enginetest.Postgres(t), "REDIS_URL="+redis(t), "TEMPORAL_ADDRESS="+temporaltest.Start(t),
		"TEMPORAL_NAMESPACE="+temporaltest.Namespace, "S3_ENDPOINT="+s3.URL, "S3_BUCKET=dateline", "S3_ACCESS_KEY=test", "S3_SECRET_KEY=test",
		"DATELINE_KEYSET="+filepath.Join(t.TempDir(), "keyset.json"), "DATELINE_METRICS_ADDR=off", "DATELINE_LOG_LEVEL=warn",
		"DATELINE_ALLOW_PRIVATE_HOSTS="+strings.TrimPrefix(s.net.URL(), "http://"))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the processes said:\n%s", s.log)
		}
	})
	return s
}

// redis starts one that listens on TCP, as the settings want it.
func redis(t *testing.T) (url string) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("redis-server is not installed")
		}
		t.Log("redis-server is not installed; a stand-in takes its place")
		return "redis://" + miniredis.RunT(t).Addr()
	}
	port := e2etest.FreePort(t)
	cmd := exec.Command(program, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 100 {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			_ = c.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return "redis://127.0.0.1:" + port
}

// run carries out a command to its end.
func (s *site) run(program string, args ...string) string {
	s.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = s.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, s.log
	if err := cmd.Run(); err != nil {
		s.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, s.log)
	}
	return strings.TrimSpace(out.String())
}

// start starts an api or a worker and waits until it is ready.
func (s *site) start(name, program, part, variable string) *process {
	s.Helper()
	address := "127.0.0.1:" + e2etest.FreePort(s)
	p := &process{site: s, name: name, cmd: exec.Command(program, part), done: make(chan struct{}), at: "http://" + address}
	p.cmd.Env = append(append([]string{}, s.env...), variable+"="+address)
	p.cmd.Stdout, p.cmd.Stderr = s.log, s.log
	if err := p.cmd.Start(); err != nil {
		s.Fatal(err)
	}
	go func() { p.err = p.cmd.Wait(); close(p.done) }()
	s.Cleanup(func() { _ = p.cmd.Process.Kill(); <-p.done })
	e2etest.Eventually(s, 60*time.Second, name+" to live", func() bool {
		select {
		case <-p.done:
			s.Fatalf("%s ended: %v\n%s", name, p.err, s.log)
		default:
		}
		return e2etest.Works(s.Context(), p.at+"/livez")
	})
	return p
}

func (s *site) api(name, program string) *process {
	s.Helper()
	p := s.start(name, program, "api", "DATELINE_API_ADDR")
	s.mu.Lock()
	s.apis = append(s.apis, p.at)
	s.mu.Unlock()
	return p
}

func (s *site) worker(name, program string) *process {
	s.Helper()
	p := s.start(name, program, "worker", "DATELINE_WORKER_HEALTH_ADDR")
	e2etest.Eventually(s, 60*time.Second, name+" to be ready", func() bool { return e2etest.Works(s.Context(), p.at+"/readyz") })
	return p
}

// drain stops a process as an orchestrator does. An api is taken out of the
// balance first.
func (p *process) drain() {
	p.Helper()
	p.mu.Lock()
	for i, at := range p.apis {
		if at == p.at {
			p.apis = append(p.apis[:i:i], p.apis[i+1:]...)
			break
		}
	}
	p.mu.Unlock()
	time.Sleep(time.Second) // as preStop waits for balancers to notice
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.Fatal(err)
	}
	select {
	case <-p.done:
		if p.err != nil {
			p.Errorf("%s ended with %v", p.name, p.err)
		}
	case <-time.After(grace):
		p.Fatalf("%s has not drained within %s", p.name, grace)
	}
}

// call asks one of the apis that take requests. No answer, or one that says
// that the service is away, is what a user must never see meanwhile.
func (s *site) call(n int, method, path string, body, out any) (int, error) {
	s.mu.Lock()
	at := s.apis[n%len(s.apis)]
	s.mu.Unlock()
	answer, err := e2etest.Ask(s.Context(), method, at+path, s.token, body)
	if err == nil {
		err = answer.Into(out)
	}
	return answer.Status, err
}

func keysetOf(env []string) string {
	for _, e := range env {
		if path, ok := strings.CutPrefix(e, "DATELINE_KEYSET="); ok {
			return path
		}
	}
	return ""
}

// wantAllKnown waits until every post is posted, and tells the story of one that
// is not.
func (s *site) wantAllKnown() {
	s.Helper()
	var page struct {
		Posts []struct{ ID, Status string } `json:"posts"`
	}
	var status int
	var err error
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		status, err = s.call(0, http.MethodGet, "/api/v1/posts?limit=20&status=draft,scheduled,publishing,partly_posted,failed,cancelled", nil, &page)
		if err == nil && status == http.StatusOK && len(page.Posts) == 0 {
			return
		}
	}
	s.Errorf("%d, %v: %d posts are not known as posted", status, err, len(page.Posts))
	for _, p := range page.Posts[:min(3, len(page.Posts))] {
		var story struct {
			Entries []struct{ At, Text string } `json:"entries"`
		}
		_, _ = s.call(0, http.MethodGet, "/api/v1/posts/"+p.ID+"/timeline", nil, &story)
		s.Logf("%s is %s: %+v", p.ID, p.Status, story)
	}
}
