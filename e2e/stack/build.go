package stack

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dateline/internal/testing/e2etest"
	"dateline/internal/testing/enginetest"
)

// Build builds the program of a version: of this checkout or of a commit.
func Build(t testing.TB, version, ref string) string {
	t.Helper()
	source := Root(t)
	if ref != "" {
		source = Checkout(t, ref)
	}
	return BuildIn(t, version, source)
}

// BuildIn builds the program of a work tree.
func BuildIn(t testing.TB, version, source string) string {
	t.Helper()
	enginetest.NeedEngines(t)
	path := filepath.Join(e2etest.OpenDir(t), "dateline")
	cmd := exec.Command("go", "build", "-ldflags", "-s -w -X main.version="+version, "-o", path, ".")
	cmd.Dir = source
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", version, err, out)
	}
	return path
}

// Checkout creates a work tree of a commit for the duration of the test.
func Checkout(t testing.TB, ref string) (dir string) {
	t.Helper()
	root := Root(t)
	dir = filepath.Join(e2etest.OpenDir(t), "tree")
	if out, err := exec.Command("git", "-C", root, "worktree", "add", "--detach", dir, ref).
		CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Cleanup(func() { _ = exec.Command("git", "-C", root, "worktree", "remove", "--force", dir).Run() })
	return dir
}

// Root is the checkout that the tests belong to.
func Root(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}
