package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// maxFileBytes is the maximum size of a file of a package.
const maxFileBytes = 64 << 20

// fetch downloads and unpacks a package, such as npm:isbot@5.2.3 or
// pypi:device_detector==6.5.1, into a folder with the package's name. Nothing of it is
// run: packages of PyPI are archives or wheels.
func fetch(dir, spec string) error {
	registry, name, _ := strings.Cut(spec, ":")
	to := filepath.Join(dir, packageName(name))
	into, err := os.MkdirTemp(dir, "download")
	if err != nil {
		return err
	}
	var cmd *exec.Cmd
	switch registry {
	case "npm":
		cmd = exec.Command("npm", "pack", "--silent", "--pack-destination", into, name) //nolint:gosec // pinned above
	case "pypi":
		// The tests of these are in their source archives only.
		cmd = exec.Command("python3", "-m", "pip", "download", "--quiet", "--no-deps", //nolint:gosec // pinned above
			"--no-binary", "device_detector,python-dateutil,dateparser", "--dest", into, name)
	case "debian":
		return fetchSource(into, to, name)
	default:
		return fmt.Errorf("unknown registry %q", registry)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(into, "*"))
	if err != nil || len(files) != 1 {
		return errors.Join(err, fmt.Errorf("got %d files", len(files)))
	}
	if strings.HasSuffix(files[0], ".whl") {
		return unzip(files[0], to)
	}
	return untar(files[0], to)
}

// fetchSource downloads the source of a Debian package, which needs no entry in the system's
// list of sources.
func fetchSource(into, to, name string) error {
	release, err := exec.Command("sh", "-c", `. /etc/os-release && echo "$VERSION_CODENAME"`).Output()
	if err != nil {
		return err
	}
	const source = "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] " +
		"http://deb.debian.org/debian %s main\n"
	list := filepath.Join(into, "sources.list")
	line := fmt.Sprintf(source, strings.TrimSpace(string(release)))
	err = errors.Join(os.WriteFile(list, []byte(line), 0o600), os.MkdirAll(filepath.Join(into, "lists", "partial"), 0o700),
		os.MkdirAll(to, 0o700))
	if err != nil {
		return err
	}
	options := []string{
		"-q", "-o", "Dir::Etc::SourceList=" + list, "-o", "Dir::Etc::SourceParts=-", "-o", "Dir::State::Lists=" + into + "/lists",
		"-o", "APT::Sandbox::User=root",
	}
	for _, command := range [][]string{
		append(options, "update"), append(options, "source", "--download-only", name),
	} {
		cmd := exec.Command("apt-get", command...) //nolint:gosec // pinned above
		cmd.Dir = into
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	archives, err := filepath.Glob(filepath.Join(into, "*.orig.tar.*"))
	if err != nil || len(archives) != 1 {
		return errors.Join(err, fmt.Errorf("got %d archives", len(archives)))
	}
	cmd := exec.Command("tar", "xf", archives[0], "-C", to, "--strip-components=1") //nolint:gosec // just downloaded
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// packageName returns the name in isbot@5.2.3 or device_detector==6.5.1.
func packageName(pinned string) string {
	if i := strings.IndexAny(pinned[1:], "@="); i >= 0 {
		return pinned[:i+1]
	}
	return pinned
}

func untar(file, to string) error {
	f, err := os.Open(file) //nolint:gosec // just downloaded
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, name, ok := strings.Cut(h.Name, "/") // without the folder of the archive
		if h.Typeflag != tar.TypeReg || !ok {
			continue
		}
		if err := write(to, name, r); err != nil {
			return err
		}
	}
}

func unzip(file, to string) error {
	r, err := zip.OpenReader(file)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	for _, f := range r.File {
		if f.FileInfo().IsDir() {
			continue
		}
		c, err := f.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(write(to, f.Name, c), c.Close()); err != nil {
			return err
		}
	}
	return nil
}

func write(to, name string, r io.Reader) error {
	if !filepath.IsLocal(name) {
		return fmt.Errorf("the archive has a file %q", name)
	}
	path := filepath.Join(to, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600) //nolint:gosec // local
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.LimitReader(r, maxFileBytes))
	return errors.Join(err, f.Close())
}
