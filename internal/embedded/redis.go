package embedded

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// oldestRedis is the oldest major version that Dateline supports.
const oldestRedis = 7

// startRedis runs redis-server or valkey-server, or else an in-memory server in this
// process.
func (h *Host) startRedis(ctx context.Context) (engine, error) {
	password, err := h.secret("redis")
	if err != nil {
		return engine{}, err
	}
	program, why := h.findRedis(ctx)
	if program == "" {
		return h.startMiniredis(password, why)
	}
	dir := h.path("redis")
	conf := h.path("redis", "redis.conf")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return engine{}, err
	}
	if err := stopOrphan(h.path("run", "redis.pid"), conf, syscall.SIGTERM, 10*time.Second); err != nil {
		return engine{}, fmt.Errorf("redis: %w", err)
	}
	c, port, err := h.startOnPort(ctx, h.cfg.RedisPort, func(port int) (childSpec, error) {
		// The password is passed in a file: every user can read command lines.
		if err := os.WriteFile(conf, []byte(redisConf(dir, password, port)), 0o600); err != nil {
			return childSpec{}, err
		}
		return childSpec{name: "redis", path: program, args: []string{conf}, dir: dir,
			stopSignal: syscall.SIGTERM, grace: 15 * time.Second,
			ready: func(ctx context.Context) error { return pingRedis(ctx, port, password) }}, nil
	})
	if err != nil {
		return engine{}, err
	}
	return engine{
		name: "redis", child: c,
		fill: func(e *Engines) { e.RedisURL = redisURL(net.JoinHostPort(loopback, strconv.Itoa(port)), password) },
	}, nil
}

// findRedis returns the path of a server that is new enough, or the reason that there
// is none.
func (h *Host) findRedis(ctx context.Context) (path, why string) {
	why = "neither redis-server nor valkey-server is installed"
	for _, name := range []string{"redis-server", "valkey-server"} {
		path, err := h.lookup.program(name)
		if err != nil {
			continue
		}
		out, err := exec.CommandContext(ctx, path, "--version").Output()
		match := regexp.MustCompile(`v=(\d+)`).FindSubmatch(out)
		if err != nil || match == nil {
			continue
		}
		if major, _ := strconv.Atoi(string(match[1])); major < oldestRedis {
			why = fmt.Sprintf("%s is version %d, and %d or newer is needed", path, major, oldestRedis)
			continue
		}
		return path, ""
	}
	return "", why
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
	client := redis.NewClient(&redis.Options{Addr: net.JoinHostPort(loopback, strconv.Itoa(port)), Password: password,
		MaxRetries: -1, DisableIdentity: true})
	defer func() { _ = client.Close() }()
	return client.Ping(ctx).Err()
}

// startMiniredis runs an in-memory server in this process.
func (h *Host) startMiniredis(password, why string) (engine, error) {
	server := miniredis.NewMiniRedis()
	server.RequireAuth(password)
	var err error
	for range 3 {
		var port int
		if port, err = h.ports.pick(h.cfg.RedisPort); err != nil {
			return engine{}, err
		}
		if err = server.StartAddr(net.JoinHostPort(loopback, strconv.Itoa(port))); err == nil {
			break
		}
	}
	if err != nil {
		return engine{}, fmt.Errorf("start the Redis stand-in: %w", err)
	}
	stopped := make(chan struct{})
	go agePeriodically(server, stopped)
	return engine{
		name: "redis",
		fill: func(e *Engines) {
			e.RedisURL = redisURL(server.Addr(), password)
			e.Warnings = append(e.Warnings, "Redis is a stand-in in memory ("+why+"): counts since the last flush do not survive a stop."+
				" Install redis-server, or set REDIS_URL, before counting for real.")
		},
		stop: func(context.Context) error {
			close(stopped)
			server.Close()
			return nil
		},
	}, nil
}

// agePeriodically makes keys expire: miniredis does not advance time by itself.
func agePeriodically(server *miniredis.Miniredis, stopped <-chan struct{}) {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-stopped:
			return
		case <-ticker.C:
			now := time.Now()
			server.FastForward(now.Sub(last))
			last = now
		}
	}
}
