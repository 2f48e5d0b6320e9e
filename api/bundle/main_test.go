package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBundle_IsCommitted(t *testing.T) {
	t.Parallel()
	want, err := bundle("../openapi")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("api/openapi.yaml is not what api/openapi says: run make generate")
	}
}

func TestBundle_MergesSections(t *testing.T) {
	t.Parallel()
	const document = "openapi: 3.1.0\npaths:\n\ncomponents:\n  schemas:\n    Shared: { type: string } # everywhere\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string // the whole document, or a part of the error
		fails bool
	}{
		"InOrderWithComments": {
			files: map[string]string{
				"b.yaml": "paths:\n  /b:\n    # what b is for\n    get: {}\n\ncomponents:\n  parameters:\n    B: {}\n",
				"a.yaml": "components:\n  schemas:\n    A: { type: [string, \"null\"] }\n\npaths:\n  /a: {}",
			},
			want: "openapi: 3.1.0\npaths:\n\n  /a: {}\n\n  /b:\n    # what b is for\n    get: {}\n\n" +
				"components:\n  schemas:\n    Shared: { type: string } # everywhere\n\n" +
				"    A: { type: [string, \"null\"] }\n\n  parameters:\n    B: {}\n",
		},
		"PathTwice": {
			files: map[string]string{"a.yaml": "paths:\n  /a: {}\n", "b.yaml": "paths:\n  /a: {}\n"}, fails: true,
			want: `"/a" already defined`,
		},
		"SchemaTwice": {
			files: map[string]string{"a.yaml": "components:\n  schemas:\n    Shared: {}\n"}, fails: true,
			want: `"Shared" already defined`,
		},
		"VersionTwice": {files: map[string]string{"a.yaml": "openapi: 3.0.0\n"}, fails: true, want: `"openapi" already`},
		"NotYAML":      {files: map[string]string{"a.yaml": "paths:\n  /a: [\n"}, fails: true, want: "the bundle: yaml"},
		"NoSection":    {files: map[string]string{"a.yaml": "  /a: {}\n"}, fails: true, want: "must begin with a key"},
		"TooLong": {
			files: map[string]string{"a.yaml": "paths:\n" + strings.Repeat("  # line\n", maxLines)}, fails: true,
			want: "801 lines",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			c.files[first] = document
			for file, text := range c.files {
				if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := bundle(folder)
			if c.fails {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got the error %v, want %q", err, c.want)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}
