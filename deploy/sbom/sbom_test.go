package main

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSBOM describes the program and the dashboard: all that is
// linked in or shipped, each once, and nothing that only builds it.
func TestSBOM(t *testing.T) {
	program := filepath.Join(t.TempDir(), "dateline")
	if out, err := exec.Command("go", "build", "-o", program, "../..").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	d, err := describe("v1.2.3", []string{program}, "../../web/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := write(&out, d); err != nil || !json.Valid(out.Bytes()) || d.Metadata.Component.Version != "v1.2.3" {
		t.Fatal(err, out.String())
	}
	var refs []string
	for _, c := range d.Components {
		if c.Version == "" || !strings.HasPrefix(c.PURL, "pkg:") || c.Ref != c.PURL {
			t.Errorf("%+v", c)
		}
		refs = append(refs, c.Ref)
	}
	if !slices.IsSorted(refs) || len(slices.Compact(slices.Clone(refs))) != len(refs) {
		t.Errorf("%v", refs)
	}
	has := func(prefix string) bool {
		return slices.ContainsFunc(refs, func(r string) bool { return strings.HasPrefix(r, prefix) })
	}
	if !has("pkg:golang/std@1.") || !has("pkg:golang/github.com/jackc/pgx/v5@v") || !has("pkg:npm/react@") || has("pkg:npm/vite@") || has("pkg:npm/typescript@") {
		t.Errorf("%v", refs)
	}
	if _, err := describe("v1", []string{"sbom.go"}, ""); err == nil {
		t.Error("a text passes for a program")
	}
}
