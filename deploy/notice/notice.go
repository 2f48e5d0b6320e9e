package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// use describes the purpose of a dependency.
type use string

const (
	linked    use = "Linked into the programs"
	dashboard use = "Shipped with the dashboard"
	building  use = "Used only to build and test"
)

// dependency is a Go module or an npm package with its license.
type dependency struct {
	Name, Version string
	License       string // an SPDX expression; empty: unknown
	Notice        string // the text of its NOTICE file, which has to be passed on
	Use           use
}

// compatible returns the licenses that may be combined with Apache-2.0.
func compatible() []string {
	return []string{
		"0BSD", "Apache-2.0", "BlueOak-1.0.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CC-BY-4.0", "ISC", "MIT",
		"MIT-0", "MPL-2.0", "PostgreSQL",
		"Python-2.0", "Unlicense", "Zlib", publicDomain, unstated,
	}
}

const (
	publicDomain = "LicenseRef-public-domain"
	unstated     = "NOASSERTION"
)

// overrides returns the licenses of modules without a recognizable license file.
func overrides() map[string]string {
	return map[string]string{
		// Its sources say MIT; the file is in the root of the repository, another
		// module.
		"github.com/cactus/go-statsd-client/statsd": "MIT",
		// Its LICENSE puts it into the public domain.
		"github.com/xi2/xz": publicDomain,
		// It has no license file. Temporal's API, which is MIT, imports it.
		"github.com/nexus-rpc/nexus-proto-annotations": unstated,
	}
}

// goModules lists the modules that the packages in dirs, each a module, and their
// tests are built from.
func goModules(dirs []string) ([]dependency, error) {
	found := map[string]dependency{}
	for _, dir := range dirs {
		for _, args := range [][]string{{"-deps", "."}, {"-deps", "-test", "./..."}} {
			what := building
			if args[1] == "." && dir == "." {
				what = linked
			}
			modules, err := list(dir, args)
			if err != nil {
				return nil, err
			}
			for _, m := range modules {
				key := m.Path + "@" + m.Version
				if d, ok := found[key]; ok && (d.Use == linked || what == building) {
					continue
				}
				license, notice, err := readLicense(m.Dir)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", key, err)
				}
				if license == "" {
					license = overrides()[m.Path]
				}
				found[key] = dependency{Name: m.Path, Version: m.Version, License: license, Notice: notice, Use: what}
			}
		}
	}
	deps := make([]dependency, 0, len(found))
	for _, d := range found {
		deps = append(deps, d)
	}
	return deps, nil
}

// module is the part of `go list -json` that is used.
type module struct {
	Path, Version, Dir string
	Main               bool
	Replace            *module
}

func list(dir string, args []string) ([]module, error) {
	cmd := exec.Command("go", append([]string{"list", "-json=Module"}, args...)...) //nolint:gosec // its arguments are constants
	cmd.Dir = dir
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go list in %s: %w\n%s", dir, err, stderr.String())
	}
	var modules []module
	for dec := json.NewDecoder(&out); ; {
		var p struct{ Module *module }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return modules, nil
		} else if err != nil {
			return nil, err
		}
		m := p.Module
		if m == nil || m.Main {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		if m.Version != "" && !slices.Contains(modules, *m) {
			modules = append(modules, *m)
		}
	}
}

var (
	licenseFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)([-.].*)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^notice(\.(txt|md))?$`)
)

// readLicense classifies the license files in a module's directory.
func readLicense(dir string) (license, notice string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", "", err
	}
	var found []string
	for _, e := range entries {
		if e.IsDir() || !licenseFile.MatchString(e.Name()) && !noticeFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name())) //nolint:gosec // a file of the module cache
		if err != nil {
			return "", "", err
		}
		if noticeFile.MatchString(e.Name()) {
			notice = strings.TrimSpace(string(text))
			continue
		}
		if l := classify(string(text)); l != "" {
			found = append(found, strings.Split(l, " AND ")...)
		}
	}
	slices.Sort(found)
	return strings.Join(slices.Compact(found), " AND "), notice, nil
}

// classify recognizes the text of a license; empty: unknown.
func classify(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	has := func(parts ...string) bool {
		return !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(text, p) })
	}
	var found []string
	add := func(name string, ok bool) {
		if ok {
			found = append(found, name)
		}
	}
	add("AGPL-3.0", has("gnu affero general public license version 3"))
	// The Mozilla license names the GNU licenses as alternatives.
	mozilla := has("mozilla public license", "2.0")
	add("LGPL", !mozilla && has("gnu lesser general public license", "this license"))
	add("GPL", !mozilla && len(found) == 0 && has("gnu general public license", "terms and conditions for copying"))
	add("SSPL-1.0", has("server side public license"))
	add("BUSL-1.1", has("business source license"))
	add("Apache-2.0", has("apache license", "version 2.0"))
	add("MPL-2.0", mozilla)
	add("MIT", has("permission is hereby granted, free of charge",
		"the above copyright notice and this permission notice"))
	add("MIT-0", has("permission is hereby granted, free of charge") &&
		!has("the above copyright notice and this permission notice"))
	add("ISC", has("permission to use, copy, modify, and",
		"distribute this software for any purpose with or without fee"))
	bsd := has("redistribution and use in source and binary forms")
	add("BSD-3-Clause", bsd && (has("neither the name") || has("names of its contributors may not be used") ||
		has("may not be used to endorse")))
	add("BSD-2-Clause", bsd && !slices.Contains(found, "BSD-3-Clause"))
	add("CC0-1.0", has("cc0 1.0 universal"))
	add("CC-BY-4.0", has("attribution 4.0 international"))
	add("Unlicense", has("free and unencumbered software released into the public domain"))
	add("Zlib", has("this software is provided 'as-is'", "altered source versions must be plainly marked"))
	return strings.Join(found, " AND ")
}

// npmPackages lists the packages of a package-lock.json; an empty file name: none.
func npmPackages(lock string) ([]dependency, error) {
	if lock == "" {
		return nil, nil
	}
	raw, err := os.ReadFile(lock) //nolint:gosec // a flag of this command
	if err != nil {
		return nil, err
	}
	var file struct {
		Packages map[string]struct {
			Version, License string
			Dev, DevOptional bool
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", lock, err)
	}
	var deps []dependency
	for path, p := range file.Packages {
		_, name, ok := strings.Cut(path, "node_modules/")
		if !ok {
			continue
		}
		if i := strings.LastIndex(name, "node_modules/"); i >= 0 {
			name = name[i+len("node_modules/"):]
		}
		d := dependency{Name: name, Version: p.Version, License: p.License, Use: dashboard}
		if p.Dev || p.DevOptional {
			d.Use = building
		}
		deps = append(deps, d)
	}
	return deps, nil
}

// check refuses unknown licenses and those that are incompatible with ours.
func check(deps []dependency) error {
	var wrong []error
	for _, d := range deps {
		if d.License == "" {
			wrong = append(wrong, fmt.Errorf("%s %s: no known license: look at it and teach classify", d.Name,
				d.Version))
			continue
		}
		for name := range strings.SplitSeq(d.License, " AND ") {
			if !allowed(name) {
				wrong = append(wrong, fmt.Errorf("%s %s: %s may not be combined with Apache-2.0", d.Name, d.Version,
					name))
			}
		}
	}
	return errors.Join(wrong...)
}

// allowed accepts one of several alternatives, such as (MIT OR GPL-3.0).
func allowed(expression string) bool {
	for name := range strings.SplitSeq(strings.Trim(expression, "()"), " OR ") {
		if slices.Contains(compatible(), name) {
			return true
		}
	}
	return false
}

const head = `Dateline
Copyright 2026 The Dateline Authors

Licensed under the Apache License, Version 2.0; see LICENSE.

Dateline is built from the software listed below, each under its own license.
This file is generated: make notice
`

func write(w io.Writer, deps []dependency) error {
	slices.SortFunc(deps, func(a, b dependency) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	var b bytes.Buffer
	b.WriteString(head)
	for _, what := range []use{linked, dashboard, building} {
		fmt.Fprintf(&b, "\n== %s ==\n\n", what)
		last := ""
		for _, d := range deps {
			line := fmt.Sprintf("%s %s: %s\n", d.Name, d.Version, d.License)
			if d.Use == what && line != last {
				b.WriteString(line)
				last = line
			}
		}
	}
	b.WriteString("\n== Notices of linked software ==\n")
	seen := map[string]bool{}
	for _, d := range deps {
		if d.Use == linked && d.Notice != "" && !seen[d.Notice] {
			seen[d.Notice] = true
			fmt.Fprintf(&b, "\n-- %s --\n\n%s\n", d.Name, strings.ReplaceAll(d.Notice, "\r", ""))
		}
	}
	_, err := b.WriteTo(w)
	return err
}
