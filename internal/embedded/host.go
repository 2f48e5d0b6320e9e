// Package embedded runs the engines that Dateline needs on one machine: PostgreSQL, Redis, Temporal and an S3 server,
// unless they are configured.
//
// A start has two steps. Prepare locks the data directory, finds or fetches the programs and drops root privileges.
// Host.Start then starts the engines concurrently. Every engine is a child process in its own process group, so that
// Ctrl-C reaches only Dateline, which stops the engines in order. An engine that exits is restarted with the same port
// and data, up to a limit (supervise.go).
package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"dateline/internal/embedded/programs"
	"dateline/internal/infra/config"
)

// Host is a locked data directory in which engines can be started.
type Host struct {
	cfg     *config.Config
	dataDir string // cfg.DataDir without symbolic links, as in the command lines of children
	lock    *os.File
	lookup  lookup
	ports   *ports
	// Programs of the engines that are started.
	postgres programs.Postgres
	redis    string
	temporal string
}

// Prepare locks cfg.DataDir, finds or fetches the programs of engines that cfg has no address of,
// and drops root privileges. Progress of long steps is written to progress.
//
// Open files that only root can read before calling Prepare.
func Prepare(ctx context.Context, cfg *config.Config, progress io.Writer) (*Host, error) {
	return prepare(ctx, cfg, progress, systemLookup())
}

func prepare(ctx context.Context, cfg *config.Config, progress io.Writer, lookups lookup) (_ *Host, err error) {
	if err := claimDataDir(cfg.DataDir); err != nil {
		return nil, err
	}
	dataDir, err := filepath.EvalSymlinks(cfg.DataDir)
	if err != nil {
		return nil, fmt.Errorf("the data directory is not usable: %w", err)
	}
	lock, err := lockDataDir(dataDir)
	if err != nil {
		return nil, err
	}
	h := &Host{cfg: cfg, dataDir: dataDir, lock: lock, lookup: lookups, ports: &ports{}}
	defer func() {
		if err != nil {
			h.Close()
		}
	}()
	if err := h.findPrograms(ctx, progress); err != nil {
		return nil, err
	}
	if err := DropPrivileges(dataDir); err != nil {
		return nil, err
	}
	// Left over from a killed process, whose engines may still write there for a moment.
	if err := os.RemoveAll(h.path("tmp")); err != nil && !errors.Is(err, syscall.ENOTEMPTY) {
		return nil, fmt.Errorf("the data directory is not usable: %w", err)
	}
	for _, dir := range []string{"logs", "run", "secrets", "tmp"} {
		if err := os.MkdirAll(h.path(dir), 0o700); err != nil {
			return nil, fmt.Errorf("the data directory is not usable: %w", err)
		}
	}
	return h, nil
}

// findPrograms finds the programs of the engines, while the checkout and the user's cache can be read.
func (h *Host) findPrograms(ctx context.Context, progress io.Writer) error {
	finder := h.lookup.finder(&lockedWriter{w: progress})
	var wg sync.WaitGroup
	var errs [3]error
	find := func(i int, to *string, find func(context.Context) (string, error)) {
		wg.Go(func() {
			if *to, errs[i] = find(ctx); errs[i] == nil {
				*to, errs[i] = h.reachable(*to)
			}
		})
	}
	if h.cfg.DatabaseURL == "" {
		wg.Go(func() { h.postgres, errs[2] = h.findPostgres(ctx, finder) })
	}
	if h.cfg.RedisURL == "" {
		find(0, &h.redis, func(ctx context.Context) (string, error) { return finder.Redis(ctx, h.path("redis")) })
	}
	if h.cfg.TemporalAddress == "" {
		find(1, &h.temporal, finder.Temporal)
	}
	wg.Wait()
	return errors.Join(errs[:]...)
}

// lockedWriter lets two downloads report their progress.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// reachable copies a program into the data directory if root, but not nobody, can run it at its path.
func (h *Host) reachable(path string) (string, error) {
	if os.Geteuid() != 0 || othersCanRun(path) {
		return path, nil
	}
	own := h.path("bin", filepath.Base(path))
	if isCopy(path, own) {
		return own, nil
	}
	if err := copyProgram(path, own); err != nil {
		return "", fmt.Errorf("copy %s into the data directory: %w", path, err)
	}
	return own, nil
}

// isCopy reports whether copyProgram made to from from: it has the same size and time.
func isCopy(from, to string) bool {
	a, errA := os.Stat(from)
	b, errB := os.Stat(to)
	return errA == nil && errB == nil && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func copyProgram(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // programs are readable by everyone
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name()) // Already removed on success.
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Chmod(0o755), out.Close(),
		os.Chtimes(out.Name(), time.Time{}, info.ModTime())); err != nil {
		return err
	}
	return os.Rename(out.Name(), to)
}

// Close releases the data directory. Engines.Stop does this, too.
func (h *Host) Close() { _ = h.lock.Close() }

func (h *Host) path(elem ...string) string {
	return filepath.Join(append([]string{h.dataDir}, elem...)...)
}
