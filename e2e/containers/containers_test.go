// Package containers runs the image of the Dockerfile as docker-compose.yml says, with an
// OCI runtime and engines from the packages of the operating system.
package containers

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"dateline/e2e/stack"
	"dateline/internal/embedded/s3server"
	"dateline/internal/embedded/temporalserver"
	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/temporaltest"
	"dateline/platforms/fake"
)

var enabled = flag.Bool("containers", false, "run the test, as root on Linux with runc or crun")

// The API and the worker run as separate containers and publish a post.
func TestContainers_PublishAPost(t *testing.T) {
	if !*enabled {
		t.Skip("run with make bench/containers-test")
	}
	if os.Geteuid() != 0 {
		t.Fatal("needs root, to create containers")
	}
	for _, program := range []string{"ip", "setpriv", "redis-server"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("needs iproute2, util-linux, redis-server and postgresql: %v", err)
		}
	}
	services, im, n := compose(t), buildImage(t), newNetwork(t)
	if services["api"].User != im.user || services["worker"].User != im.user {
		t.Errorf("the users are %s and %s, want that of the image, %s", services["api"].User, services["worker"].User,
			im.user)
	}
	n.startEngines(t, services)
	for _, job := range []string{"keyset", "migrate"} {
		c := n.start(t, job, services[job], im, nil)
		e2etest.Eventually(t, 2*time.Minute, job+" to end", c.Ended)
		if code := c.ProcessState.ExitCode(); code != 0 {
			t.Fatalf("%s ended with %d: %s", job, code, c.Log)
		}
	}
	networks, err := fake.New(fake.Options{})
	e2etest.Must(t, err)
	n.inside(t, func() { e2etest.Must(t, networks.Start("127.0.0.1:0")) })
	t.Cleanup(func() { _ = networks.Close() })
	more := map[string]string{"DATELINE_ALLOW_PRIVATE_HOSTS": strings.TrimPrefix(networks.URL(), "http://")}
	running := map[string]container{}
	for _, name := range []string{"api", "worker"} {
		running[name] = n.start(t, name, services[name], im, more)
	}
	for name, c := range running {
		test := services[name].Healthcheck.Test
		var said []byte
		e2etest.Eventually(t, 2*time.Minute, name+" to be healthy", func() bool {
			var err error
			said, err = c.exec(test[1:]...) // after CMD
			return err == nil
		})
		t.Logf("%s is healthy: %s", name, said)
		confined(t, name, c.pid(t))
	}

	token := n.start(t, "token", services["api"], im, nil, "token").WaitForOutput(t, time.Minute, `(dl_\S+)`)[1]
	account, err := networks.AddAccount("desk")
	e2etest.Must(t, err)
	api := &client{network: n, t: t, token: token}
	api.call(http.MethodPost, "/api/v1/accounts", map[string]any{
		"network": "mastodon", "base_url": networks.URL(),
		"access_token": account.Token,
	}, http.StatusCreated)
	api.call(http.MethodPost, "/api/v1/posts",
		map[string]any{
			"content":        "From a container",
			"scheduled_time": time.Now().Add(3 * time.Second).Format(time.RFC3339Nano),
		}, http.StatusCreated)
	e2etest.Eventually(t, 2*time.Minute, "the post to be published", func() bool {
		posts := networks.Posts()
		return len(posts) == 1 && posts[0].Text == "From a container"
	})
	for _, name := range []string{"worker", "api"} {
		running[name].Stop(t)
	}
}

// confined checks what the kernel says about a process: no other user, no capability, no
// way to get one, and a root that cannot be written.
func confined(t *testing.T, name string, pid int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	e2etest.Must(t, err)
	for field, want := range map[string]string{
		"Uid": "65532\t65532\t65532\t65532", "Gid": "65532\t65532\t65532\t65532",
		"CapEff": "0000000000000000", "CapPrm": "0000000000000000",
		"CapBnd": "0000000000000000", "NoNewPrivs": "1",
	} {
		got := regexp.MustCompile(`(?m)^` + field + `:\s+(.+)$`).FindStringSubmatch(string(status))
		if got == nil || got[1] != want {
			t.Errorf("%s: %s is %q, want %q", name, field, got, want)
		}
	}
	mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	e2etest.Must(t, err)
	if root := regexp.MustCompile(`(?m)^\S+ \S+ \S+ \S+ / (\S+)`).FindStringSubmatch(string(mounts)); root == nil ||
		!strings.HasPrefix(root[1], "ro") {
		t.Errorf("%s: the root is mounted with %q, want ro", name, root)
	}
}

// inside calls f in the network namespace: sockets that it creates belong to it.
func (n *network) inside(t testing.TB, f func()) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	outside, err := os.Open("/proc/thread-self/ns/net")
	e2etest.Must(t, err)
	defer func() { _ = outside.Close() }()
	in, err := os.Open("/var/run/netns/" + n.name)
	e2etest.Must(t, err)
	defer func() { _ = in.Close() }()
	e2etest.Must(t, unix.Setns(int(in.Fd()), unix.CLONE_NEWNET))
	defer func() { e2etest.Must(t, unix.Setns(int(outside.Fd()), unix.CLONE_NEWNET)) }()
	f()
}

// client sends requests to the API in the network.
type client struct {
	*network
	t     *testing.T
	token string
}

func (c *client) call(method, path string, body any, want int) {
	c.t.Helper()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, network, _ string) (conn net.Conn, err error) {
			c.inside(c.t, func() { conn, err = (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:8080") })
			return conn, err
		},
	}
	before := http.DefaultClient.Transport
	http.DefaultClient.Transport = transport
	defer func() { http.DefaultClient.Transport = before }()
	answer, err := e2etest.Ask(c.t.Context(), method, "http://127.0.0.1:8080"+path, c.token, body)
	if err != nil || answer.Status != want {
		c.t.Fatalf("%s %s: got %d %s %v, want %d", method, path, answer.Status, answer.Body, err, want)
	}
}

// startEngines starts Postgres and Redis from the operating system's packages, as
// docker-compose.yml says, the Temporal CLI instead of the Temporal image, and an S3 server.
func (n *network) startEngines(t *testing.T, services map[string]service) {
	t.Helper()
	n.startPostgres(t, services)
	n.startRedis(t, services["redis"])
	api, dir := services["api"], e2etest.OpenDir(t)
	handler, err := s3server.New(s3server.Options{
		Dir: dir, Bucket: api.env("S3_BUCKET"), AccessKey: api.env("S3_ACCESS_KEY"),
		SecretKey: api.env("S3_SECRET_KEY"),
	})
	e2etest.Must(t, err)
	server := &http.Server{Handler: handler, ReadHeaderTimeout: time.Minute}
	t.Cleanup(func() { _ = server.Close() })
	n.inside(t, func() {
		listener, err := net.Listen("tcp", "127.0.0.1:8333")
		e2etest.Must(t, err)
		go func() { _ = server.Serve(listener) }()
	})
	temporal := temporalserver.Server{
		Database: filepath.Join(e2etest.OpenDir(t), "temporal.db"), Port: 7233,
		Namespace: api.env("TEMPORAL_NAMESPACE"), SearchAttributes: map[string]string{},
	}
	script, err := os.ReadFile(filepath.Join(stack.Root(t), "deploy/temporal/namespace.sh"))
	e2etest.Must(t, err)
	for _, m := range regexp.MustCompile(`--name (\w+) --type (\w+)`).FindAllStringSubmatch(string(script), -1) {
		temporal.SearchAttributes[m[1]] = m[2]
	}
	n.run(t, temporalserver.Env(), append([]string{temporaltest.Program(t)}, temporal.Args()...)...)
	e2etest.Eventually(t, 2*time.Minute, "Temporal to be ready", func() bool {
		return exec.Command("ip", "netns", "exec", n.name, temporaltest.Program(t), "operator", "cluster", "health",
			"--address", temporal.Address()).Run() == nil
	})
}

func (n *network) startPostgres(t *testing.T, services map[string]service) {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin")
	e2etest.Must(t, err)
	if len(found) == 0 {
		t.Fatal("needs the package postgresql")
	}
	bin, dir := found[len(found)-1], e2etest.OpenDir(t)
	s := services["postgres"]
	password := filepath.Join(dir, "password")
	e2etest.Must(t, os.WriteFile(password, []byte(s.env("POSTGRES_PASSWORD")), 0o600))
	output(t, exec.Command("chown", "-R", "postgres:", dir))
	as := []string{"setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"}
	data := filepath.Join(dir, "data")
	args := append(as[1:], filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "--auth=scram-sha-256",
		"--pwfile="+password, "--encoding=UTF8", "--locale=C", "--no-sync")
	initdb := exec.Command(as[0], append(args, strings.Fields(s.env("POSTGRES_INITDB_ARGS"))...)...)
	initdb.Dir = dir
	output(t, initdb)
	n.run(t, nil, append(append(as, filepath.Join(bin, s.Command[0]), "-D", data, "-k", dir), s.Command[1:]...)...)
	roles := services["postgres-roles"]
	env := []string{"PGHOST=127.0.0.1"} // there is no DNS in the network
	for _, name := range []string{"PGUSER", "PGPASSWORD", "DATELINE_DB_PASSWORD", "TEMPORAL_DB_PASSWORD"} {
		env = append(env, name+"="+roles.env(name))
	}
	e2etest.Eventually(t, 2*time.Minute, "Postgres", func() bool {
		return exec.Command("ip", "netns", "exec", n.name, filepath.Join(bin, "pg_isready"), "-q", "-h", "127.0.0.1").
			Run() == nil
	})
	create := n.run(t, env, roles.Command[0], filepath.Join(stack.Root(t), "deploy/postgres/roles.sh"))
	create.WaitForOutput(t, time.Minute, `Roles and databases are (ready)`)
}

func (n *network) startRedis(t *testing.T, s service) {
	t.Helper()
	dir := e2etest.OpenDir(t)
	output(t, exec.Command("chown", "nobody:", dir))
	command := append([]string{
		"netns", "exec", n.name, "setpriv", "--reuid", "nobody", "--regid", "nogroup",
		"--clear-groups",
	}, s.Command...)
	e2etest.Run(t, dir, []string{"REDIS_PASSWORD=" + s.env("REDIS_PASSWORD")}, "ip", command...).WaitForOutput(t,
		time.Minute, `(Ready to accept connections)`)
}
