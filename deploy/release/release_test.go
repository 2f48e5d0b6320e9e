package main

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Folders with equal content give equal archives, whenever and by whom they were made.
func TestArchive_IsReproducible(t *testing.T) {
	date := time.Date(2026, 12, 24, 18, 0, 0, 0, time.UTC)
	var archives [2][]byte
	for i := range archives {
		dir := t.TempDir()
		names := []string{"b", "a", "sub/c"}
		if i == 1 {
			names = []string{"sub/c", "a", "b"}
		}
		for _, name := range names {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700+os.FileMode(i)*0o55); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(name), 0o600+os.FileMode(i)*0o44); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, time.Now(), date.Add(time.Duration(i)*time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "out.tar.gz")
		if err := writeArchive(out, dir, "dateline", date); err != nil {
			t.Fatal(err)
		}
		var err error
		if archives[i], err = os.ReadFile(out); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Errorf("archives of %d and %d bytes differ, want equal ones", len(archives[0]), len(archives[1]))
	}
}

func TestUnpackTar_RejectsPathsOutside(t *testing.T) {
	for name, h := range map[string]tar.Header{
		"File": {Typeflag: tar.TypeReg, Name: "../evil"},
		"Link": {Typeflag: tar.TypeSymlink, Name: "lib/a", Linkname: "../../evil"},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			w := tar.NewWriter(&b)
			if err := w.WriteHeader(&h); err != nil {
				t.Fatal(err)
			}
			_ = w.Close()
			if err := unpackTar(&b, t.TempDir()); err == nil {
				t.Error("no error, want one")
			}
		})
	}
}

func TestManuals_CoverEveryCommand(t *testing.T) {
	dir := t.TempDir()
	if err := writeManuals(dir, "0.1.0", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"man/dateline.1": "DATELINE", "man/dateline-posts-watch.1": "watch", "man/dateline-up.1": "pprof",
		"completions/dateline.bash": "__complete", "completions/_dateline": "#compdef dateline", "completions/dateline.fish": "fish completion",
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q: %v", name, want, err)
		}
	}
}
