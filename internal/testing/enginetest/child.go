package enginetest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// child is a server that this process started.
type child struct {
	cmd    *exec.Cmd
	output bytes.Buffer // read it only after done
	done   chan struct{}
}

// startChild starts a program that the kernel ends with a signal when this process is
// killed.
func startChild(stop syscall.Signal, owner *syscall.Credential, dir, program string, args ...string) (*child, error) {
	c := &child{cmd: exec.Command(program, args...), done: make(chan struct{})}
	c.cmd.Dir = dir
	c.cmd.Env = environment(dir)
	c.cmd.Stdout, c.cmd.Stderr = &c.output, &c.output
	c.cmd.SysProcAttr = attributes(stop, owner)
	started := make(chan error)
	go func() {
		// The death signal is sent when the thread that started the child ends, so that
		// thread has to live as long as the child. prctl(2), PR_SET_PDEATHSIG.
		runtime.LockOSThread()
		err := c.cmd.Start()
		started <- err
		if err == nil {
			_ = c.cmd.Wait() // its output shows how it ended
			close(c.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	return c, nil
}

// await waits until ready succeeds.
func (c *child) await(ready func() error) error {
	for deadline := time.Now().Add(time.Minute); ; {
		err := ready()
		if err == nil {
			return nil
		}
		select {
		case <-c.done:
			return fmt.Errorf("%s ended at once and said:\n%s", c.cmd.Path, c.output.String())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s does not respond: %w", c.cmd.Path, err)
		}
	}
}

// stop ends the server and waits until it is gone.
func (c *child) stop(with syscall.Signal) {
	_ = c.cmd.Process.Signal(with)
	select {
	case <-c.done:
	case <-time.After(10 * time.Second):
		_ = c.cmd.Process.Kill()
		<-c.done
	}
}

// environment keeps settings such as PGDATA and PGOPTIONS away from servers.
func environment(home string) []string {
	env := []string{"HOME=" + home, "TMPDIR=" + home, "LC_ALL=C", "TZ=UTC"}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// unprivileged is the user nobody when the tests run as root, which Postgres refuses;
// nil for any other user.
func unprivileged() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	const nobody = 65534
	c := &syscall.Credential{Uid: nobody, Gid: nobody}
	if u, err := user.Lookup("nobody"); err == nil {
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		if errUID == nil && errGID == nil && uid != 0 {
			c.Uid, c.Gid = uint32(uid), uint32(gid)
		}
	}
	return c
}
