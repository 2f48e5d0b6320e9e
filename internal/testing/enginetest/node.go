package enginetest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dateline/internal/infra/retry"
)

// Node starts a Node.js server for the duration of the test and returns the content of
// the file options["ready"], a path that is added here, once the server has written it.
// dir contains server.mjs, package.json, package-lock.json and .npmrc; its packages are
// installed once into the user's cache, outside the repository. The server gets its
// options as JSON.
func Node(t testing.TB, dir string, options map[string]any) string {
	t.Helper()
	installed := Packages(t, dir)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal(err)
	}
	home := shortTempDir(t)
	ready := filepath.Join(home, "ready")
	options["ready"] = ready
	raw, err := json.Marshal(options)
	if err != nil {
		t.Fatal(err)
	}
	server, err := startChild(syscall.SIGKILL, nil, home, node, filepath.Join(installed, "server.mjs"), string(raw))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.stop(syscall.SIGKILL) })
	var said []byte
	if err := server.await(func() error {
		said, err = os.ReadFile(ready)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return string(said)
}

// Packages returns a copy of dir, which contains package.json, package-lock.json and
// .npmrc, with these packages installed (node_modules). Install scripts do not run,
// except for the packages named in rebuild, whose native parts are downloaded or
// compiled.
//
// Everything is stored below CacheDir: the copies, npm's downloads, and what compilers
// need. An interrupted install resumes from there.
func Packages(t testing.TB, dir string, rebuild ...string) string {
	t.Helper()
	NeedEngines(t)
	_, errNode := exec.LookPath("node")
	npm, errNPM := exec.LookPath("npm")
	if err := errors.Join(errNode, errNPM); err != nil {
		if strict() {
			t.Fatalf("CI=true and no Node.js: install it (on Debian: apt-get install nodejs npm): %v", err)
		}
		t.Skipf("%s is skipped, because Node.js is not installed: %v", dir, err)
	}
	i := install{
		npm: npm, dir: dir, rebuild: rebuild, attempts: 4, pause: 10 * time.Second, limit: 15 * time.Minute,
		log: t.Logf,
	}
	installed, err := i.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return installed
}

// CacheDir is where installed packages stay between runs: DATELINE_TEST_CACHE,
// or dateline-test in the user's cache.
func CacheDir() (string, error) {
	if dir := os.Getenv("DATELINE_TEST_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no folder for npm packages; set DATELINE_TEST_CACHE: %w", err)
	}
	return filepath.Join(cache, "dateline-test"), nil
}

// install is one set of packages to install.
type install struct {
	npm, dir string
	rebuild  []string
	attempts int
	pause    time.Duration // between two attempts
	limit    time.Duration // of one attempt
	log      func(format string, args ...any)
}

// run returns a copy of dir with node_modules, created once per content by the first
// process.
func (i install) run(ctx context.Context) (string, error) {
	files, name, err := i.files(ctx)
	if err != nil {
		return "", err
	}
	cache, err := CacheDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	lock, err := os.OpenFile(filepath.Join(cache, name+".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return "", err
	}
	defer func() { _ = lock.Close() }()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	final := filepath.Join(cache, name)
	if _, err := os.Stat(final); !errors.Is(err, fs.ErrNotExist) {
		return final, err
	}
	// Install beside it and rename, so that an interrupted install leaves nothing that
	// looks complete.
	aside := final + ".new"
	if err := errors.Join(os.RemoveAll(aside), os.MkdirAll(aside, 0o700)); err != nil {
		return "", err
	}
	for name, raw := range files {
		if err := os.WriteFile(filepath.Join(aside, name), raw, 0o600); err != nil {
			return "", err
		}
	}
	i.log("installing the packages of %s (once)", i.dir)
	if err := i.repeat(ctx, cache, aside, lock, "ci", "--ignore-scripts", "--no-audit", "--no-fund",
		"--prefer-offline"); err != nil {
		return "", err
	}
	if len(i.rebuild) > 0 {
		if err := i.repeat(ctx, cache, aside, lock, append([]string{"rebuild"}, i.rebuild...)...); err != nil {
			return "", err
		}
	}
	return final, os.Rename(aside, final)
}

// files reads the files that belong to the packages and returns a name of the copy that
// depends on them.
func (i install) files(ctx context.Context) (files map[string][]byte, name string, err error) {
	sum := sha256.New()
	files = map[string][]byte{}
	for _, name := range []string{"server.mjs", "package.json", "package-lock.json", ".npmrc"} {
		raw, err := os.ReadFile(filepath.Join(i.dir, name))
		if name == "server.mjs" && errors.Is(err, fs.ErrNotExist) {
			continue // regular files only
		}
		if err != nil {
			return nil, "", err
		}
		files[name] = raw
		_, _ = fmt.Fprintf(sum, "%s %d %s", name, len(raw), raw) // a hash never fails to write
	}
	if len(i.rebuild) > 0 { // compiled parts work with one version of Node.js only
		version, err := exec.CommandContext(ctx, "node", "--version").Output()
		if err != nil {
			return nil, "", fmt.Errorf("ask node for its version: %w", err)
		}
		_, _ = sum.Write(version)
	}
	return files, filepath.Base(i.dir) + "-" + hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// repeat runs npm until it succeeds. Registries and mirrors time out now and
// then; npm's own retries cover single requests only.
func (i install) repeat(ctx context.Context, cache, dir string, lock *os.File, args ...string) error {
	for attempt := 1; ; attempt++ {
		out, err := i.once(ctx, cache, dir, lock, args...)
		if err == nil {
			return nil
		}
		err = fmt.Errorf("npm %s in %s, attempt %d of %d: %w\n%s", strings.Join(args, " "), i.dir, attempt, i.attempts,
			err, strings.TrimSpace(string(out)))
		if attempt == i.attempts || ctx.Err() != nil {
			return err
		}
		i.log("%v; trying again in %s", err, i.pause)
		if retry.Sleep(ctx, i.pause) != nil {
			return err
		}
	}
}

func (i install) once(ctx context.Context, cache, dir string, lock *os.File, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, i.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, i.npm, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "npm_config_cache="+filepath.Join(cache, "npm"),
		"npm_config_devdir="+filepath.Join(cache, "node-gyp"),
		"npm_config_fetch_retries=5", "npm_config_fetch_retry_mintimeout=2000",
		"npm_config_fetch_retry_maxtimeout=60000", "npm_config_fetch_timeout=300000")
	cmd.ExtraFiles = []*os.File{lock} // npm holds the lock, even if this process ends first
	cmd.WaitDelay = 10 * time.Second  // for children of npm that keep its output open
	return cmd.CombinedOutput()
}
