//go:build !linux

package embedded

import "syscall"

// childAttributes puts the child into its own process group, away from the terminal's Ctrl-C. A child that outlives a
// killed parent is found by the next start (orphan.go).
func childAttributes(syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
