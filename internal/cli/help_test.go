package cli

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write the golden files")

func TestHelp_MatchesGoldenFiles(t *testing.T) {
	const dir = "testdata/help"
	want := map[string]string{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		path := strings.Fields(c.CommandPath())
		var out bytes.Buffer
		p := Program{Version: "test", Stdout: &out, Stderr: &out}
		if status := p.Run(t.Context(), append(path[1:], "--help")); status != 0 {
			t.Errorf("%s --help: status %d, want 0: %s", c.CommandPath(), status, out.String())
		}
		want[strings.Join(path, "-")+".txt"] = out.String()
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				visit(sub)
			}
		}
	}
	visit((&Program{}).Root())
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(want) {
		t.Errorf("%d golden files, want %d; run: go test ./internal/cli -run TestHelp_MatchesGoldenFiles -update",
			len(files), len(want))
	}
	for name, text := range want {
		golden, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if string(golden) != text {
			t.Errorf("help differs from %s; run: go test ./internal/cli -run TestHelp_MatchesGoldenFiles -update\n"+
				"got:\n%s\nwant:\n%s", name, text, golden)
		}
	}
}

// Every command says what it does, and mistakes have the exit status for usage.
func TestRun_RejectsInvalidArguments(t *testing.T) {
	for _, args := range [][]string{
		{"unknown"},
		{"doctor", "extra"},
		{"doctor", "--unknown"},
		{"keys", "enable"},
		{"keys", "unknown"},
		{"quarantine", "discard"},
		{"eval", "articles"},
		{"post"},
		{"posts", "show"},
		{"posts", "show", "a", "b"},
		{"login"},
		{"healthcheck", "other"},
		{"up", "--demo=maybe"},
		{"post", "Hello", "--drop-if-late", "soon"},
	} {
		var out bytes.Buffer
		p := Program{Version: "test", Stdout: &out, Stderr: &out, Environ: []string{"HOME=" + t.TempDir()}}
		if status := p.Run(t.Context(), args); status != 2 {
			t.Errorf("dateline %s: status %d, want 2: %s", strings.Join(args, " "), status, out.String())
		}
		if !strings.Contains(out.String(), "--help") {
			t.Errorf("dateline %s does not mention --help: %s", strings.Join(args, " "), out.String())
		}
		if strings.Contains(out.String(), "strconv") {
			t.Errorf("dateline %s names a package of Go: %s", strings.Join(args, " "), out.String())
		}
	}
}
