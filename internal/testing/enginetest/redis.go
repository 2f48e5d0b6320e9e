package enginetest

import (
	"context"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// Redis returns the URL of an empty Redis for the test: redis-server or valkey-server
// where one is installed, else an in-memory replacement.
func Redis(t testing.TB) string {
	t.Helper()
	url, _ := StoppableRedis(t)
	return url
}

// StoppableRedis is Redis for tests that stop it. stop may be called more than once.
func StoppableRedis(t testing.TB) (url string, stop func()) {
	t.Helper()
	NeedEngines(t)
	program, err := exec.LookPath("redis-server")
	if err != nil {
		program, err = exec.LookPath("valkey-server")
	}
	if err != nil {
		if strict() {
			t.Fatal("CI=true and no Redis: install it (on Debian: apt-get install redis-server)")
		}
		t.Log("redis-server is not installed; this test uses miniredis instead")
		stand := miniredis.RunT(t)
		return "redis://" + stand.Addr(), stand.Close
	}
	// A socket instead of a port: no other process can take it first.
	dir := shortTempDir(t)
	socket := filepath.Join(dir, "redis.sock")
	server, err := startChild(syscall.SIGKILL, nil, dir, program, "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", dir)
	if err != nil {
		t.Fatal(err)
	}
	stop = func() { server.stop(syscall.SIGKILL) }
	t.Cleanup(stop)
	url = "unix://" + socket
	client := RedisClient(t, url)
	if err := server.await(func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		return client.Ping(ctx).Err()
	}); err != nil {
		t.Fatal(err)
	}
	return url, stop
}

// RedisClient connects to a URL that Redis returned, for the duration of the test.
func RedisClient(t testing.TB, url string) *redis.Client {
	t.Helper()
	options, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// ParseRedis connects to a URL that Redis returned, in another process of a test.
func ParseRedis(url string) (*redis.Client, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return nil, err
	}
	return redis.NewClient(options), nil
}
