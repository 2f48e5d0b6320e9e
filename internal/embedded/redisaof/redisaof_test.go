package redisaof_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dateline/internal/embedded/redisaof"
	"dateline/internal/testing/enginetest"
)

func TestRepair_CutsAnywhere(t *testing.T) {
	t.Parallel()
	before := command("SELECT", "0") + command("SET", "a", "1") + "#TS:1669766400\r\n" +
		command("MULTI") + command("INCR", "b") + command("EXEC")
	transaction := command("multi") + command("HINCRBY", "page", "v", "7") + command("SET", strings.Repeat("k", 200),
		"a\r\n*1\r\n$4\r\nEXEC\r\n") + command("EXEC")
	for cut := range transaction {
		dir, path := logFolder(t, before+transaction[:cut])
		if err := redisaof.Repair(dir); err != nil {
			t.Fatal(err)
		}
		want := before
		if cut < len(command("multi")) { // Redis cuts off an incomplete command itself
			want += transaction[:cut]
		}
		if got := read(t, path); got != want {
			t.Fatalf("cut at %d: %d bytes are left, want %d", cut, len(got), len(want))
		}
	}
}

func TestRepair_LeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	for name, log := range map[string]string{
		"empty":                   "",
		"complete":                command("MULTI") + command("INCR", "b") + command("EXEC"),
		"remains of an old crash": command("MULTI") + command("MULTI") + command("INCR", "b") + command("EXEC"),
		"incomplete command":      command("SET", "a", "1")[:9],
		"damaged":                 command("MULTI") + "\x00\x00\x00" + command("EXEC"),
		"damaged number":          command("MULTI") + "*x\r\n",
		"negative length":         command("MULTI") + "*1\r\n$-5\r\nMULTI\r\n",
		"no line":                 command("MULTI") + strings.Repeat("0", 2<<20),
	} {
		dir, path := logFolder(t, log)
		if err := redisaof.Repair(dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := read(t, path); got != log {
			t.Errorf("%s: %q is left of %q", name, got, log)
		}
	}
	if err := redisaof.Repair(t.TempDir()); err != nil {
		t.Errorf("without data: %v", err)
	}
}

func TestRepair_RemainsOfSeveralCrashes(t *testing.T) {
	t.Parallel()
	want := command("SET", "a", "1")
	dir, path := logFolder(t, want+command("MULTI")+command("INCR", "b")+command("MULTI")+command("INCR", "c"))
	if err := redisaof.Repair(dir); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != want {
		t.Errorf("%q is left, want %q", got, want)
	}
}

// Without Repair, the second start counts the cut-off script: 2 instead of 1.
func TestRepair_CutOffScriptHasNoEffect(t *testing.T) {
	t.Parallel()
	server := enginetest.NewDurableRedis(t, "always")
	client := enginetest.RedisClient(t, server.URL)
	count := func() {
		t.Helper()
		if err := client.Eval(t.Context(), `redis.call('INCR', KEYS[1]) return redis.call('SET', 'done', ARGV[1])`,
			[]string{"n"}, strings.Repeat("x", 100)).Err(); err != nil {
			t.Fatal(err)
		}
	}
	count()
	server.Kill()
	server.CutLog(t, 50) // within SET
	server.Start()
	count() // was not acknowledged, so that it is repeated
	server.Kill()
	server.Start()
	if got, err := client.Get(t.Context(), "n").Int(); err != nil || got != 1 {
		t.Errorf("%d (%v) after the second start, want 1", got, err)
	}
}

func command(args ...string) string {
	text := fmt.Sprintf("*%d\r\n", len(args))
	for _, a := range args {
		text += fmt.Sprintf("$%d\r\n%s\r\n", len(a), a)
	}
	return text
}

// logFolder returns a folder with an append-only file and the path of its last part.
func logFolder(t *testing.T, log string) (dir, path string) {
	t.Helper()
	dir = t.TempDir()
	path = filepath.Join(dir, "appendonlydir", "appendonly.aof.2.incr.aof")
	manifest := "file appendonly.aof.1.base.rdb seq 1 type b\nfile appendonly.aof.1.incr.aof seq 1 type i\n" +
		"file appendonly.aof.2.incr.aof seq 2 type i\n"
	write(t, filepath.Join(dir, "appendonlydir", "appendonly.aof.manifest"), manifest)
	write(t, path, log)
	return dir, path
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
