package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
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

// packed is a package with one file.
func packed(t *testing.T, name, text string) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o755})
	if _, errWrite := w.Write([]byte(text)); errors.Join(err, errWrite, w.Close(), z.Close()) != nil {
		t.Fatal(err, errWrite)
	}
	return &b
}

func TestUnpackPostgres_RejectsPathsOutside(t *testing.T) {
	for name, in := range map[string]*bytes.Buffer{
		"File": packed(t, "package/native/../../../evil", "x"),
		"Source": packed(t, "package/native/pg-symlinks.json",
			`[{"source":"native/../../evil","target":"native/lib/a"}]`),
		"Target": packed(t, "package/native/pg-symlinks.json",
			`[{"source":"native/lib/a","target":"native/../../evil"}]`),
	} {
		t.Run(name, func(t *testing.T) {
			if err := unpackPostgres(in, t.TempDir()); err == nil {
				t.Error("no error, want one")
			}
		})
	}
}

func TestUnpackPostgres_MakesLinks(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(unpackPostgres(packed(t, "package/native/lib/libpq.so.5.17", "x"), dir),
		unpackPostgres(packed(t, "package/native/pg-symlinks.json",
			`[{"source":"native/lib/libpq.so.5.17","target":"native/lib/libpq.so"}]`), dir)); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "lib", "libpq.so")); err != nil || string(text) != "x" {
		t.Errorf("got %q (%v) behind the link, want the file", text, err)
	}
}

func TestManuals_CoverEveryCommand(t *testing.T) {
	dir := t.TempDir()
	if err := writeManuals(dir, "0.1.0", time.Unix(0, 0)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"man/dateline.1": "DATELINE", "man/dateline-posts-watch.1": "watch", "man/dateline-up.1": "pprof",
		"completions/dateline.bash": "__complete", "completions/_dateline": "#compdef dateline",
		"completions/dateline.fish": "fish completion",
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s lacks %q: %v", name, want, err)
		}
	}
}
