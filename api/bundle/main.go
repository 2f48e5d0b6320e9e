// Command bundle writes api/openapi.yaml, which is the files of api/openapi in one document.
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	first    = "document.yaml"
	maxLines = 800 // of a file
)

func main() {
	text, err := bundle("api/openapi")
	if err == nil {
		err = os.WriteFile("api/openapi.yaml", []byte(text), 0o644) //nolint:gosec // a source file
	}
	if err != nil {
		log.Fatal(err)
	}
}

// A section begins with a key of the document, or with a kind of components.
var (
	topLevel  = regexp.MustCompile(`^\w+:`)
	component = regexp.MustCompile(`^  \w+:\n`)
)

// bundle merges the sections of all files: document.yaml, then the others by name. Lines are
// copied as they are, so that comments, order and style survive.
func bundle(folder string) (string, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return "", err
	}
	files = slices.DeleteFunc(files, func(file string) bool { return filepath.Base(file) == first })
	var order []string // the sections by their first line
	sections := map[string]*strings.Builder{}
	for _, file := range append([]string{filepath.Join(folder, first)}, files...) {
		raw, err := os.ReadFile(file) //nolint:gosec // a source file
		if err != nil {
			return "", err
		}
		text := strings.TrimRight(string(raw), "\n") + "\n"
		if n := strings.Count(text, "\n"); n > maxLines {
			return "", fmt.Errorf("%s has %d lines, at most %d are allowed: move some to another file", file, n,
				maxLines)
		}
		if !topLevel.MatchString(text) {
			return "", fmt.Errorf("%s must begin with a key", file)
		}
		name := ""
		for line := range strings.Lines(text + "\n") {
			switch {
			case topLevel.MatchString(line):
				name = line
			case strings.HasPrefix(name, "components") && component.MatchString(line):
				name = "components/" + line
			default:
				sections[name].WriteString(line)
				continue
			}
			if sections[name] == nil {
				sections[name] = &strings.Builder{}
				order = append(order, name)
			}
		}
	}
	var bundled strings.Builder
	for _, name := range order {
		bundled.WriteString(strings.TrimPrefix(name, "components/") + sections[name].String())
	}
	out := strings.TrimRight(bundled.String(), "\n") + "\n"
	if err := yaml.Unmarshal([]byte(out), &map[string]any{}); err != nil { // also if a key is there twice
		return "", fmt.Errorf("the bundle: %w", err)
	}
	return out, nil
}
