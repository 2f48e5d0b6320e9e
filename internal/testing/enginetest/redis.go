package enginetest

import (
	"context"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/embedded/programs"
)

// Redis returns the URL of an empty Redis for the test, on a socket.
func Redis(t testing.TB) string {
	t.Helper()
	url, _ := StoppableRedis(t)
	return url
}

// StoppableRedis is Redis for tests that stop it. stop may be called more than once.
func StoppableRedis(t testing.TB) (url string, stop func()) {
	t.Helper()
	NeedEngines(t)
	// A socket instead of a port: no other process can take it first.
	dir := shortTempDir(t)
	socket := filepath.Join(dir, "redis.sock")
	server, err := startChild(syscall.SIGKILL, nil, dir, RedisProgram(t), "--port", "0", "--unixsocket", socket,
		"--save", "", "--appendonly", "no", "--dir", dir)
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

// RedisProgram is redis-server or valkey-server, which is fetched if none is installed.
func RedisProgram(t testing.TB) string {
	t.Helper()
	path, err := programs.Finder{}.Redis(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// RedisPort returns the URL of an empty Redis on a port of loopback, for programs that do not support sockets.
func RedisPort(t testing.TB) string {
	t.Helper()
	NeedEngines(t)
	dir := shortTempDir(t)
	for range 5 { // another process may take the port first
		_, free, err := twoPorts()
		if err != nil {
			t.Fatal(err)
		}
		port := strconv.Itoa(free)
		server, err := startChild(syscall.SIGKILL, nil, dir, RedisProgram(t), "--port", port, "--bind", "127.0.0.1",
			"--save", "", "--appendonly", "no", "--dir", dir)
		if err != nil {
			t.Fatal(err)
		}
		url := "redis://127.0.0.1:" + port
		client := RedisClient(t, url)
		if server.await(func() error { return client.Ping(t.Context()).Err() }) == nil {
			t.Cleanup(func() { server.stop(syscall.SIGKILL) })
			return url
		}
	}
	t.Fatal("no port for a Redis was free")
	return ""
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
