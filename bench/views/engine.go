package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"dateline/internal/embedded/programs"
)

// engine is the benchmark's Redis, with an append-only file as in `dateline
// up`.
type engine struct {
	*redis.Client
	server *exec.Cmd
	dir    string
}

// startEngine starts a program, or the installed or fetched one if it is "".
func startEngine(ctx context.Context, program string) (*engine, error) {
	dir, err := os.MkdirTemp("", "dateline-bench-")
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	_ = l.Close()
	_, port, _ := net.SplitHostPort(addr)
	if program == "" {
		if program, err = (programs.Finder{}).Redis(ctx, ""); err != nil {
			return nil, err
		}
	}
	e := &engine{dir: dir, server: exec.CommandContext(ctx, program, "--port", port, "--bind", "127.0.0.1", "--save",
		"",
		"--appendonly", "yes", "--appendfsync", "everysec", "--auto-aof-rewrite-percentage", "0",
		"--lazyfree-lazy-expire", "yes", "--dir", dir)}
	if err := e.server.Start(); err != nil {
		return nil, fmt.Errorf("start Redis: %w", err)
	}
	e.Client = redis.NewClient(&redis.Options{Addr: addr, PoolSize: 128})
	for range 500 {
		if err = e.Ping(ctx).Err(); err == nil {
			return e, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	e.stop()
	return nil, fmt.Errorf("the Redis server does not respond: %w", err)
}

func (e *engine) stop() {
	_ = e.Close()
	_ = e.server.Process.Kill()
	_ = e.server.Wait()
	_ = os.RemoveAll(e.dir)
}

// info returns a number of Redis' INFO.
func (e *engine) info(ctx context.Context, section, name string) (float64, error) {
	text, err := e.infoText(ctx, section, name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(text, 64)
}

func (e *engine) infoText(ctx context.Context, section, name string) (string, error) {
	text, err := e.Info(ctx, section).Result()
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+":"); ok {
			return value, nil
		}
	}
	return "", fmt.Errorf("INFO has no %s", name)
}

// version returns the name and version of the server.
func (e *engine) version(ctx context.Context) (string, error) {
	if version, err := e.infoText(ctx, "server", "valkey_version"); err == nil {
		return "Valkey " + version, nil
	}
	version, err := e.infoText(ctx, "server", "redis_version")
	return "Redis " + version, err
}
