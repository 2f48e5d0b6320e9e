// Package embedded runs the engines that Dateline needs on one machine: PostgreSQL, Redis, Temporal and an S3 server,
// each only where the settings name none.
//
// A start has two steps. Prepare claims the data directory, gets hold of a Temporal server (building it once if need
// be) and, for root, gives up root. Host.Start then starts the engines side by side. All children are direct ones in
// process groups of their own, so that their end is noticed and Ctrl-C reaches only Dateline, which stops them in order.
// A child that dies is started again on its port and its data, until it dies too often (supervise.go).
package embedded

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"dateline/internal/infra/config"
)

// Host is a data directory that this process holds, ready to start engines in.
type Host struct {
	cfg      *config.Config
	dataDir  string // cfg.DataDir without symbolic links, as the children's command lines show it
	lock     *os.File
	look     lookup
	ports    *ports
	temporal program
}

// Prepare claims cfg.DataDir, makes sure that a Temporal server can be started where cfg names none, and then, if it
// runs as root, turns the whole process into an unprivileged one. Progress of long steps is written to progress.
//
// Afterwards the process may be unable to read the checkout, /root and the like: open what is needed from there before.
func Prepare(ctx context.Context, cfg *config.Config, progress io.Writer) (*Host, error) {
	return prepare(ctx, cfg, progress, systemLookup())
}

func prepare(ctx context.Context, cfg *config.Config, progress io.Writer, look lookup) (_ *Host, err error) {
	if err := claimDataDir(cfg.DataDir); err != nil {
		return nil, err
	}
	dataDir, err := filepath.EvalSymlinks(cfg.DataDir)
	if err != nil {
		return nil, fmt.Errorf("the data directory cannot be used: %w", err)
	}
	lock, err := lockDataDir(dataDir)
	if err != nil {
		return nil, err
	}
	h := &Host{cfg: cfg, dataDir: dataDir, lock: lock, look: look, ports: &ports{}}
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
	if err := os.RemoveAll(h.path("tmp")); err != nil { // What an earlier, killed process left.
		return nil, fmt.Errorf("the data directory cannot be used: %w", err)
	}
	for _, dir := range []string{"logs", "run", "secrets", "tmp"} {
		if err := os.MkdirAll(h.path(dir), 0o700); err != nil {
			return nil, fmt.Errorf("the data directory cannot be used: %w", err)
		}
	}
	return h, nil
}

// Close gives the data directory free. Engines.Stop does it too.
func (h *Host) Close() { _ = h.lock.Close() }

func (h *Host) path(elem ...string) string {
	return filepath.Join(append([]string{h.dataDir}, elem...)...)
}
