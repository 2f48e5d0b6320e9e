package embedded

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// endBackends stops the backends that a killed PostgreSQL left in its data directory.
// When the postmaster dies, its backends exit the next time they wait, but a long query
// continues to run, and while it uses the shared memory, no new postmaster starts
// ("pre-existing shared memory block is still in use"). SIGQUIT makes a process exit
// immediately, and the recovery that follows anyway cleans up after it.
// https://www.postgresql.org/docs/current/server-shutdown.html
//
// Without /proc none are found; the new postmaster then refuses to start until the last
// one has ended.
func endBackends(dir string) {
	for _, signal := range []syscall.Signal{syscall.SIGQUIT, syscall.SIGKILL} {
		for deadline := time.Now().Add(3 * time.Second); time.Now().
			Before(deadline); time.Sleep(20 * time.Millisecond) {
			orphans := orphanBackends(dir)
			if len(orphans) == 0 {
				return
			}
			for _, pid := range orphans {
				_ = syscall.Kill(pid, signal)
			}
		}
	}
}

// orphanBackends lists the server processes that work in dir and whose postmaster is gone. They all have dir as their
// working directory and a title that begins with "postgres: ".
func orphanBackends(dir string) []int {
	var pids []int
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		pid, err := strconv.Atoi(filepath.Base(process))
		if err != nil || workingDir(pid) != dir || workingDir(parent(pid)) == dir {
			continue
		}
		if strings.HasPrefix(commandLine(pid), "postgres: ") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// workingDir returns "" for a process that is gone, a zombie or another user's.
func workingDir(pid int) string {
	dir, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
	if err != nil {
		return ""
	}
	return dir
}

// parent returns 0 when the process is gone. The second field, a name, may hold spaces and brackets: proc_pid_stat(5).
func parent(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	ppid, _ := strconv.Atoi(string(fields[1]))
	return ppid
}
