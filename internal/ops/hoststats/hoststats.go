// Package hoststats measures the host of a process: memory limits, disk space, the
// usage of child processes, and the expiry of TLS certificates. Values that the
// operating system does not provide are omitted.
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

// MemoryLimit returns the memory limit of this process: the smallest of GOMEMLIMIT,
// the limit of its cgroup (docs.kernel.org/admin-guide/cgroup-v2.html,
// "memory.max") and the memory of the host. ok is false if there is none.
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

// DiskSpace is the free and the total space of a file system, in bytes.
type DiskSpace struct{ Free, Size int64 }

// errUnknownSize is returned for file systems that do not report their size.
var errUnknownSize = errors.New("the file system does not report its size") //nolint:gochecknoglobals // an error to compare with

// Disk returns the disk space of the file system of path, as available to non-root
// users.
func Disk(path string) (DiskSpace, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return DiskSpace{}, err
	}
	block := int64(s.Bsize)                                                          //nolint:unconvert // has another type on other systems
	space := DiskSpace{Free: int64(s.Bavail) * block, Size: int64(s.Blocks) * block} //nolint:gosec // disks are smaller than that
	if space.Size <= 0 {
		return DiskSpace{}, errUnknownSize
	}
	return space, nil
}

// SameDisk reports whether two paths are on the same file system.
func SameDisk(a, b string) bool {
	var one, other syscall.Stat_t
	return syscall.Stat(a, &one) == nil && syscall.Stat(b, &other) == nil && one.Dev == other.Dev
}
