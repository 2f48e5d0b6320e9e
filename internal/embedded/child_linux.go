package embedded

import "syscall"

// childAttributes puts the child into its own process group, away from the terminal's Ctrl-C, and has the kernel stop
// it when this process is killed.
func childAttributes(onParentDeath syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: onParentDeath}
}
