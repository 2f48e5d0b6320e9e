// Command update writes the IANA time zone database that the program contains. It fetches
// PyPI's tzdata package (https://pypi.org/project/tzdata, maintained by the Python core
// team from IANA's releases) with pip:
//
//	go run ./internal/infra/timezone/update            # the newest; also writes the pin
//	go run ./internal/infra/timezone/update -pinned    # the version and hash of the pin
//
// The result depends only on the package, so that the second form reproduces the file.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	pin    = "tzdata.txt"
	result = "zoneinfo.tar.gz"
	folder = "tzdata/zoneinfo/" // in the package
)

func main() {
	dir := flag.String("dir", "internal/infra/timezone", "directory of the pin and the database")
	pinned := flag.Bool("pinned", false, "use the version and the hash of the pin")
	flag.Parse()
	if err := run(*dir, *pinned); err != nil {
		log.Fatal(err)
	}
}

func run(dir string, pinned bool) error {
	temporary, err := os.MkdirTemp("", "tzdata")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	args := []string{
		"-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
		"--only-binary", ":all:", "--dest", temporary,
	}
	if pinned {
		args = append(args, "--require-hashes", "--requirement", filepath.Join(dir, pin))
	} else {
		args = append(args, "tzdata")
	}
	pip := exec.Command("python3", args...) //nolint:noctx // ends with the terminal
	pip.Stdout, pip.Stderr = os.Stdout, os.Stderr
	if err := pip.Run(); err != nil {
		return fmt.Errorf("pip could not fetch tzdata: %w", err)
	}
	wheels, err := filepath.Glob(filepath.Join(temporary, "tzdata-*.whl"))
	if err != nil || len(wheels) != 1 {
		return errors.New("pip did not fetch one wheel of tzdata")
	}
	raw, err := os.ReadFile(wheels[0])
	if err != nil {
		return err
	}
	packed, version, err := convert(raw)
	if err != nil {
		return err
	}
	if !pinned {
		release := strings.Split(filepath.Base(wheels[0]), "-")[1]
		text := fmt.Sprintf("tzdata==%s --hash=sha256:%x\n", release, sha256.Sum256(raw))
		if err := os.WriteFile(filepath.Join(dir, pin), []byte(text), 0o600); err != nil { //nolint:gosec // a folder of the checkout
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, result), packed, 0o600); err != nil { //nolint:gosec // a folder of the checkout
		return err
	}
	fmt.Fprintf(os.Stderr, "time zone database %s, %d bytes\n", version, len(packed))
	return nil
}

// convert packs the compiled zones of a wheel, and the first line of tzdata.zi, which
// names the version. Zones with equal content are links: two thirds of the names are.
func convert(wheel []byte) (packed []byte, version string, err error) {
	z, err := zip.NewReader(bytes.NewReader(wheel), int64(len(wheel)))
	if err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	compressed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, "", err
	}
	archive := tar.NewWriter(compressed)
	names := map[string]string{} // by content
	for _, f := range z.File {   // sorted by the package's build
		name, ok := strings.CutPrefix(f.Name, folder)
		if !ok || f.FileInfo().IsDir() {
			continue
		}
		content, err := read(f)
		if err != nil {
			return nil, "", err
		}
		day := f.Modified.Truncate(24 * time.Hour).UTC()
		header := tar.Header{Name: name, Mode: 0o644, Format: tar.FormatUSTAR, ModTime: day}
		switch {
		case name == "tzdata.zi":
			line, _, _ := bytes.Cut(content, []byte("\n"))
			content, version = append(line, '\n'), strings.TrimPrefix(string(line), "# version ")
		case !bytes.HasPrefix(content, []byte("TZif")):
			continue
		case names[string(content)] != "":
			header.Typeflag, header.Linkname, content = tar.TypeLink, names[string(content)], nil
		default:
			names[string(content)] = name
		}
		header.Size = int64(len(content))
		if err := archive.WriteHeader(&header); err != nil {
			return nil, "", err
		}
		if _, err := archive.Write(content); err != nil {
			return nil, "", err
		}
	}
	if version == "" {
		return nil, "", errors.New("the package has no tzdata.zi with a version")
	}
	if err := errors.Join(archive.Close(), compressed.Close()); err != nil {
		return nil, "", err
	}
	return out.Bytes(), version, nil
}

func read(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(io.LimitReader(r, 1<<20))
}
