package webhook_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dateline/internal/identity/secret"
	"dateline/internal/notify/webhook"
	"dateline/internal/testing/enginetest"
)

// pythonLibrary is the specification's library for Python.
const pythonLibrary = "standardwebhooks==1.1.0"

// The libraries for Go and JavaScript verify real deliveries in worker/webhook_test.go and
// web/browser/client.test.ts.
func TestSign_IsVerifiedByTheLibraryForPython(t *testing.T) {
	t.Parallel()
	enginetest.NeedEngines(t)
	library := installPython(t)
	body, signing := `{"type":"post.posted","data":{"title":"Giá vàng"}}`, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	h := http.Header{}
	if err := webhook.Sign(h, []secret.Text{
		secret.NewText("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"),
		secret.NewText(signing),
	}, "msg_1", time.Now(), body); err != nil {
		t.Fatal(err)
	}
	headers := map[string]string{}
	for name := range h {
		headers[strings.ToLower(name)] = h.Get(name)
	}
	in, err := json.Marshal(map[string]any{"secret": signing, "body": body, "headers": headers})
	if err != nil {
		t.Fatal(err)
	}
	verify := exec.CommandContext(t.Context(), "python3", filepath.Join("testdata", "verify.py"))
	verify.Env, verify.Stdin = append(os.Environ(), "PYTHONPATH="+library), bytes.NewReader(in)
	out, err := verify.CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "post.posted" {
		t.Errorf("got %q, %v; want post.posted", got, err)
	}
}

// installPython installs the library once into the cache of the tests, and returns its
// folder.
func installPython(t *testing.T) string {
	t.Helper()
	if err := exec.CommandContext(t.Context(), "python3", "-c", "import pip").Run(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI=true and no Python with pip: install them (on Debian: apt-get install python3-pip): %v", err)
		}
		t.Skipf("Python with pip is not installed: %v", err)
	}
	cache, err := enginetest.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	final := filepath.Join(cache, "python-"+pythonLibrary)
	if _, err := os.Stat(final); err == nil {
		return final
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	// Installed beside it and renamed, so that an interrupted install leaves nothing that
	// looks complete.
	aside, err := os.MkdirTemp(cache, "python-")
	if err != nil {
		t.Fatal(err)
	}
	install := exec.CommandContext(t.Context(), "python3", "-m", "pip", "install", "--quiet",
		"--disable-pip-version-check", "--no-deps", "--target", aside, pythonLibrary)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(install.Args, " "), err, out)
	}
	if err := os.Rename(aside, final); err != nil && !errors.Is(err, os.ErrExist) {
		return aside // another process was faster
	}
	return final
}
