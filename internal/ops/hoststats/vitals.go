// Package hoststats looks at what a process stands on: memory, disks, the engines
// that it has started, and certificates. What a system does not tell is left out.
package hoststats

import (
	"bytes"
	"errors"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

// MemoryLimit is what this process may use: the smallest of GOMEMLIMIT, the
// limit of its control group (docs.kernel.org/admin-guide/cgroup-v2.html,
// "memory.max") and the memory of the host. ok is false where nothing tells.
func MemoryLimit() (limit int64, ok bool) {
	limit = debug.SetMemoryLimit(-1)
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil {
			limit = min(limit, n)
		}
	}
	if total, found := hostMemory(); found {
		limit = min(limit, total)
	}
	return limit, limit < math.MaxInt64
}

// hostMemory reads /proc/meminfo (proc_meminfo(5)).
func hostMemory() (int64, bool) {
	raw, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(raw) {
		fields := bytes.Fields(line)
		if len(fields) < 2 || string(fields[0]) != "MemTotal:" {
			continue
		}
		kib, err := strconv.ParseInt(string(fields[1]), 10, 64)
		return kib << 10, err == nil
	}
	return 0, false
}

// Room is what a disk has.
type Room struct{ Free, Size int64 }

// errNoRoom says that a file system does not tell its size.
var errNoRoom = errors.New("the file system does not tell its size") //nolint:gochecknoglobals // an error to compare with

// Disk says how much room is where path lies, for whoever is not root.
func Disk(path string) (Room, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return Room{}, err
	}
	block := int64(s.Bsize)                                                    //nolint:unconvert // of another size elsewhere
	room := Room{Free: int64(s.Bavail) * block, Size: int64(s.Blocks) * block} //nolint:gosec // disks are smaller than that
	if room.Size <= 0 {
		return Room{}, errNoRoom
	}
	return room, nil
}

// SameDisk says whether two paths lie on one file system.
func SameDisk(a, b string) bool {
	var one, other syscall.Stat_t
	return syscall.Stat(a, &one) == nil && syscall.Stat(b, &other) == nil && one.Dev == other.Dev
}
