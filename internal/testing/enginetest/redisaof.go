package enginetest

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"dateline/internal/embedded/redisaof"
)

// DurableRedis is a Redis with an append-only file that can be killed and restarted.
type DurableRedis struct {
	URL string

	t      testing.TB
	args   []string
	dir    string
	server *child
}

// NewDurableRedis starts a Redis; fsync is its appendfsync.
func NewDurableRedis(t testing.TB, fsync string) *DurableRedis {
	t.Helper()
	NeedEngines(t)
	program := RedisProgram(t)
	dir := memoryDir(t)
	socket := filepath.Join(dir, "redis.sock")
	r := &DurableRedis{
		URL: "unix://" + socket, t: t, dir: dir,
		args: []string{
			program, "--port", "0", "--unixsocket", socket,
			"--save", "", "--appendonly", "yes", "--appendfsync", fsync, "--dir", dir,
		},
	}
	r.Start()
	t.Cleanup(func() { r.server.stop(syscall.SIGKILL) })
	return r
}

// memoryDir is a directory in memory if there is one. On a slow disk, Redis with
// appendfsync everysec delays writes for up to two seconds (aof.c,
// flushAppendOnlyFile), which a crash loses, so a test cannot rely on the disk.
func memoryDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "dateline-")
	if err != nil {
		return shortTempDir(t)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Start restarts it after Kill.
func (r *DurableRedis) Start() {
	r.t.Helper()
	if err := redisaof.Repair(r.dir); err != nil {
		r.t.Fatal(err)
	}
	server, err := startChild(syscall.SIGKILL, nil, r.dir, r.args[0], r.args[1:]...)
	if err != nil {
		r.t.Fatal(err)
	}
	r.server = server
	client := RedisClient(r.t, r.URL)
	if err := server.await(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return client.Ping(ctx).Err() // LOADING is an error
	}); err != nil {
		r.t.Fatal(err)
	}
}

// Kill ends it as a crash does.
func (r *DurableRedis) Kill() { r.server.stop(syscall.SIGKILL) }

// CutLog removes n bytes from the end of the append-only file of a killed server, as if
// the crash had interrupted the write.
func (r *DurableRedis) CutLog(t testing.TB, n int64) {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(r.dir, "appendonlydir", "*.incr.aof"))
	if err != nil || len(parts) != 1 {
		t.Fatalf("%d parts of the append-only file (%v), want 1", len(parts), err)
	}
	file, err := os.Stat(parts[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(parts[0], file.Size()-n); err != nil {
		t.Fatal(err)
	}
}

// Wipe deletes the data of a killed server.
func (r *DurableRedis) Wipe() {
	r.t.Helper()
	if err := os.RemoveAll(filepath.Join(r.dir, "appendonlydir")); err != nil {
		r.t.Fatal(err)
	}
}
