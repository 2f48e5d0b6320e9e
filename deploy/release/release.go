package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"dateline/internal/embedded/programs"
)

// release is a build of all files.
type release struct {
	version, commit string
	source          string    // address of the source files; can be empty
	time            time.Time // of the commit
	out             string
	cache           string
	nfpm            string
	targets         []target
}

type target struct{ os, arch string }

func (t target) String() string { return t.os + "_" + t.arch }

// build writes all files to an empty folder.
func (r *release) build(ctx context.Context) error {
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil { //nolint:gosec // readable by everyone
		return err
	}
	work, err := os.MkdirTemp("", "dateline-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(work) }()
	manuals := filepath.Join(work, "manuals")
	if err := writeManuals(manuals, r.version, r.time); err != nil {
		return err
	}
	for _, t := range r.targets {
		stage := filepath.Join(work, t.String())
		if err := r.stage(ctx, t, stage, manuals); err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		name := "dateline_" + r.version + "_" + t.String()
		if err := writeArchive(filepath.Join(r.out, name+".tar.gz"), stage, name, r.time); err != nil {
			return err
		}
		if err := r.sbom(ctx, stage, filepath.Join(r.out, name+".cdx.json")); err != nil {
			return err
		}
		if t.os == "linux" && r.nfpm != "" {
			for _, format := range []string{"deb", "rpm"} {
				if err := r.pack(ctx, t, stage, format, filepath.Join(r.out, name+"."+format)); err != nil {
					return err
				}
			}
		}
	}
	return r.checksums()
}

// stage puts the content of an archive into a folder.
func (r *release) stage(ctx context.Context, t target, dir, manuals string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // likewise
		return err
	}
	out, err := filepath.Abs(filepath.Join(dir, "dateline"))
	if err != nil {
		return err
	}
	flags := fmt.Sprintf("-s -w -buildid= -X main.version=%s -X main.commit=%s -X main.date=%s -X main.source=%s",
		r.version, r.commit, r.time.UTC().Format(time.RFC3339), r.source)
	c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags=nomsgpack",
		"-gcflags=all=-dwarf=false", "-ldflags", flags, "-o", out, ".")
	c.Stderr = os.Stderr
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOTOOLCHAIN=local", "GOOS="+t.os,
		"GOARCH="+t.arch)
	if err := c.Run(); err != nil {
		return fmt.Errorf("building dateline: %w", err)
	}
	if err := (programs.Finder{}).Release(ctx, t.os, t.arch, filepath.Join(dir, "engines")); err != nil {
		return err
	}
	if err := os.CopyFS(dir, os.DirFS(manuals)); err != nil {
		return err
	}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md", "dateline.env.example"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil { //nolint:gosec // public
			return err
		}
	}
	return r.postgres(ctx, t, filepath.Join(dir, "postgres"))
}

// sbom describes the programs of an archive.
func (r *release) sbom(ctx context.Context, stage, out string) error {
	c := exec.CommandContext(ctx, "go", "run", "./deploy/sbom", "-version", r.version, "-lock", "web/package-lock.json",
		filepath.Join(stage, "dateline"))
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, os.Stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("describing %s: %w", stage, err)
	}
	return os.WriteFile(out, text.Bytes(), 0o644) //nolint:gosec // public
}

// pack writes a package of the operating system.
func (r *release) pack(ctx context.Context, t target, stage, format, out string) error {
	template, err := os.ReadFile("deploy/release/package/nfpm.yaml")
	if err != nil {
		return err
	}
	values := map[string]string{
		"VERSION": r.version, "ARCH": t.arch, "STAGE": stage, "MTIME": r.time.UTC().Format(time.RFC3339),
	}
	config := stage + ".yaml"
	if err := os.WriteFile(config, //nolint:gosec // in the directory that the caller names
		[]byte(os.Expand(string(template), func(name string) string { return values[name] })), 0o600); err != nil {
		return err
	}
	c := exec.CommandContext(ctx, r.nfpm, "package", "--config", config, "--packager", format, "--target", out)
	c.Stderr = os.Stderr
	c.Env = append(os.Environ(), fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.time.Unix()))
	if err := c.Run(); err != nil {
		return fmt.Errorf("packaging %s: %w", filepath.Base(out), err)
	}
	return nil
}

// checksums writes SHA256SUMS, in the format of sha256sum.
func (r *release) checksums() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var lines []string
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(raw)
		lines = append(lines, hex.EncodeToString(sum[:])+"  "+e.Name())
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(strings.Join(lines, "\n")+"\n"), 0o644) //nolint:gosec // public
}
