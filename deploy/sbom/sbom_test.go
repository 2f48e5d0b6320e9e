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

// TestSBOM checks that the document lists everything that is linked or shipped
// once, and no build tools. With -short it describes a small program instead.
func TestSBOM(t *testing.T) {
	modules := []string{"pkg:golang/std@1.", "pkg:golang/github.com/google/uuid@v"}
	source, program := "./testdata/small", filepath.Join(t.TempDir(), "program")
	if !testing.Short() { // linking it takes long
		source, modules = "../..", append(modules, "pkg:golang/github.com/jackc/pgx/v5@v")
	}
	if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
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
	for _, want := range append(modules, "pkg:npm/react@") {
		if !has(want) {
			t.Errorf("components: got %v, want %s among them", refs, want)
		}
	}
	for _, tool := range []string{"pkg:npm/vite@", "pkg:npm/typescript@"} {
		if has(tool) {
			t.Errorf("components: got the build tool %s, want none", tool)
		}
	}
	if _, err := describe("v1", []string{"sbom.go"}, ""); err == nil {
		t.Error("a text was accepted as a program")
	}
}
