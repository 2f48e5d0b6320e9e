package embedded

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// stopOrphans stops the children of a killed Dateline process: programs with one of the names
// whose command line contains mark, a path in the data directory. There is no file of process
// ids, which the loss of the data directory would remove.
func stopOrphans(mark string, signal syscall.Signal, grace time.Duration, names ...string) error {
	for _, pid := range orphans(mark, names) {
		_ = syscall.Kill(pid, signal)
		if !waitForExit(pid, mark, grace) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			if !waitForExit(pid, mark, 5*time.Second) {
				return fmt.Errorf("process %d of a previous start is still running and cannot be stopped; stop "+
					"it manually", pid)
			}
		}
	}
	return nil
}

func orphans(mark string, names []string) (pids []int) {
	for pid, line := range commandLines() {
		program, _, _ := strings.Cut(line, " ")
		if pid > 1 && pid != os.Getpid() && slices.Contains(names, filepath.Base(program)) &&
			strings.Contains(line, mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// commandLines returns the arguments of all processes.
func commandLines() map[int]string {
	lines := map[int]string{}
	if processes, _ := filepath.Glob("/proc/[0-9]*"); len(processes) > 0 {
		for _, process := range processes {
			if pid, err := strconv.Atoi(filepath.Base(process)); err == nil {
				lines[pid] = commandLine(pid)
			}
		}
		return lines
	}
	// No /proc, as on macOS.
	text, err := exec.Command("ps", "-axww", "-o", "pid=,command=").Output()
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		id, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		if pid, err := strconv.Atoi(id); err == nil {
			lines[pid] = strings.TrimSpace(command)
		}
	}
	return lines
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
	text, err := exec.Command("ps", "-ww", "-o", "command=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return string(text)
}

// checkDataDir returns an error if the data directory is no longer the one that this process locked: engines must not
// continue on files that nobody will find again, and must not create the directory again.
func (h *Host) checkDataDir() error {
	locked, err := h.lock.Stat()
	if err != nil {
		return nil //nolint:nilerr // closed: the host is stopping
	}
	if there, err := os.Stat(h.path(lockName)); err != nil || !os.SameFile(locked, there) {
		return fmt.Errorf("the data directory %s was removed or replaced while it was in use; everything was stopped."+
			" Put it back or restore a backup, and start it again", h.dataDir)
	}
	return nil
}
