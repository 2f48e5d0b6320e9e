package enginetest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// RemoteChromium starts a headless browser for the duration of the test and returns the
// address of its Chrome DevTools Protocol.
func RemoteChromium(t testing.TB) string {
	t.Helper()
	program := findChromium(t)
	home := shortTempDir(t)
	// Containers lack what the browser's sandbox needs, and root may not have one.
	// Tests open only their own pages.
	browser, err := startChild(syscall.SIGKILL, nil, home, program, "--headless=new", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage",
		"--no-first-run", "--remote-debugging-port=0", "--user-data-dir="+home, "about:blank")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { browser.stop(syscall.SIGTERM) })
	port := ""
	if err := browser.await(func() error {
		raw, err := os.ReadFile(filepath.Join(home, "DevToolsActivePort"))
		if err != nil {
			return err
		}
		var more bool
		if port, _, more = strings.Cut(string(raw), "\n"); !more {
			return fmt.Errorf("the port is not written yet: %q", raw)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return "http://127.0.0.1:" + port
}

// findChromium returns the browser's program. Without one the test fails in CI and is
// skipped elsewhere.
func findChromium(t testing.TB) string {
	t.Helper()
	NeedEngines(t)
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "headless_shell"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if strict() {
		t.Fatal("CI=true and no Chromium: install it (on Debian: apt-get install chromium)")
	}
	t.Skip("Chromium is not installed; browser tests are skipped")
	return ""
}
