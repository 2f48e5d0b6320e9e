package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// maxLogSize is the size at which a log is rotated on the next start; one old log is kept.
const maxLogSize = 10 << 20

// childSpec describes how to run and stop a child process.
type childSpec struct {
	name       string // names the log
	path       string
	args       []string
	env        []string // added to the minimal environment
	dir        string   // working directory
	stopSignal syscall.Signal
	grace      time.Duration // from stopSignal to SIGKILL

	// prepare runs before every start; can be nil.
	prepare func() error
	// ready succeeds when the engine is usable.
	ready func(context.Context) error
	// cleanup stops processes that the child leaves running when it is killed; can be nil. It runs before every start
	// and after the stop.
	cleanup func()
}

// readyTimeout allows for slow starts after a crash, such as the recovery of PostgreSQL or a large append-only file of
// Redis.
const readyTimeout = 2 * time.Minute

// child is a supervised child process.
type child struct {
	spec     childSpec
	cmd      *exec.Cmd
	logPath  string
	logStart int64         // offset of this run in the log
	done     chan struct{} // closed when the process has ended
	exit     error         // valid after done
}

// startChild starts the process. Its output goes straight to <data>/logs/<name>.log.
func (h *Host) startChild(spec childSpec) (*child, error) {
	spec.clean()
	if spec.prepare != nil {
		if err := spec.prepare(); err != nil {
			return nil, fmt.Errorf("preparing %s: %w", spec.name, err)
		}
	}
	c := &child{spec: spec, done: make(chan struct{})}
	log, err := c.openLog(h.path("logs"))
	if err != nil {
		return nil, err
	}
	defer log.Close()

	c.cmd = exec.Command(spec.path, spec.args...)
	c.cmd.Dir = spec.dir
	c.cmd.Env = append(childEnv(h.dataDir), spec.env...)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = childAttributes(spec.stopSignal)

	started := make(chan error)
	go func() {
		// PR_SET_PDEATHSIG (prctl(2)) is tied to the thread that created the child, so the thread must exist as long
		// as the child.
		runtime.LockOSThread()
		err := c.cmd.Start()
		started <- err
		if err != nil {
			return
		}
		c.exit = c.cmd.Wait()
		close(c.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", spec.name, err)
	}
	return c, nil
}

func (s childSpec) clean() {
	if s.cleanup != nil {
		s.cleanup()
	}
}

func (c *child) openLog(dir string) (*os.File, error) {
	c.logPath = filepath.Join(dir, c.spec.name+".log")
	if info, err := os.Stat(c.logPath); err == nil && info.Size() > maxLogSize {
		if err := os.Rename(c.logPath, c.logPath+".old"); err != nil {
			return nil, err
		}
	}
	log, err := os.OpenFile(c.logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", c.spec.name, err)
	}
	c.logStart, err = log.Seek(0, io.SeekEnd)
	return log, err
}

// childEnv returns a minimal environment, without secrets and settings such as PGDATA.
func childEnv(dataDir string) []string {
	env := []string{"HOME=" + dataDir, "TMPDIR=" + filepath.Join(dataDir, "tmp"), "LC_ALL=C"}
	for _, name := range []string{
		"PATH", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE",
		"SSL_CERT_DIR",
	} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

func (c *child) alive() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// stop signals the child, and kills its process group after the grace period or when ctx ends.
func (c *child) stop(ctx context.Context) {
	_ = c.cmd.Process.Signal(c.spec.stopSignal)
	grace := time.NewTimer(c.spec.grace)
	defer grace.Stop()
	select {
	case <-c.done:
	case <-grace.C:
	case <-ctx.Done():
	}
	if c.alive() {
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		<-c.done
	}
	c.spec.clean()
}

// status returns the exit status. It is valid after done.
func (c *child) status() string {
	var exit *exec.ExitError
	if c.exit != nil && !errors.As(c.exit, &exit) {
		return c.exit.Error()
	}
	return c.cmd.ProcessState.String()
}

// failure returns an error for an unexpected exit. It is valid after done.
func (c *child) failure() error {
	message := fmt.Sprintf("%s exited unexpectedly (%s); log: %s", c.spec.name, c.status(), c.logPath)
	if tail := c.logTail(); tail != "" {
		message += ", last lines:\n  " + strings.ReplaceAll(tail, "\n", "\n  ")
	}
	return errors.New(message)
}

// logTail returns the last lines of this run.
func (c *child) logTail() string {
	const limit, lines = 4 << 10, 12
	f, err := os.Open(c.logPath)
	if err != nil {
		return ""
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	text := make([]byte, min(size-c.logStart, limit))
	if _, err := f.ReadAt(text, size-int64(len(text))); err != nil {
		return ""
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// permanent is an error of a readiness check that retrying does not resolve.
type permanent struct{ error }

// readyInterval is the interval of the checks, which fail at once while nothing listens.
const readyInterval = 10 * time.Millisecond

// waitReady waits until the child is ready, fails permanently or exits, or until readyTimeout.
func (c *child) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for {
		err := c.spec.ready(ctx)
		if err == nil {
			return nil
		}
		var final permanent
		if errors.As(err, &final) {
			return fmt.Errorf("%s: %w", c.spec.name, final.error)
		}
		select {
		case <-c.done:
			return c.failure()
		case <-ctx.Done():
			return fmt.Errorf("%s did not become ready within %s (%w); log: %s", c.spec.name, readyTimeout, err,
				c.logPath)
		case <-time.After(readyInterval):
		}
	}
}
