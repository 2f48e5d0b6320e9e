// Package embedded runs the engines that Dateline needs on one machine: PostgreSQL, Redis, Temporal and an S3 server,
// unless they are configured.
//
// A start has two steps. Prepare locks the data directory, finds or builds a Temporal server and drops root privileges.
// Host.Start then starts the engines concurrently. Every engine is a child process in its own process group, so that
// Ctrl-C reaches only Dateline, which stops the engines in order. An engine that exits is restarted with the same port
// and data, up to a limit (supervise.go).
package embedded

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"dateline/internal/infra/config"
)

// Host is a locked data directory in which engines can be started.
type Host struct {
	cfg      *config.Config
	dataDir  string // cfg.DataDir without symbolic links, as in the command lines of children
	lock     *os.File
	lookup   lookup
	ports    *ports
	temporal program
}

// Prepare locks cfg.DataDir, finds or builds a Temporal server if cfg has no address, and drops root privileges.
// Progress of long steps is written to progress.
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
	if cfg.TemporalAddress == "" {
		if h.temporal, err = h.findTemporal(ctx, progress); err != nil {
			return nil, err
		}
	}
	if err := DropPrivileges(dataDir); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(h.path("tmp")); err != nil { // Left over from a killed process.
		return nil, fmt.Errorf("the data directory is not usable: %w", err)
	}
	for _, dir := range []string{"logs", "run", "secrets", "tmp"} {
		if err := os.MkdirAll(h.path(dir), 0o700); err != nil {
			return nil, fmt.Errorf("the data directory is not usable: %w", err)
		}
	}
	return h, nil
}

// Close releases the data directory. Engines.Stop does this, too.
func (h *Host) Close() { _ = h.lock.Close() }

func (h *Host) path(elem ...string) string {
	return filepath.Join(append([]string{h.dataDir}, elem...)...)
}
