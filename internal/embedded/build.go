package embedded

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// BuildTemporald builds the module in srcDir to outPath, unless the program is up to date. Concurrent builds wait for
// each other. Progress is one updating line on a terminal, and otherwise a line per 10 %.
func BuildTemporald(ctx context.Context, srcDir, outPath string, progress io.Writer) error {
	stamp, err := sourceStamp(srcDir)
	if err != nil {
		return fmt.Errorf("reading the source of temporald in %s: %w", srcDir, err)
	}
	if outPath, err = filepath.Abs(outPath); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(outPath), 0o755); err != nil {
		return fmt.Errorf("building temporald: %w", err)
	}
	unlock, err := lockBuild(outPath+".lock", progress)
	if err != nil {
		return fmt.Errorf("building temporald: %w", err)
	}
	defer unlock()
	if isProgram(outPath) && readStamp(outPath) == stamp {
		return nil
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		return errors.New("no Temporal server is installed, and Go is required to build one: install Go (https://go.dev/dl)," +
			" or install the Temporal CLI (https://docs.temporal.io/cli), or set TEMPORAL_ADDRESS to a running server")
	}
	b := build{goTool: goTool, dir: srcDir, meter: newMeter(progress)}
	fmt.Fprintln(progress, "Building the Temporal server (once, takes a few minutes).")
	total, err := b.listPackages(ctx)
	if err != nil {
		return err
	}
	temporary := outPath + ".new"
	defer os.Remove(temporary) // Already renamed on success.
	if err := b.compile(ctx, temporary, total); err != nil {
		return err
	}
	// Remove the old stamp first, so that a stamp always matches its program.
	if err := os.Remove(stampPath(outPath)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(temporary, outPath); err != nil {
		return err
	}
	return writeStamp(outPath, stamp)
}

type build struct {
	goTool, dir string
	meter       *meter
}

func (b build) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.goTool, args...)
	cmd.Dir = b.dir
	// A self-contained build: no workspace, no C compiler, and no VCS stamping, because the checkout may belong to
	// another user. The compiler spends a quarter of its time on garbage collection unless it may use a fifth more memory.
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false", "GOGC=400")
	return cmd
}

// listPackages counts the packages to compile and downloads their modules.
func (b build) listPackages(ctx context.Context) (int, error) {
	var list bytes.Buffer
	downloads := 0
	err := b.run(b.command(ctx, "list", "-deps", "."), &list, func(line string) bool {
		if !strings.HasPrefix(line, "go: downloading ") {
			return false
		}
		downloads++
		b.meter.show(fmt.Sprintf("downloading modules: %d", downloads), downloads%25 == 0)
		return true
	})
	if err != nil {
		return 0, fmt.Errorf("listing the packages of temporald (is the Go module proxy reachable?): %w", err)
	}
	return bytes.Count(list.Bytes(), []byte("\n")), nil
}

// compile counts the packages that `go build -v` prints. Cached packages are not printed, so the count may end early.
func (b build) compile(ctx context.Context, out string, total int) error {
	compiled, tenth := 0, 0
	err := b.run(b.command(ctx, "build", "-v", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags=-s -w", "-buildvcs=false", "-o", out, "."), io.Discard, func(line string) bool {
		if line == "" || strings.ContainsAny(line, " :#") {
			return strings.HasPrefix(line, "go: downloading ")
		}
		compiled++
		step := compiled * 10 / max(total, 1)
		b.meter.show(fmt.Sprintf("compiling: %d of %d packages (%d %%)", compiled, total, min(100, compiled*100/max(total, 1))), step > tenth)
		tenth = step
		return true
	})
	if err != nil {
		return fmt.Errorf("building temporald: %w", err)
	}
	b.meter.end("the Temporal server is built")
	return nil
}

// run calls expected for every line on stderr; unexpected lines become part of the error.
func (b build) run(cmd *exec.Cmd, stdout io.Writer, expected func(line string) bool) error {
	cmd.Stdout = stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var rest []string
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if !expected(lines.Text()) {
			rest = append(rest, lines.Text())
		}
	}
	_, _ = io.Copy(io.Discard, stderr) // After an overlong line, so that the program does not block.
	if err := cmd.Wait(); err != nil {
		b.meter.end("")
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args[:2], " "), err, strings.Join(rest[max(0, len(rest)-30):], "\n"))
	}
	return nil
}

// lockBuild waits for another build with the same output.
func lockBuild(path string, progress io.Writer) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		fmt.Fprintln(progress, "Waiting for another process that builds the Temporal server.")
		for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	return func() { _ = f.Close() }, nil
}

// sourceStamp identifies the source and what it is built for.
func sourceStamp(dir string) (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s/%s\n", runtime.GOOS, runtime.GOARCH)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() || (name != "go.mod" && name != "go.sum" && (!strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"))) {
			return nil
		}
		text, err := os.ReadFile(path) //nolint:gosec // own source
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(hash, "%s %d\n", relative, len(text))
		hash.Write(text)
		return nil
	})
	return hex.EncodeToString(hash.Sum(nil)), err
}

func stampPath(program string) string { return program + ".stamp" }

func readStamp(program string) string {
	text, err := os.ReadFile(stampPath(program))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

func writeStamp(program, stamp string) error {
	return os.WriteFile(stampPath(program), []byte(stamp+"\n"), 0o644)
}
