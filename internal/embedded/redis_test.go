package embedded

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// external configures every engine but Redis, so that nothing else starts.
var external = []string{"DATABASE_URL=postgres://u@127.0.0.1:1/d", "TEMPORAL_ADDRESS=127.0.0.1:1", "S3_ENDPOINT=http://127.0.0.1:1"}

func TestRedisStandIn(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	data := filepath.Join(publicDir(t), "data")
	p := mustStartUp(t, os.Getuid(), append(external, "DATELINE_DATA_DIR="+data, hideVariable+"=redis-server,valkey-server", "DATELINE_REDIS_PORT="+port)...)
	if len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "neither redis-server nor valkey-server is installed") ||
		!strings.Contains(p.Warnings[0], "do not survive a stop") {
		t.Errorf("warnings: %q", p.Warnings)
	}
	if len(p.Children) != 0 || p.Engines.DatabaseURL != "postgres://u@127.0.0.1:1/d" {
		t.Errorf("external engines: %+v %v", p.Engines, p.Children)
	}
	options, err := redis.ParseURL(p.Engines.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(options.Addr, ":"+port) || options.Password == "" {
		t.Errorf("address %s, password %q", options.Addr, options.Password)
	}
	store := redis.NewClient(options)
	defer store.Close()
	if err := store.Set(t.Context(), "short", "x", 500*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(5 * time.Second); !errors.Is(store.Get(t.Context(), "short").Err(), redis.Nil); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a key with a time to live does not expire")
		}
	}
	p.end(t, syscall.SIGTERM)
}
