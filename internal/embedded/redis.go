package embedded

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/embedded/redisaof"
)

// startRedis runs redis-server or valkey-server.
func (h *Host) startRedis(ctx context.Context) (engine, error) {
	password, err := h.secret("redis")
	if err != nil {
		return engine{}, err
	}
	dir := h.path("redis")
	conf := h.path("redis", "redis.conf")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return engine{}, err
	}
	if err := stopOrphans(conf, syscall.SIGTERM, 10*time.Second, "redis-server", "valkey-server"); err != nil {
		return engine{}, fmt.Errorf("redis: %w", err)
	}
	c, port, err := h.startOnPort(ctx, h.cfg.RedisPort, func(port int) (childSpec, error) {
		// The password is passed in a file: every user can read command lines.
		if err := os.WriteFile(conf, []byte(redisConf(dir, password, port)), 0o600); err != nil {
			return childSpec{}, err
		}
		return childSpec{
			name: "redis", path: h.redis, args: []string{conf}, dir: dir,
			stopSignal: syscall.SIGTERM, grace: 15 * time.Second,
			prepare: func() error { return redisaof.Repair(dir) },
			ready:   func(ctx context.Context) error { return pingRedis(ctx, port, password) },
		}, nil
	})
	if err != nil {
		return engine{}, err
	}
	return engine{
		name: "redis", child: c,
		fill: func(e *Engines) { e.RedisURL = redisURL(net.JoinHostPort(loopback, strconv.Itoa(port)), password) },
	}, nil
}

// redisConf limits the loss in a crash to a second of counts (appendfsync everysec),
// and returns errors if memory is full instead of evicting counts (noeviction). The
// process title keeps the arguments, which identify an orphan.
func redisConf(dir, password string, port int) string {
	return strings.Join([]string{
		"bind " + loopback,
		"port " + strconv.Itoa(port),
		"dir " + strconv.Quote(dir),
		"requirepass " + password,
		"appendonly yes",
		"appendfsync everysec",
		"lazyfree-lazy-expire yes", // an hour of visits is one large key
		`save ""`,
		"maxmemory-policy noeviction",
		"daemonize no",
		"set-proc-title no",
		"",
	}, "\n")
}

func redisURL(addr, password string) string {
	u := url.URL{Scheme: "redis", User: url.UserPassword("", password), Host: addr, Path: "/0"}
	return u.String()
}

func pingRedis(ctx context.Context, port int, password string) error {
	client := redis.NewClient(&redis.Options{
		Addr: net.JoinHostPort(loopback, strconv.Itoa(port)), Password: password,
		MaxRetries: -1, DisableIdentity: true,
	})
	defer func() { _ = client.Close() }()
	return client.Ping(ctx).Err()
}
