package temporalserver

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPrepareFile(t *testing.T) {
	for name, c := range map[string]struct {
		file, note string
		want       string // part of the reason; "": the file stays
	}{
		"Missing":    {},
		"Ready":      {file: "data", note: `{"server":"1.32.0"}`},
		"ReadyPatch": {file: "data", note: `{"server":"1.32.5"}`},
		"NeverReady": {file: "half a schema", want: "no server was ever ready"},
		"OlderServer": {
			file: "data", note: `{"server":"1.31.2"}`, want: "belongs to Temporal 1.31.2, and this is 1.32.0",
		},
		"NewerServer":     {file: "data", note: `{"server":"1.33.0"}`, want: "belongs to Temporal 1.33.0"},
		"DamagedNote":     {file: "data", note: `{"serv`, want: "is damaged"},
		"NoteWithoutFile": {note: `{"server":"1.32.0"}`},
	} {
		t.Run(name, func(t *testing.T) {
			database := filepath.Join(t.TempDir(), "temporal.db")
			if c.file != "" {
				write(t, database, c.file)
				write(t, database+"-wal", "log")
			}
			if c.note != "" {
				write(t, notePath(database), c.note)
			}
			reason, err := PrepareFile(database, "1.32.0")
			if err != nil || (reason == "") != (c.want == "") || !strings.Contains(reason, c.want) {
				t.Fatalf("got %q (%v), want %q", reason, err, c.want)
			}
			_, err = os.Stat(database)
			if stays := c.file != "" && c.want == ""; (err == nil) != stays {
				t.Errorf("the file is there: %v, want %v", err == nil, stays)
			}
			if c.want != "" {
				aside, err := os.ReadFile(database + setAsideSuffix)
				if err != nil || string(aside) != c.file {
					t.Errorf("got %q aside (%v), want the file", aside, err)
				}
			}
			if _, err := os.Stat(database + "-wal"); c.want != "" && !errors.Is(err, fs.ErrNotExist) {
				t.Error("the log of the old file is next to the new one")
			}
		})
	}
}

func TestPrepareFile_KeepsOneUnusedFile(t *testing.T) {
	database := filepath.Join(t.TempDir(), "temporal.db")
	for _, text := range []string{"first", "second"} {
		write(t, database, text)
		if reason, err := PrepareFile(database, "1.32.0"); err != nil || reason == "" {
			t.Fatalf("%s: got %q (%v), want a reason", text, reason, err)
		}
	}
	if aside, err := os.ReadFile(database + setAsideSuffix); err != nil || string(aside) != "second" {
		t.Errorf("got %q (%v), want the second file", aside, err)
	}
	files, err := os.ReadDir(filepath.Dir(database))
	if err != nil || len(files) != 1 {
		t.Errorf("got %v (%v), want one file", files, err)
	}
}

func TestMarkReady_LetsTheSameServerContinue(t *testing.T) {
	database := filepath.Join(t.TempDir(), "temporal.db")
	write(t, database, "data")
	if err := MarkReady(database, "1.32.0"); err != nil {
		t.Fatal(err)
	}
	if reason, err := PrepareFile(database, "1.32.0"); err != nil || reason != "" {
		t.Errorf("got %q (%v), want the file to be used", reason, err)
	}
}
