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

// stopOrphan ends a child that outlived an earlier, killed Dateline. pidFile's first line is its process id. The
// process is only touched when its command line holds mark, a path inside our data directory: the id may have been
// given to a stranger since.
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
		if !waitGone(pid, mark, grace) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			if !waitGone(pid, mark, 5*time.Second) {
				return fmt.Errorf("process %d of an earlier start still runs and cannot be stopped; stop it by hand", pid)
			}
		}
	}
	// Whatever is left of the file is stale now, also when a stranger has the id.
	if err := os.Remove(pidFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func waitGone(pid int, mark string, limit time.Duration) bool {
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
