package enginetest

import "syscall"

// attributes put the child into a group of its own, which Ctrl-C does not
// reach, and let the kernel stop it when its parent dies.
func attributes(stop syscall.Signal, owner *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: stop, Credential: owner}
}
