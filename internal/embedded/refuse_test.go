package embedded

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// snapshot reads a whole directory: names, modes, times and content.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		b.WriteString(path + info.Mode().String() + info.ModTime().String())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.Write(text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDataDir_RejectsAForeignDirectory(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"somebody's files":  {"thesis.txt": "years of work"},
		"a bare PostgreSQL": {"PG_VERSION": "15\n", "base/1/1": "x"},
		"a keyset and more": {"keyset.json": "{}", "notes/a.txt": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(publicDir(t), "data")
			fill(t, dir, files)
			before := snapshot(t, dir)
			_, err := startUp(t, os.Getuid(), append(external, "DATELINE_DATA_DIR="+dir)...)
			if err == nil || !strings.Contains(err.Error(), "is not empty and was not created by Dateline") ||
				!strings.Contains(err.Error(), "DATELINE_DATA_DIR") {
				t.Errorf("got %v", err)
			}
			if snapshot(t, dir) != before {
				t.Error("the directory was changed")
			}
		})
	}
}

func TestDataDir_RejectsAPostgresDirectory(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"not ours":   {map[string]string{"PG_VERSION": "15\n", "base/1/1": "x"}, "was not created by Dateline"},
		"no cluster": {map[string]string{"thesis.txt": "years of work"}, "was not created by Dateline"},
		"too old": {
			map[string]string{"PG_VERSION": "13\n", postgresMarker: "x"},
			"belongs to PostgreSQL 13, and Dateline needs 14 or newer",
		},
		"unknown major": {
			map[string]string{"PG_VERSION": "99\n", postgresMarker: "x"},
			"belongs to PostgreSQL 99, which is not installed",
		},
		"damaged":        {map[string]string{"base/1/1": "x", postgresMarker: "x"}, "is damaged"},
		"nonsense major": {map[string]string{"PG_VERSION": "new\n", postgresMarker: "x"}, "belongs to PostgreSQL new"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(publicDir(t), "data")
			cluster := filepath.Join(dir, "postgres")
			fill(t, dir, map[string]string{lockName: ""})
			fill(t, cluster, c.files)
			before := snapshot(t, cluster)
			_, err := startUp(t, os.Getuid(),
				append(external[1:], "REDIS_URL=redis://127.0.0.1:1", "DATELINE_DATA_DIR="+dir)...)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "not modified") {
				t.Errorf("got %v", err)
			}
			if snapshot(t, cluster) != before {
				t.Error("the directory was changed")
			}
		})
	}
}

// A cluster whose password file was lost is not changed, and the error names the
// remedy.
func TestLostPassword(t *testing.T) {
	dir := filepath.Join(publicDir(t), "data")
	env := append(external[1:], "REDIS_URL=redis://127.0.0.1:1", "DATELINE_DATA_DIR="+dir)
	p := mustStartUp(t, os.Getuid(), env...)
	p.end(t, 15)
	if err := os.Remove(filepath.Join(dir, "secrets", "postgres")); err != nil {
		t.Fatal(err)
	}
	if _, err := startUp(t, os.Getuid(), env...); err == nil ||
		!strings.Contains(err.Error(), "restore that file from a backup") {
		t.Errorf("got %v", err)
	}
}

func TestUnreachableDataDirectory(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("not root: ownership does not change")
		return
	}
	dir := publicDir(t)
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := startUp(t, 0, append(external, "DATELINE_DATA_DIR="+filepath.Join(dir, "data"))...)
	if err == nil || !strings.Contains(err.Error(), "nobody, who cannot reach the data directory") {
		t.Errorf("got %v", err)
	}
}

// Root must not be tricked into changing the owner of a file elsewhere.
func TestGiveTo_RejectsHardLinks(t *testing.T) {
	if os.Getuid() != 0 {
		t.Log("not root: ownership does not change")
		return
	}
	dir := t.TempDir()
	fill(t, dir, map[string]string{"outside/precious": "x", "data/own": "x"})
	if err := os.Symlink(filepath.Join(dir, "outside"), filepath.Join(dir, "data", "link")); err != nil {
		t.Fatal(err)
	}
	if err := giveTo(filepath.Join(dir, "data"), nobodyID, nobodyID); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "outside", "precious"), filepath.Join(dir, "data", "second")); err != nil {
		t.Fatal(err)
	}
	if err := giveTo(filepath.Join(dir, "data"), nobodyID, nobodyID); err == nil ||
		!strings.Contains(err.Error(), "second name") {
		t.Errorf("got %v", err)
	}
	for name, owner := range map[string]uint32{"outside": 0, "outside/precious": 0, "data/own": nobodyID} {
		if got := ownerOf(t, filepath.Join(dir, name)); got != owner {
			t.Errorf("%s belongs to %d, not %d", name, got, owner)
		}
	}
}

// TestStart_WhileAKilledOneStillWrites: initdb and engines of a start that was killed write and
// remove files for a moment.
func TestStart_WhileAKilledOneStillWrites(t *testing.T) {
	for _, name := range []string{"postgres.new", "tmp", "redis", "logs/old"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(publicDir(t), "data")
			fill(t, dir, map[string]string{lockName: ""})
			enough, ended := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(ended)
				for i := 0; ; i++ {
					select {
					case <-enough:
						return
					default:
						churn(filepath.Join(dir, name), i)
					}
				}
			}()
			defer func() { close(enough); <-ended }()
			p := mustStartUp(t, os.Getuid(),
				append(external[1:], "REDIS_URL=redis://127.0.0.1:1", "DATELINE_DATA_DIR="+dir)...)
			p.end(t, syscall.SIGTERM)
		})
	}
}

// churn writes a file in a directory, or removes what is there.
func churn(dir string, i int) {
	if i%100 == 0 {
		_ = os.RemoveAll(filepath.Join(dir, "base"))
	}
	_ = os.MkdirAll(filepath.Join(dir, "base"), 0o700)
	for _, d := range []string{dir, filepath.Join(dir, "base")} {
		_ = os.Chmod(d, 0o777) //nolint:gosec // nobody, as whom root's start runs, may remove what is in it
	}
	_ = os.WriteFile(filepath.Join(dir, "base", strconv.Itoa(i%100)), nil, 0o600)
}
