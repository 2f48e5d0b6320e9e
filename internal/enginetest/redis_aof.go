package enginetest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// DurableRedis is a Redis with an append-only file, as production has one. It
// can be killed, and started again with what it had or with nothing.
type DurableRedis struct {
	URL string

	t       testing.TB
	program string
	dir     string
	server  *child
}

// StartDurableRedis starts one; ok is false where no server is installed.
func StartDurableRedis(t testing.TB) (r *DurableRedis, ok bool) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		program, err = exec.LookPath("valkey-server")
	}
	if err != nil {
		if strict() {
			t.Fatal("CI=true and no Redis: install it (on Debian: apt-get install redis-server)")
		}
		t.Log("redis-server is not installed; what survives its death is not tested")
		return nil, false
	}
	dir := shortTempDir(t)
	r = &DurableRedis{URL: "unix://" + filepath.Join(dir, "redis.sock"), t: t, program: program, dir: dir}
	r.Start()
	t.Cleanup(r.Kill)
	return r, true
}

// Start starts the server with what lies in its directory.
func (r *DurableRedis) Start() {
	r.t.Helper()
	server, err := startChild(syscall.SIGKILL, nil, r.dir, r.program, "--port", "0", "--unixsocket", filepath.Join(r.dir, "redis.sock"),
		"--save", "", "--appendonly", "yes", "--appendfsync", "everysec", "--dir", r.dir)
	if err != nil {
		r.t.Fatal(err)
	}
	r.server = server
	options, err := redis.ParseURL(r.URL)
	if err != nil {
		r.t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	if err := server.await(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.t.Context()), time.Second)
		defer cancel()
		return client.Ping(ctx).Err()
	}); err != nil {
		r.t.Fatal(err)
	}
}

// Kill ends the server as kill -9 does.
func (r *DurableRedis) Kill() { r.server.stop(syscall.SIGKILL) }

// Wipe takes away what a killed server had.
func (r *DurableRedis) Wipe() {
	r.t.Helper()
	if err := os.RemoveAll(filepath.Join(r.dir, "appendonlydir")); err != nil {
		r.t.Fatal(err)
	}
}
