// Command sbom writes a CycloneDX document of the program's components: the Go modules
// linked into its binaries, as the binaries report them, and the packages that the
// dashboard ships.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
)

// document is the part of CycloneDX 1.6 that is used here
// (cyclonedx.org/docs/1.6/json). It has neither a time nor a serial number, so that the
// same program has the same document.
type document struct {
	Format     string      `json:"bomFormat"`
	Spec       string      `json:"specVersion"`
	Version    int         `json:"version"`
	Metadata   metadata    `json:"metadata"`
	Components []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licenses   []license  `json:"licenses,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	Expression string `json:"expression"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// describe lists the components of binaries and of a dashboard's lock file; an empty
// lock: no dashboard.
func describe(version string, binaries []string, lock string) (document, error) {
	known := map[string]component{}
	for _, path := range binaries {
		info, err := buildinfo.ReadFile(path)
		if err != nil {
			return document{}, fmt.Errorf("%s: %w", path, err)
		}
		runtime := component{
			Type: "library", Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"),
			PURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
		}
		known[runtime.PURL] = runtime
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			c := component{Type: "library", Name: m.Path, Version: m.Version, PURL: "pkg:golang/" + m.Path + "@" +
				m.Version}
			if m.Sum != "" {
				c.Properties = []property{{"go:sum", m.Sum}}
			}
			known[c.PURL] = c
		}
	}
	if lock != "" {
		if err := packages(lock, known); err != nil {
			return document{}, fmt.Errorf("%s: %w", lock, err)
		}
	}
	out := document{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata:   metadata{component{Type: "application", Ref: "dateline", Name: "dateline", Version: version}},
		Components: []component{},
	}
	for _, ref := range slices.Sorted(maps.Keys(known)) {
		c := known[ref]
		c.Ref = ref
		out.Components = append(out.Components, c)
	}
	return out, nil
}

// packages returns the packages that npm's lock file marks as shipped
// (docs.npmjs.com/cli/v11/configuring-npm/package-lock-json).
func packages(lock string, known map[string]component) error {
	raw, err := os.ReadFile(lock)
	if err != nil {
		return err
	}
	var file struct {
		Packages map[string]struct {
			Version, Integrity, License string
			Dev, DevOptional            bool // only for building, or an optional dependency
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return err
	}
	for path, p := range file.Packages {
		_, name, ok := cutLast(path, "node_modules/")
		if !ok || p.Dev || p.DevOptional {
			continue
		}
		c := component{
			Type: "library", Name: name, Version: p.Version,
			PURL: "pkg:npm/" + strings.Replace(url.PathEscape(name), "%2F", "/", 1) + "@" + p.Version,
		}
		if sum, ok := strings.CutPrefix(p.Integrity, "sha512-"); ok {
			bytes, err := base64.StdEncoding.DecodeString(sum)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			c.Hashes = []hash{{"SHA-512", hex.EncodeToString(bytes)}}
		}
		if p.License != "" {
			c.Licenses = []license{{p.License}}
		}
		known[c.PURL] = c
	}
	if len(file.Packages) == 0 {
		return errors.New("it lists no package")
	}
	return nil
}

func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}

func write(w io.Writer, d document) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(d)
}
