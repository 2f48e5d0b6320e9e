//go:build !linux

package enginetest

import "syscall"

// attributes: no other kernel stops a child when its parent dies, so a killed
// test leaves its servers to be stopped by hand.
func attributes(_ syscall.Signal, owner *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: owner}
}
