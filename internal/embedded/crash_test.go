package embedded

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
)

// kill kills the process with which an engine was started, and waits until the warning
// is logged.
func (p *process) kill(t *testing.T, name string) {
	t.Helper()
	pid := p.Children[name]
	if pid <= 0 {
		t.Fatalf("%s is not among the children: %v", name, p.Children)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, 5*time.Second, func() error {
		for line := range strings.Lines(p.stderr.String()) {
			if strings.Contains(line, "level=WARN") && strings.Contains(line, "engine="+name) &&
				strings.Contains(line, `status="signal: killed"`) &&
				strings.Contains(line, "logs/"+name+".log") && strings.Contains(line, "wait=500ms") {
				return nil
			}
		}
		return errors.New("no warning: " + p.stderr.String())
	})
}

// eventually fails the test when try still fails after the limit.
func eventually(t *testing.T, limit time.Duration, try func() error) {
	t.Helper()
	began := time.Now()
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Since(began) > limit {
			t.Fatalf("after %s: %v", limit, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// noneLeft checks that no process runs in the data directory or has it in its command
// line.
func noneLeft(t *testing.T, data string) {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(processes) == 0 {
		t.Logf("no /proc: orphaned processes are not checked (%v)", err)
	}
	for _, process := range processes {
		pid, err := strconv.Atoi(filepath.Base(process))
		if err != nil || pid == os.Getpid() {
			continue
		}
		// A process without a command line has released its memory and is about to end
		// (proc_pid_cmdline(5)).
		if line := commandLine(pid); line != "" &&
			(strings.Contains(line, data) || strings.HasPrefix(workingDir(pid), data)) {
			t.Errorf("process %d is left: %s", pid, line)
		}
	}
}

// losePostgres kills the postmaster while an endless query keeps one of its backends
// busy.
func (p *process) losePostgres(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	busy, err := pgx.Connect(ctx, p.Engines.DatabaseURL)
	if err != nil {
		t.Fatal(err)
	}
	broken := make(chan error, 1)
	go func() {
		_, err := busy.Exec(ctx, "do $$ begin loop end loop; end $$")
		broken <- err
	}()
	time.Sleep(200 * time.Millisecond) // Until the query runs.
	p.kill(t, "postgres")
	eventually(t, 30*time.Second, func() error { return ping(ctx, p.Engines.DatabaseURL) })
	if err := <-broken; err == nil {
		t.Error("the endless query succeeded")
	}
}

func ping(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	var word string
	return errors.Join(conn.QueryRow(ctx, "select word from kept").Scan(&word), conn.Close(ctx))
}

func (p *process) loseRedis(t *testing.T) {
	t.Helper()
	p.kill(t, "redis")
	options, err := redis.ParseURL(p.Engines.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	store := redis.NewClient(options)
	defer store.Close()
	eventually(t, 30*time.Second, func() error { return store.Get(t.Context(), "kept").Err() })
}

// loseTemporal checks that an existing client still works and that the server still has
// its workflows.
func (p *process) loseTemporal(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	c, err := client.DialContext(ctx, client.Options{HostPort: p.Engines.TemporalAddress})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: "kept", TaskQueue: "nobody-polls"},
		"Wait"); err != nil {
		t.Fatal(err)
	}
	p.kill(t, "temporal")
	eventually(t, time.Minute, func() error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		found, err := c.DescribeWorkflowExecution(ctx, "kept", "")
		if err == nil && found.GetWorkflowExecutionInfo().GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			t.Errorf("the workflow is %s", found.GetWorkflowExecutionInfo().GetStatus())
		}
		return err
	})
	eventually(t, time.Minute, func() error {
		if strings.Contains(p.stderr.String(), `msg="the engine was restarted" engine=temporal`) {
			return nil
		}
		return errors.New(p.stderr.String())
	})
	checkTemporal(t, p.Engines)
}

// Stopped at any moment after its postmaster was killed, Dateline exits normally and
// leaves no process.
func TestStop_WhilePostgresRestarts(t *testing.T) {
	data := filepath.Join(publicDir(t), "data")
	for _, pause := range []time.Duration{0, 505 * time.Millisecond, 540 * time.Millisecond, 700 * time.Millisecond} {
		p := mustStartUp(t, os.Getuid(),
			append(external[1:], "REDIS_URL=redis://127.0.0.1:1", "DATELINE_DATA_DIR="+data)...)
		if err := syscall.Kill(p.Children["postgres"], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pause)
		p.end(t, syscall.SIGTERM)
		noneLeft(t, data)
	}
}

// A server that crashes at every start is not restarted forever: Dateline stops and prints its log.
func TestRedis_KeepsCrashing(t *testing.T) {
	data := filepath.Join(publicDir(t), "data")
	p := mustStartUp(t, os.Getuid(), append(external, "DATELINE_DATA_DIR="+data)...)
	if err := os.WriteFile(filepath.Join(data, "redis", "redis.conf"), []byte("no-such-setting yes\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	p.kill(t, "redis")
	_ = p.cmd.Wait()
	said := p.stderr.String()
	if code := p.cmd.ProcessState.ExitCode(); code != 3 ||
		!strings.Contains(said, "redis exited 6 times within a minute and is not restarted: redis exited unexpectedly"+
			" (exit status 1); log: "+filepath.Join(data, "logs", "redis.log")+", last lines:\n") ||
		!strings.Contains(said, "'no-such-setting yes'") {
		t.Errorf("exit %d, said:\n%s", code, said)
	}
	if waits := strings.Count(said, "will be restarted"); waits != maxExits || !strings.Contains(said, "wait=8s") {
		t.Errorf("%d warnings:\n%s", waits, said)
	}
	noneLeft(t, data)
}
