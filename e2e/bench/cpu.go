package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU times in /proc/PID/stat on Linux: proc(5), sysconf(3).
const clockTick = 10 * time.Millisecond

// cpu returns the CPU time of the program with its engines, and that of this
// process. Zero where there is no /proc.
func (s *stack) cpu() (stack, own time.Duration) {
	times, parents := map[int]time.Duration{}, map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// The name in parentheses may have spaces.
		end := bytes.LastIndexByte(raw, ')')
		fields := strings.Fields(string(raw[end+1:]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || end < 0 || len(fields) < 15 {
			continue
		}
		parents[pid], _ = strconv.Atoi(fields[1])
		for _, field := range fields[11:15] { // utime, stime, cutime and cstime
			ticks, _ := strconv.ParseInt(field, 10, 64)
			times[pid] += time.Duration(ticks) * clockTick
		}
	}
	for pid, t := range times {
		at := pid
		for at > 1 && at != s.cmd.Process.Pid {
			at = parents[at]
		}
		if at == s.cmd.Process.Pid {
			stack += t
		}
	}
	return stack, times[os.Getpid()]
}
