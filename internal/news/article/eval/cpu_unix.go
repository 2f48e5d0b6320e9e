//go:build unix

package eval

import (
	"syscall"
	"time"
)

// processCPUTime returns the CPU time of this process on all processors.
func processCPUTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
