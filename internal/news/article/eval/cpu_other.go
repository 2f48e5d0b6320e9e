//go:build !unix

package eval

import "time"

// processCPUTime is the clock's: this system does not tell what a process uses.
func processCPUTime() time.Duration { return time.Duration(time.Now().UnixNano()) }
