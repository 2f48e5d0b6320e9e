package embedded

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// lockName is the file that is locked while a process uses the data directory. It also marks the
// directory as that of Dateline.
const lockName = "dateline.lock"

// claimDataDir creates the directory, or checks that an existing one belongs to Dateline. The check is important for
// root, because the ownership of the whole directory is changed.
func claimDataDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("the data directory %s cannot be created (choose another with DATELINE_DATA_DIR): %w", dir,
			err)
	}
	if err := os.Mkdir(dir, 0o700); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("the data directory %s cannot be created (choose another with DATELINE_DATA_DIR): %w", dir,
			err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("the data directory %s cannot be read; it may belong to another user, for example after a "+
			"start as root"+
			" (choose another with DATELINE_DATA_DIR): %w", dir, err)
	}
	// `dateline api` and `worker` may have put a keyset there before the first `up`.
	allowed := []string{"keyset.json", "bin"}
	foreign := ""
	for _, e := range entries {
		if e.Name() == lockName {
			return nil
		}
		if !slices.Contains(allowed, e.Name()) && foreign == "" {
			foreign = e.Name()
		}
	}
	if foreign != "" {
		return fmt.Errorf("the directory %s is not empty and was not created by Dateline (it contains %q); it was "+
			"not modified."+
			" Set DATELINE_DATA_DIR to an empty or new directory", dir, foreign)
	}
	return nil
}

// lockDataDir locks the directory for this process. The lock is released when the process ends.
func lockDataDir(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	// No symbolic links: root opens this file in a directory that an unprivileged user may own.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the data directory %s cannot be locked; it may belong to another user, for example "+
			"after a start as root"+
			" (choose another with DATELINE_DATA_DIR): %w", dir, err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder := make([]byte, 20)
		n, _ := f.Read(holder)
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("another `dateline up` (process %s) is using the data directory %s; stop it, or "+
				"set DATELINE_DATA_DIR to another directory",
				strings.TrimSpace(string(holder[:n])), dir)
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	if err = f.Truncate(0); err == nil {
		_, err = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	return f, nil
}
