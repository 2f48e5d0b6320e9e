package hoststats

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// Usage is the resource usage of a process and its descendants.
type Usage struct {
	Name   string  // of the program
	CPU    float64 // seconds, including exited processes
	Memory int64   // bytes; shared memory is counted once
}

// ticks is the number of clock ticks per second (USER_HZ), which is 100 on all
// relevant Linux architectures (proc_pid_stat(5)).
const ticks = 100

type process struct {
	name   string
	parent int
	cpu    float64
	own    int64 // private bytes
	shared int64
}

// Children returns the usage of the child processes of this process, each including
// its descendants. It is empty on systems without /proc.
func Children() []Usage {
	all := processes()
	self := os.Getpid()
	byChild := map[int]*Usage{}
	shared := map[int]int64{}
	for pid, p := range all {
		child := pid
		for depth := 0; depth < 20 && all[child].parent != self; depth++ {
			up, known := all[all[child].parent]
			if !known || up.parent == 0 {
				break
			}
			child = all[child].parent
		}
		if all[child].parent != self {
			continue
		}
		u := byChild[child]
		if u == nil {
			u = &Usage{Name: all[child].name}
			byChild[child] = u
		}
		u.CPU += p.cpu
		u.Memory += p.own
		shared[child] = max(shared[child], p.shared)
	}
	usages := make([]Usage, 0, len(byChild))
	for child, u := range byChild {
		u.Memory += shared[child]
		usages = append(usages, *u)
	}
	return usages
}

// processes reads all processes from /proc.
func processes() map[int]process {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	all := map[int]process{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, ok := readProcess("/proc/" + e.Name()); ok {
			all[pid] = p
		}
	}
	return all
}

// readProcess reads proc_pid_stat(5) and proc_pid_statm(5).
func readProcess(dir string) (p process, ok bool) {
	raw, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return p, false
	}
	// The name is in parentheses and can contain parentheses.
	open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 0 || end < open {
		return p, false
	}
	p.name = string(raw[open+1 : end])
	fields := strings.Fields(string(raw[end+1:])) // starting with the state, field 3
	if len(fields) < 15 {
		return p, false
	}
	if p.parent, err = strconv.Atoi(fields[1]); err != nil {
		return p, false
	}
	// utime, stime and those of exited children: fields 14 to 17.
	for _, field := range fields[11:15] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return p, false
		}
		p.cpu += float64(n) / ticks
	}
	if raw, err = os.ReadFile(dir + "/statm"); err != nil {
		return p, false
	}
	var size, resident, shared int64
	for i, to := range []*int64{&size, &resident, &shared} {
		field, rest, _ := bytes.Cut(raw, []byte(" "))
		if *to, err = strconv.ParseInt(string(field), 10, 64); err != nil {
			return p, false
		}
		if raw = rest; i == 2 {
			break
		}
	}
	page := int64(os.Getpagesize())
	p.own, p.shared = (resident-shared)*page, shared*page
	return p, true
}
