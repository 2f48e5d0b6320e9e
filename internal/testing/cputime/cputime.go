// Package cputime measures the CPU times of running programs for benchmarks.
package cputime

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of CPU times in /proc/PID/stat on Linux: proc(5), sysconf(3).
const clockTick = 10 * time.Millisecond

// Times are CPU times by the name of the process. That of this process has no name.
type Times map[string]time.Duration

// Of returns the CPU times of a process with its descendants, and of this process. It is
// empty where there is no /proc.
func Of(root int) Times {
	type process struct {
		name   string
		parent int
		time   time.Duration
	}
	processes, out := map[int]process{}, Times{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// The name in parentheses may have spaces.
		begin, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
		fields := strings.Fields(string(raw[end+1:]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || begin < 0 || end < begin || len(fields) < 15 {
			continue
		}
		p := process{name: string(raw[begin+1 : end])}
		p.parent, _ = strconv.Atoi(fields[1])
		for _, field := range fields[11:15] { // utime, stime, cutime and cstime
			ticks, _ := strconv.ParseInt(field, 10, 64)
			p.time += time.Duration(ticks) * clockTick
		}
		processes[pid] = p
	}
	for pid, p := range processes {
		at := pid
		for at > 1 && at != root {
			at = processes[at].parent
		}
		if at == root && pid != os.Getpid() {
			out[p.name] += p.time
		}
	}
	out[""] = processes[os.Getpid()].time
	return out
}

// Since returns the times between two measurements.
func (c Times) Since(before Times) Times {
	out := Times{}
	for name, t := range c {
		out[name] = t - before[name]
	}
	return out
}

// PerUnit returns the CPU time in milliseconds of each of n units.
func (c Times) PerUnit(n int) (ms float64, byName string) {
	names := slices.Sorted(maps.Keys(c))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(c[b], c[a]) })
	var parts []string
	for _, name := range names {
		each := c[name].Seconds() * 1000 / float64(n)
		ms += each
		if each >= 0.1 {
			parts = append(parts, fmt.Sprintf("%s %.1f", cmp.Or(name, "client"), each))
		}
	}
	return ms, strings.Join(parts, ", ")
}
