//go:build !linux

package enginetest

import "syscall"

// attributes returns nil: other kernels do not stop a child when its parent dies, so
// the servers of a killed test have to be stopped by hand.
func attributes(_ syscall.Signal, owner *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: owner}
}
