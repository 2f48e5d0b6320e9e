package observe

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	sdk "go.temporal.io/sdk/client"

	"dateline/internal/embedded/s3server"
	"dateline/internal/storage/objects"
	"dateline/internal/testing/crawltest"
	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/storetest"
	"dateline/internal/testing/temporaltest"
	"dateline/platforms/fake"
)

// newsroom is an installation of several processes with engines that the test may stop.
type newsroom struct {
	t         *testing.T
	program   string
	database  string // URL
	db        *pgx.Conn
	redisPort string
	temporal  sdk.Client
	redis     *e2etest.Child
	fake      *fake.Server
	world     *crawltest.World
	env       []string
	*client
}

// openNewsroom starts the engines and prepares the database.
func openNewsroom(t *testing.T) *newsroom {
	t.Helper()
	n := &newsroom{t: t, program: program(t), redisPort: e2etest.FreePort(t)}
	_, n.database = storetest.OpenWithURL(t)
	var err error
	n.db, err = pgx.Connect(t.Context(), n.database)
	e2etest.Must(t, err)
	t.Cleanup(func() { _ = n.db.Close(context.Background()) })

	n.redis = run(t, nil, enginetest.RedisProgram(t), "--port", n.redisPort, "--bind", "127.0.0.1", "--save", "",
		"--dir", e2etest.OpenDir(t))
	s3, err := s3server.New(s3server.Options{
		Dir: e2etest.OpenDir(t), Bucket: "dateline", AccessKey: "test", SecretKey: "test",
	})
	e2etest.Must(t, err)
	bucket := httptest.NewServer(s3)
	t.Cleanup(bucket.Close)
	opened, err := objects.Open(t.Context(), objects.Options{
		Endpoint: bucket.URL, Region: "us-east-1", Bucket: "dateline", AccessKey: "test", SecretKey: "test",
		PathStyle: true,
	})
	e2etest.Must(t, err)
	e2etest.Must(t, opened.EnsureBucket(t.Context()))

	temporal := temporaltest.StartIn(t, e2etest.OpenDir(t))
	n.temporal, err = sdk.NewLazyClient(sdk.Options{HostPort: temporal})
	e2etest.Must(t, err)
	t.Cleanup(n.temporal.Close)

	if n.fake, err = fake.New(fake.Options{}); err != nil {
		t.Fatal(err)
	}
	e2etest.Must(t, n.fake.Start("127.0.0.1:0"))
	t.Cleanup(func() { _ = n.fake.Close() })
	// A site whose articles were published 40 minutes ago.
	n.world, err = crawltest.New(crawltest.Options{
		Sites: 1, Articles: 40, ArticlesPerHub: 40, Proxied: true, Now: func() time.Time {
			return time.Now().Add(-40 * time.Minute)
		},
	})
	e2etest.Must(t, err)
	t.Cleanup(n.world.Close)

	keyset := filepath.Join(e2etest.OpenDir(t), "keyset.json")
	n.env = []string{
		"DATABASE_URL=" + n.database, "REDIS_URL=redis://127.0.0.1:" + n.redisPort,
		"TEMPORAL_ADDRESS=" + temporal, "TEMPORAL_NAMESPACE=default",
		"S3_ENDPOINT=" + bucket.URL, "S3_BUCKET=dateline", "S3_ACCESS_KEY=test", "S3_SECRET_KEY=test",
		"DATELINE_KEYSET=" + keyset,
		"DATELINE_DATA_DIR=" + e2etest.OpenDir(t), "DATELINE_ALLOW_PRIVATE_HOSTS=127.0.0.0/8," +
			strings.TrimPrefix(n.fake.URL(), "http://"),
		"DATELINE_CRAWL_PROXY_URL=" + n.world.ProxyURL(), "DATELINE_CRAWL_DELAY=100ms", "DATELINE_CRAWL_IP_DELAY=0s",
	}
	n.command("keyset", "new", keyset)
	n.client = &client{t: t}
	n.token = regexp.MustCompile(`dl_\S+`).FindString(n.command("token"))
	return n
}

// command runs a command of the program and waits for its end.
func (n *newsroom) command(args ...string) string {
	n.t.Helper()
	c := exec.Command(n.program, args...)
	c.Env = append(os.Environ(), n.env...)
	out, err := c.CombinedOutput()
	if err != nil {
		n.t.Fatalf("dateline %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// api starts an API and returns the address of its metrics.
func (n *newsroom) api() (metrics string) {
	n.t.Helper()
	address := "127.0.0.1:" + e2etest.FreePort(n.t)
	metrics = "127.0.0.1:" + e2etest.FreePort(n.t)
	run(n.t, append(n.env, "DATELINE_API_ADDR="+address, "DATELINE_METRICS_ADDR="+metrics), n.program, "api").
		WaitForOutput(n.t, 60*time.Second, "API listening")
	n.base = "http://" + address
	return metrics
}

// worker starts a worker.
func (n *newsroom) worker() (c *e2etest.Child, metrics string) {
	n.t.Helper()
	metrics = "127.0.0.1:" + e2etest.FreePort(n.t)
	c = run(n.t, append(n.env, "DATELINE_WORKER_HEALTH_ADDR="+metrics), n.program, "worker")
	c.WaitForOutput(n.t, 60*time.Second, "worker started")
	return c, metrics
}

// sick starts an API that lacks resources: memory, files, disk space; with a wrong
// clock, an old keyset, and an expiring certificate.
func (n *newsroom) sick() (api, metrics string) {
	n.t.Helper()
	n.exec("create schema shifted")
	n.exec(
		`create function shifted.clock_timestamp() returns timestamptz language sql volatile as $$ select pg_catalog.clock_timestamp() + interval '3 seconds' $$`)
	at, err := url.Parse(n.database)
	e2etest.Must(n.t, err)
	query := at.Query()
	query.Set("search_path", "shifted,pg_catalog,public")
	at.RawQuery = query.Encode()

	keyset := filepath.Join(e2etest.OpenDir(n.t), "keyset.json")
	for _, setting := range n.env {
		if file, ok := strings.CutPrefix(setting, "DATELINE_KEYSET="); ok {
			raw, err := os.ReadFile(file)
			e2etest.Must(n.t, err)
			e2etest.Must(n.t, os.WriteFile(keyset, raw, 0o600))
		}
	}
	old := time.Now().AddDate(-1, -3, 0)
	e2etest.Must(n.t, os.Chtimes(keyset, old, old))

	api, metrics = "127.0.0.1:"+e2etest.FreePort(n.t), "127.0.0.1:"+e2etest.FreePort(n.t)
	disk := e2etest.OpenDir(n.t)
	env := append(n.env, "DATABASE_URL="+at.String(), "DATELINE_KEYSET="+keyset, "DATELINE_API_ADDR="+api,
		"DATELINE_METRICS_ADDR="+metrics,
		"DATELINE_PUBLIC_URL="+n.ending(), "DATELINE_DATA_DIR="+disk, "GOMEMLIMIT=40MiB", "DISK="+disk,
		"PROGRAM="+n.program)
	// In a mount namespace of its own it may mount a small disk and fill it.
	namespace := []string{"--mount"}
	if os.Geteuid() != 0 {
		namespace = append(namespace, "--user", "--map-root-user")
	}
	run(n.t, env, "unshare", append(namespace, "sh", "-euc",
		`mount -t tmpfs -o size=1m none "$DISK"; head -c 1000000 /dev/zero > "$DISK/full"; ulimit -n 200; exec "$PROGRAM" api`)...).WaitForOutput(n.t, 60*time.Second, "API listening")
	return api, metrics
}

// ending serves a certificate that expires in five days.
func (n *newsroom) ending() string {
	n.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	e2etest.Must(n.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 0, 5),
		DNSNames: []string{"localhost"},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	e2etest.Must(n.t, err)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}
	server.StartTLS()
	n.t.Cleanup(server.Close)
	return server.URL
}

func (n *newsroom) exec(sql string, args ...any) {
	n.t.Helper()
	if _, err := n.db.Exec(n.t.Context(), sql, args...); err != nil {
		n.t.Fatalf("%s: %v", sql, err)
	}
}

func (n *newsroom) count(sql string) (rows int) {
	n.t.Helper()
	e2etest.Must(n.t, n.db.QueryRow(n.t.Context(), sql).Scan(&rows))
	return rows
}

// account connects an account of the fake network.
func (n *newsroom) account(name string) (id string) {
	n.t.Helper()
	a, err := n.fake.AddAccount(name)
	e2etest.Must(n.t, err)
	var made struct{ ID string }
	n.call(http.MethodPost, "/api/v1/accounts", map[string]string{
		"network": "mastodon", "base_url": n.fake.URL(),
		"access_token": a.Token,
	}, &made)
	return made.ID
}

// openConnections opens connections to an address and keeps them alive like browsers
// do.
func openConnections(t testing.TB, address string, many int) {
	t.Helper()
	for range many {
		c, err := net.DialTimeout("tcp", address, 2*time.Second)
		if err != nil {
			return // it is out of connections: this is the intended state
		}
		t.Cleanup(func() { _ = c.Close() })
		_, _ = c.Write([]byte("GET /livez HTTP/1.1\r\nHost: dateline.example\r\n\r\n"))
	}
}

func (n *newsroom) redisClient() *redis.Client {
	c := redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + n.redisPort})
	n.t.Cleanup(func() { _ = c.Close() })
	return c
}
