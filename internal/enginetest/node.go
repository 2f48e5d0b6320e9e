package enginetest

import (
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
)

// Node starts a server that is written for Node.js, for as long as the test
// runs, and gives what it writes into the file options["ready"], a path that is
// added here, when it is ready. dir holds server.mjs, package.json,
// package-lock.json and .npmrc; what they need is installed once into the
// user's cache, outside the repository. The server gets its options as JSON.
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

// Packages gives a copy of dir, which holds package.json, package-lock.json and
// .npmrc, in which these packages are installed (node_modules).
func Packages(t testing.TB, dir string) string {
	t.Helper()
	_, errNode := exec.LookPath("node")
	npm, errNPM := exec.LookPath("npm")
	if err := errors.Join(errNode, errNPM); err != nil {
		if strict() {
			t.Fatalf("CI=true and no Node.js: install it (on Debian: apt-get install nodejs npm): %v", err)
		}
		t.Skipf("%s was left out, because Node.js is not installed: %v", dir, err)
	}
	installed, err := npmInstall(npm, dir)
	if err != nil {
		t.Fatal(err)
	}
	return installed
}

// npmInstall gives a copy of dir with node_modules, made once for its content
// by whichever process is first.
func npmInstall(npm, dir string) (string, error) {
	names := []string{"server.mjs", "package.json", "package-lock.json", ".npmrc"}
	sum := sha256.New()
	files := map[string][]byte{}
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if name == "server.mjs" && errors.Is(err, fs.ErrNotExist) {
			continue // data alone
		}
		if err != nil {
			return "", err
		}
		files[name] = raw
		_, _ = fmt.Fprintf(sum, "%s %d %s", name, len(raw), raw) // a hash takes all
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for what npm installs: %w", err)
	}
	cache = filepath.Join(cache, "dateline-test")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return "", err
	}
	name := filepath.Base(dir) + "-" + hex.EncodeToString(sum.Sum(nil))[:16]
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
	// Aside and renamed, so that an install that broke off leaves nothing that
	// looks whole.
	aside := final + ".new"
	if err := errors.Join(os.RemoveAll(aside), os.MkdirAll(aside, 0o700)); err != nil {
		return "", err
	}
	for name, raw := range files {
		if err := os.WriteFile(filepath.Join(aside, name), raw, 0o600); err != nil {
			return "", err
		}
	}
	install := exec.Command(npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = aside
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci in %s: %w\n%s", dir, err, strings.TrimSpace(string(out)))
	}
	return final, os.Rename(aside, final)
}
