package embedded

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"dateline/internal/infra/config"
)

// standin copies a tiny module that is built instead of temporald.
func standin(t *testing.T, dir string) string {
	t.Helper()
	if err := os.CopyFS(filepath.Join(dir, "temporald"), os.DirFS("testdata/standin")); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "temporald")
}

func output(t *testing.T, program string) string {
	t.Helper()
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestBuildTemporald(t *testing.T) {
	dir := t.TempDir()
	source, out := standin(t, dir), filepath.Join(dir, "bin", "temporald")
	// Packages that are not in the build cache yet, so that there is more than a tenth
	// to compile.
	imports := "package words\n\n"
	for i := range 20 {
		name := fmt.Sprintf("fresh%d", i)
		imports += "import _ \"standin/" + name + "\"\n"
		fill(t, source, map[string]string{name + "/fresh.go": "package " + name + "\n\nconst fresh = \"" + rand.Text() + "\"\n"})
	}
	fill(t, source, map[string]string{"words/fresh.go": imports})
	var wg sync.WaitGroup
	texts := make([]bytes.Buffer, 2)
	for i := range texts { // Two starts at the same time build once.
		wg.Go(func() {
			if err := BuildTemporald(t.Context(), source, out, &texts[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	both := texts[0].String() + texts[1].String()
	if strings.Count(both, "(once, takes a few minutes)") != 1 || !strings.Contains(both, "compiling: ") || !strings.Contains(both, "the Temporal server is built") {
		t.Errorf("progress:\n%s", both)
	}
	if output(t, out) != "standin ready" {
		t.Error("the program is not the built one")
	}
	built, err := os.Stat(out)
	if err != nil {
		t.Fatal(err)
	}

	var text bytes.Buffer
	if err := BuildTemporald(t.Context(), source, out, &text); err != nil || text.Len() != 0 {
		t.Errorf("the same source again: %v %q", err, &text)
	}
	if again, err := os.Stat(out); err != nil || !again.ModTime().Equal(built.ModTime()) {
		t.Errorf("the same source was built again: %v", err)
	}

	fill(t, source, map[string]string{"words/words.go": "package words\n\nconst Ready = \"changed\"\n"})
	if err := BuildTemporald(t.Context(), source, out, &text); err != nil || output(t, out) != "changed" {
		t.Errorf("changed source: %v", err)
	}

	fill(t, source, map[string]string{"words/words.go": "package words\n\nconst Ready = 1 +\n"})
	if err := BuildTemporald(t.Context(), source, out, &text); err == nil || !strings.Contains(err.Error(), "words.go:4:1") {
		t.Errorf("broken source: %v", err)
	}
	if output(t, out) != "changed" {
		t.Error("a failed build must leave the old program")
	}

	t.Setenv("PATH", "/nonexistent")
	if err := BuildTemporald(t.Context(), source, out, &text); err == nil || !strings.Contains(err.Error(), "install Go (https://go.dev/dl)") {
		t.Errorf("without Go: %v", err)
	}
}

func TestFindTemporal(t *testing.T) {
	nothing := func(string) (string, error) { return "", fs.ErrNotExist }
	host := func(t *testing.T, dirs ...string) *Host {
		h := testHost(t)
		h.cfg = &config.Config{}
		h.lookup = lookup{program: nothing, sourceDirs: func() []string { return dirs }}
		return h
	}
	script := "#!/bin/sh\necho found\n"
	program := func(t *testing.T, path string) string {
		fill(t, filepath.Dir(path), map[string]string{filepath.Base(path): script})
		for _, p := range []string{path, filepath.Dir(path)} {
			if err := os.Chmod(p, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		return path
	}

	t.Run("the official CLI first", func(t *testing.T) {
		h := host(t)
		path := program(t, filepath.Join(publicDir(t), "temporal"))
		h.lookup.program = func(name string) (string, error) {
			if name == "temporal" {
				return path, nil
			}
			return "", fs.ErrNotExist
		}
		p, err := h.findTemporal(t.Context(), os.Stderr)
		if err != nil || p.path != path || !p.cli {
			t.Fatalf("%+v %v", p, err)
		}
		if args := strings.Join(p.args("/d/t.db", 7233, 8233, "default", attributes), " "); args != "server start-dev --db-filename /d/t.db --ip 127.0.0.1 --port 7233"+
			" --ui-port 8233 --namespace default --log-level warn --search-attribute AccountID=Keyword --search-attribute Domain=Keyword"+
			" --search-attribute Platform=Keyword --search-attribute PostStatus=Keyword --search-attribute PublishAt=Datetime" {
			t.Errorf("args: %s", args)
		}
	})
	t.Run("a built program beside its source, if it is of that source", func(t *testing.T) {
		dir := publicDir(t)
		source := standin(t, dir)
		path := program(t, filepath.Join(dir, "bin", "temporald"))
		stamp, err := sourceStamp(source)
		if err != nil {
			t.Fatal(err)
		}
		if err := writeStamp(path, stamp); err != nil {
			t.Fatal(err)
		}
		if p, err := host(t, dir).findTemporal(t.Context(), os.Stderr); err != nil || p.path != path {
			t.Errorf("fresh: %+v %v", p, err)
		}
		if err := writeStamp(path, "older"); err != nil {
			t.Fatal(err)
		}
		h := host(t, dir)
		var text bytes.Buffer
		p, err := h.findTemporal(t.Context(), &text)
		if err != nil || p.path != h.path("bin", "temporald") || output(t, p.path) != "standin ready" {
			t.Errorf("stale: %+v %v\n%s", p, err, &text)
		}
		text.Reset()
		if again, err := h.findTemporal(t.Context(), &text); err != nil || again != p || text.Len() != 0 {
			t.Errorf("second time: %+v %v %s", again, err, &text)
		}
	})
	t.Run("a program without source, copied where only root can run it", func(t *testing.T) {
		dir := publicDir(t)
		path := program(t, filepath.Join(dir, "bin", "temporald"))
		if p, err := host(t, dir).findTemporal(t.Context(), os.Stderr); err != nil || p.path != path {
			t.Errorf("%+v %v", p, err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		h := host(t, dir)
		want := path
		if os.Getuid() == 0 {
			want = h.path("bin", "temporald")
		}
		if p, err := h.findTemporal(t.Context(), os.Stderr); err != nil || p.path != want || output(t, p.path) != "found" {
			t.Errorf("%+v %v", p, err)
		}
	})
	t.Run("none", func(t *testing.T) {
		if _, err := host(t, t.TempDir()).findTemporal(t.Context(), os.Stderr); err == nil || !strings.Contains(err.Error(), "set TEMPORAL_ADDRESS") {
			t.Errorf("%v", err)
		}
	})
}
