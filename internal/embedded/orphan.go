package embedded

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopOrphan stops a child of a killed Dateline process. The first line of pidFile is its process ID. The process is
// only signaled if its command line contains mark, a path in the data directory, because the ID may have been reused.
func stopOrphan(pidFile, mark string, signal syscall.Signal, grace time.Duration) error {
	text, err := os.ReadFile(pidFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err == nil && pid > 1 && strings.Contains(commandLine(pid), mark) {
		_ = syscall.Kill(pid, signal)
		if !waitForExit(pid, mark, grace) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			if !waitForExit(pid, mark, 5*time.Second) {
				return fmt.Errorf("process %d of a previous start is still running and cannot be stopped; stop it manually", pid)
			}
		}
	}
	// The file is stale now, even if the ID was reused.
	if err := os.Remove(pidFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func waitForExit(pid int, mark string, limit time.Duration) bool {
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if !strings.Contains(commandLine(pid), mark) {
			return true
		}
	}
	return false
}

// commandLine returns the arguments of a process, or "" when there is none (a zombie counts as none).
func commandLine(pid int) string {
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil {
		return string(bytes.ReplaceAll(text, []byte{0}, []byte{' '}))
	} else if _, err := os.Stat("/proc/self/cmdline"); err == nil {
		return ""
	}
	// No /proc, as on macOS.
	text, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return string(text)
}
