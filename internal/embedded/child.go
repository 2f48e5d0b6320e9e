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

// maxLog is the size at which a log is put aside on the next start; one old log is kept.
const maxLog = 10 << 20

// childSpec says how to run and how to stop a child.
type childSpec struct {
	name       string // names the log and the process id file
	path       string
	args       []string
	dir        string // working directory
	stopSignal syscall.Signal
	grace      time.Duration // from stopSignal to SIGKILL

	// ready succeeds when the engine can be used.
	ready func(context.Context) error
	// cleanup ends what the process, killed, may leave running; nil where nothing is left. It runs before every start
	// and after the stop.
	cleanup func()
}

// readyLimit leaves room for what can take a while after a crash: PostgreSQL's recovery, reading a large append-only
// file of Redis, Temporal's schema.
const readyLimit = 2 * time.Minute

// child is a running process that Dateline started and watches.
type child struct {
	spec     childSpec
	cmd      *exec.Cmd
	logPath  string
	logStart int64 // where this run begins in the log
	pidFile  string
	done     chan struct{} // closed when the process has ended
	exit     error         // valid after done
}

// startChild starts the process. Its output goes straight to <data>/logs/<name>.log.
func (h *Host) startChild(spec childSpec) (*child, error) {
	spec.clean()
	c := &child{spec: spec, done: make(chan struct{}), pidFile: h.path("run", spec.name+".pid")}
	log, err := c.openLog(h.path("logs"))
	if err != nil {
		return nil, err
	}
	defer log.Close()

	c.cmd = exec.Command(spec.path, spec.args...)
	c.cmd.Dir = spec.dir
	c.cmd.Env = childEnv(h.dataDir)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	c.cmd.SysProcAttr = childAttributes(spec.stopSignal)

	started := make(chan error)
	go func() {
		// The signal of a parent's death (Linux) is tied to the thread that made the child, so that thread stays
		// for as long as the child lives. prctl(2), PR_SET_PDEATHSIG.
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
		return nil, fmt.Errorf("start %s: %w", spec.name, err)
	}
	if err := os.WriteFile(c.pidFile, fmt.Appendf(nil, "%d\n", c.cmd.Process.Pid), 0o600); err != nil {
		c.stop(context.Background())
		return nil, fmt.Errorf("start %s: %w", spec.name, err)
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
	if info, err := os.Stat(c.logPath); err == nil && info.Size() > maxLog {
		if err := os.Rename(c.logPath, c.logPath+".old"); err != nil {
			return nil, err
		}
	}
	log, err := os.OpenFile(c.logPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of %s: %w", c.spec.name, err)
	}
	c.logStart, err = log.Seek(0, io.SeekEnd)
	return log, err
}

// childEnv is small on purpose: secrets of ours and settings such as PGDATA must not reach the engines.
func childEnv(dataDir string) []string {
	env := []string{"HOME=" + dataDir, "TMPDIR=" + filepath.Join(dataDir, "tmp"), "LC_ALL=C"}
	for _, name := range []string{"PATH", "TZ", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
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

// stop asks the child to end, and kills its process group when the grace is over or ctx ends.
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
	_ = os.Remove(c.pidFile)
}

// status is how the child ended. It is valid after done.
func (c *child) status() string {
	var exit *exec.ExitError
	if c.exit != nil && !errors.As(c.exit, &exit) {
		return c.exit.Error()
	}
	return c.cmd.ProcessState.String()
}

// failure describes an end that nobody asked for. It is valid after done.
func (c *child) failure() error {
	message := fmt.Sprintf("%s ended unexpectedly (%s); its log is %s", c.spec.name, c.status(), c.logPath)
	if tail := c.logTail(); tail != "" {
		message += " and ends:\n  " + strings.ReplaceAll(tail, "\n", "\n  ")
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

// permanent marks an error of a readiness check that waiting does not mend.
type permanent struct{ error }

// waitReady checks until the child is ready or fails for good, the child ends, or readyLimit passes.
func (c *child) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
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
			return fmt.Errorf("%s did not become ready within %s (%w); its log is %s", c.spec.name, readyLimit, err, c.logPath)
		case <-time.After(40 * time.Millisecond):
		}
	}
}
