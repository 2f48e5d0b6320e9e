package enginetest

import (
	"os/signal"
	"strconv"
	"syscall"
	"testing"
)

// SmallDisk returns a directory that holds at most room bytes: a file system of that
// size where the test may mount one, else a limit on every file that this process
// writes. A test that uses it must not run in parallel.
func SmallDisk(t testing.TB, room uint64) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+strconv.FormatUint(room, 10)); err == nil {
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		return dir
	}
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ) // the write fails instead
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: room, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before) })
	return dir
}
