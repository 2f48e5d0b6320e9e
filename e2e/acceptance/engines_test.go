package acceptance

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dateline/e2e/stack"
	"dateline/internal/storage/objects"
	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
	"dateline/internal/testing/temporaltest"
)

// makeBucket creates the bucket. Dateline does not; the operator does.
func makeBucket(t *testing.T, s *stack.Stack) {
	t.Helper()
	bucket, err := objects.Open(t.Context(), objects.Options{
		Endpoint: s.Setting("S3_ENDPOINT"), Region: "us-east-1",
		Bucket:    s.Setting("S3_BUCKET"),
		AccessKey: s.Setting("S3_ACCESS_KEY"), SecretKey: s.Setting("S3_SECRET_KEY"), PathStyle: true,
	})
	e2etest.Must(t, err)
	e2etest.Must(t, bucket.EnsureBucket(t.Context()))
}

// testTwoProcesses runs the stack on the engines of the other tests, with a rate limit
// that the workers share.
func testTwoProcesses(t *testing.T, program string) {
	useStack(t, program, stack.Engines{}).limits()
}

// testRedisCluster spreads all keys over three nodes.
func testRedisCluster(t *testing.T, program string) {
	nodes := enginetest.RedisCluster(t).Options().Addrs
	useStack(t, program, stack.Engines{Redis: strings.Join(nodes, ",")}).limits()
	goTest(t, nil, "./internal/audience/counter/...", "./internal/audience/flush", "-run", "Cluster")
}

// testVersityGW stores media and crawled pages in another S3 server than Dateline's
// own, and runs the tests of the object store on it.
func testVersityGW(t *testing.T, program string) {
	address := gateway(t)
	useStack(t, program, stack.Engines{S3: address})
	given, err := url.Parse(address)
	e2etest.Must(t, err)
	given.User = url.UserPassword("test", stack.S3Secret)
	env := []string{"TEST_S3_URL=" + given.String()}
	goTest(t, env, "./internal/storage/objects")
	goTest(t, env, "./activities", "-run", "_S3$")
	goTest(t, env, "./internal/ops/backup", "-run", "TestRestore_RestoresFiles")
}

// gateway runs VersityGW on an empty folder and returns its address.
func gateway(t *testing.T) (address string) {
	t.Helper()
	// A sidecar, because not every temporary folder has extended attributes
	objects, metadata := t.TempDir(), t.TempDir()
	listen := "127.0.0.1:" + e2etest.FreePort(t)
	e2etest.Run(t, "", nil, *versitygw, "--access", "test", "--secret", stack.S3Secret, "--port", listen, "--quiet",
		"--health", "/health",
		"posix", "--sidecar", metadata, objects)
	address = "http://" + listen
	e2etest.Eventually(t, 30*time.Second, "VersityGW to answer", func() bool {
		return e2etest.Works(t.Context(), address+"/health")
	})
	return address
}

// testTemporalOnPostgres checks that workflows in Postgres survive a crash of the server.
func testTemporalOnPostgres(t *testing.T, program string) {
	t.Run("Stack", func(t *testing.T) {
		useStack(t, program, stack.Engines{Temporal: temporaltest.StartPostgres(t, enginetest.PostgresPort(t)).Address})
	})
	t.Run("Publishing", func(t *testing.T) {
		server := temporaltest.StartPostgres(t, enginetest.PostgresPort(t))
		goTest(t, []string{"TEMPORAL_ADDRESS=" + server.Address}, "./e2e", "-run", "^TestPublishing$")
	})
	t.Run("Restart", func(t *testing.T) { restartOnPostgres(t, program) })
}

// restartOnPostgres kills the server while a post is pending.
func restartOnPostgres(t *testing.T, program string) {
	server := temporaltest.StartPostgres(t, enginetest.PostgresPort(t))
	s := stack.Open(t, stack.Engines{Temporal: server.Address})
	makeBucket(t, s)
	s.Setup(program)
	s.Worker("worker", program)
	s.API("api", program)
	there, err := s.Net.AddAccount("desk")
	e2etest.Must(t, err)
	connectAndSchedule(t, s, s.Net.URL(), there.Token, [][]string{{"waits through a restart"}},
		time.Now().Add(10*time.Second))
	server.Restart(t)
	s.WantAllPosted()
	if posts := s.Net.Posts(); len(posts) != 1 {
		t.Errorf("got %d posts, want 1: %+v", len(posts), posts)
	}
}

// testBluesky runs the adapter on Bluesky's own server.
func testBluesky(t *testing.T, _ string) {
	goTest(t, nil, "./platforms/bluesky", "-run", "^TestRealServer$")
}

// testWordPress runs the adapter on WordPress itself.
func testWordPress(t *testing.T, _ string) {
	goTest(t, nil, "./platforms/wordpress", "-run", "^TestRealServer$", "-wordpress")
}

// testGhost runs the adapter on Ghost itself.
func testGhost(t *testing.T, _ string) {
	goTest(t, nil, "./platforms/ghost", "-run", "^TestRealServer$", "-ghost", os.Getenv("GHOST"))
}

// testNostr runs the adapter on relays themselves.
func testNostr(t *testing.T, _ string) {
	python, err := filepath.Abs(os.Getenv("NOSTR_PYTHON"))
	e2etest.Must(t, err)
	goTest(t, nil, "./platforms/nostr", "-run", "^TestRealServer$", "-nostr-python", python)
}

// testMeilisearch runs the search suite on the server of MEILI_URL.
func testMeilisearch(t *testing.T, _ string) {
	goTest(t, []string{"MEILISEARCH_URL=" + os.Getenv("MEILI_URL"), "MEILISEARCH_KEY=" + os.Getenv("MEILI_KEY")},
		"./internal/news/search/meili", "-run", "^TestSuite$")
}
