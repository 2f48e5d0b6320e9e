package enginetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A fake npm that fails, hangs or works, as the first lines of its log say.
const brokenNPM = `#!/bin/sh
echo "$npm_config_cache" > "$TEST_DIR/cache"
echo x >> "$TEST_DIR/attempts"
case $(wc -l < "$TEST_DIR/attempts") in
1) echo "network timeout" >&2; exit 1 ;;
2) exec sleep 60 ;;
esac
mkdir -p node_modules
`

// An install survives a registry that does not respond and an npm that hangs, and
// writes everything below one folder.
func TestPackages_InstallSurvivesFailures(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	t.Setenv("TEST_DIR", dir)
	t.Setenv("DATELINE_TEST_CACHE", cache)
	for name, text := range map[string]string{
		"npm": brokenNPM, "package.json": "{}", "package-lock.json": "{}",
		".npmrc": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	i := install{
		npm: filepath.Join(dir, "npm"), dir: dir, attempts: 2, pause: time.Millisecond, limit: 2 * time.Second,
		log: t.Logf,
	}
	if _, err := i.run(t.Context()); err == nil || !strings.Contains(err.Error(), "attempt 2 of 2") {
		t.Errorf("two failures and two attempts: got %v, want an error", err)
	}
	for range 2 { // the second time nothing is installed
		got, err := i.run(t.Context())
		if err != nil || filepath.Dir(got) != cache {
			t.Fatalf("got %q, %v, want a folder in %s", got, err, cache)
		}
		if _, err := os.Stat(filepath.Join(got, "node_modules")); err != nil {
			t.Error(err)
		}
	}
	attempts, err := os.ReadFile(filepath.Join(dir, "attempts"))
	if err != nil || len(attempts) != 2*3 {
		t.Errorf("got %d runs of npm (%v), want 3", len(attempts)/2, err)
	}
	used, err := os.ReadFile(filepath.Join(dir, "cache"))
	if err != nil || !strings.HasPrefix(string(used), cache) {
		t.Errorf("npm caches in %q (%v), want a folder in %s", used, err, cache)
	}
}
