package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// articleSet writes a set of pages with ground truth.
func articleSet(t *testing.T, dir string, pages int) {
	t.Helper()
	truths := map[string]map[string]any{}
	if err := os.MkdirAll(filepath.Join(dir, "html"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range pages {
		key, title := fmt.Sprintf("page%d", i), fmt.Sprintf("The river rises for the %d. time", i+1)
		var paragraphs []string
		for k := range 6 {
			paragraphs = append(paragraphs,
				fmt.Sprintf("In street number %d of quarter %d people carried sandbags all night, while the council "+
					"met to speak about the dam that had not held.", k, i))
		}
		truths[key] = map[string]any{
			"url":         "https://news.example/" + key,
			"articleBody": strings.Join(paragraphs, "\n\n"), "title": title, "authors": []string{"Mai Lan"},
			"published": "2026-03-07T01:30:00+07:00",
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = fmt.Fprintf(z,
			`<!doctype html><html lang="en"><head><title>%[1]s</title><meta name="author" content="Mai Lan"><meta property="article:published_time" content="2026-03-07T01:30:00+07:00"></head>`+
				`<body><nav><a href="/">Home</a></nav><article><h1>%[1]s</h1><p>%[2]s</p></article></body></html>`,
			title, strings.Join(paragraphs, "</p><p>"))
		_ = z.Close()
		if err := os.WriteFile(filepath.Join(dir, "html", key+".html.gz"), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := json.Marshal(truths)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "ground-truth.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

// The last line has the figures of a set, or of all sets of a folder.
func TestEvaluatingArticles(t *testing.T) {
	dir := t.TempDir()
	articleSet(t, filepath.Join(dir, "one"), 3)
	articleSet(t, filepath.Join(dir, "two"), 22)
	if err := os.Mkdir(filepath.Join(dir, "three"), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		set   string
		pages int
	}{"one": {"one", 3}, "": {"all", 25}} {
		var out, problems bytes.Buffer
		p := &Program{Stdout: &out, Stderr: &problems}
		if status := p.Run(t.Context(), []string{"eval", "articles", "--data", filepath.Join(dir, path)}); status != 0 {
			t.Fatalf("%d: %s", status, problems.String())
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		var got map[string]any
		if err := json.Unmarshal([]byte(lines[len(lines)-1]), &got); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		for name, value := range map[string]any{
			"set": want.set, "pages": float64(want.pages), "f1": 1.0, "title": 1.0,
			"author": 1.0, "date": 1.0, "minute": 1.0, "empty": 0.0,
		} {
			if got[name] != value {
				t.Errorf("%s is %v, want %v", name, got[name], value)
			}
		}
		for _, name := range []string{"baseline_f1", "pages_per_s", "baseline_pages_per_s"} {
			if n, ok := got[name].(float64); !ok || n <= 0 {
				t.Errorf("%s is %v", name, got[name])
			}
		}
		if path == "" && !strings.Contains(out.String(), "skipped, because it contains no dataset") {
			t.Errorf("got no message about the folder without ground truth: %s", out.String())
		}
	}
	for _, args := range [][]string{
		{"eval", "posts"},
		{"eval", "articles"},
		{"eval", "articles", "--data", filepath.Join(dir, "three")},
		{"eval", "articles", "--data", filepath.Join(dir, "none")},
	} {
		p := &Program{Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}}
		if status := p.Run(t.Context(), args); status == 0 {
			t.Errorf("%v is accepted", args)
		}
	}
}
