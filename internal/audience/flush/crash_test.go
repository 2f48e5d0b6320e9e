package flush_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"dateline/internal/audience/counter"
	"dateline/internal/audience/flush"
	"dateline/internal/storage/postgres"
	"dateline/internal/testing/enginetest"
)

// What a child process is told: where it is to die, and the engines.
const (
	crashAt       = "TALLY_TEST_CRASH_AT"
	crashDatabase = "TALLY_TEST_DATABASE"
	crashRedis    = "TALLY_TEST_REDIS"
)

// crash flushes, and dies on the way as kill -9 makes one die: nothing deferred
// runs, nothing is sent any more.
func crash(at string) (code int) {
	ctx := context.Background()
	s, err := postgres.Open(ctx, os.Getenv(crashDatabase))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	options, err := redis.ParseURL(os.Getenv(crashRedis))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	m, client := mortal(at), redis.NewClient(options)
	var last int64
	if _, err := fmt.Sscanf(at, "after round trip %d", &last); err == nil {
		client.AddHook(&mortalTrips{last: last})
	}
	k := &flush.Flusher{Counter: mortalCounter{counter.New(client, counter.Options{Shards: shards}), m}, Store: mortalStore{s, m}, Log: slog.New(slog.DiscardHandler)}
	if _, err := k.Flush(ctx, func() {}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}

// mortal is where a process dies.
type mortal string

func (m mortal) here(at string) {
	if string(m) == at {
		die()
	}
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	time.Sleep(time.Hour)
}

// mortalTrips dies with the answer to one of its round trips to Redis.
type mortalTrips struct {
	last int64
	made atomic.Int64
}

func (m *mortalTrips) trip() {
	if m.made.Add(1) == m.last {
		die()
	}
}

func (m *mortalTrips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (m *mortalTrips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		m.trip()
		return err
	}
}

func (m *mortalTrips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		m.trip()
		return err
	}
}

type mortalCounter struct {
	*counter.Counter
	mortal
}

func (c mortalCounter) TakeBatch(ctx context.Context, shard int, batch uuid.UUID) (bool, error) {
	c.here("before a batch is taken")
	took, err := c.Counter.TakeBatch(ctx, shard, batch)
	c.here("after a batch was taken")
	return took, err
}

func (c mortalCounter) ReadBatch(ctx context.Context, shard int, batch uuid.UUID) (counter.Batch, error) {
	deltas, err := c.Counter.ReadBatch(ctx, shard, batch)
	c.here("after a batch was read")
	return deltas, err
}

func (c mortalCounter) DropBatch(ctx context.Context, shard int, batch uuid.UUID) error {
	c.here("before a batch is dropped")
	err := c.Counter.DropBatch(ctx, shard, batch)
	c.here("after a batch was dropped")
	return err
}

func (c mortalCounter) Seed(ctx context.Context, totals []counter.PageTotals) error {
	c.here("before pages are filled in")
	err := c.Counter.Seed(ctx, totals)
	c.here("after pages were filled in")
	return err
}

func (c mortalCounter) MarkSeeded(ctx context.Context, shard int) error {
	err := c.Counter.MarkSeeded(ctx, shard)
	c.here("after a shard was filled in")
	return err
}

type mortalStore struct {
	*postgres.Store
	mortal
}

func (s mortalStore) ApplyViewBatch(ctx context.Context, shard int, batch uuid.UUID, deltas counter.Batch) (bool, error) {
	applied, err := s.Store.ApplyViewBatch(ctx, shard, batch, deltas)
	s.here("after a batch was applied")
	return applied, err
}

// child starts a process that flushes and dies.
func (r *room) child(at string) *exec.Cmd {
	r.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashAt+"="+at, crashDatabase+"="+r.databaseURL, crashRedis+"="+r.redisURL)
	cmd.Stderr = os.Stderr
	for r.number("select count(*) from pg_locks where locktype = 'advisory' and granted") > 0 {
		time.Sleep(10 * time.Millisecond) // somebody who is dead already
	}
	r.must(cmd.Start())
	return cmd
}

// died waits for a child to be killed.
func (r *room) died(cmd *exec.Cmd) {
	r.t.Helper()
	_ = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGKILL {
		r.t.Fatalf("the process ended with %s instead of being killed", cmd.ProcessState)
	}
}

func TestFlush_KilledAtEveryStep(t *testing.T) {
	for _, at := range []string{"before a batch is taken", "after a batch was taken", "after a batch was read", "after a batch was applied",
		"before a batch is dropped", "after a batch was dropped"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			r := open(t, enginetest.Redis(t))
			r.flush() // a new installation
			r.readAll(5, 10)
			for range 2 { // one death upon the other
				r.died(r.child(at))
				r.readAll(7, 3)
			}
			r.agree("after two deaths")
			r.readAll(5, 1)
			r.agree("after one more flush")
		})
	}
}

// TestFlush_KilledAfterEveryRoundTrip: to Redis, folding included,
// one death after the other.
func TestFlush_KilledAfterEveryRoundTrip(t *testing.T) {
	t.Parallel()
	r := open(t, enginetest.Redis(t))
	r.flush() // a new installation
	deaths := 0
	for {
		r.readAll(5, 2)
		cmd := r.child(fmt.Sprintf("after round trip %d", deaths+1))
		if err := cmd.Wait(); err == nil {
			break // it has no more round trips than that
		}
		r.died(cmd)
		deaths++
	}
	if deaths < 15 { // two shards, of which each is gathered, folded, taken, read and dropped
		t.Errorf("a flush makes %d round trips", deaths)
	}
	r.agree(fmt.Sprintf("after %d deaths", deaths))
	r.readAll(5, 1)
	r.agree("after one more flush")
}

func TestFlush_KilledDuringTransaction(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.flush()
	r.readAll(5, 10)
	ctx := t.Context()
	blocker, err := pgx.Connect(ctx, r.databaseURL)
	r.must(err)
	defer func() { _ = blocker.Close(context.WithoutCancel(ctx)) }()
	r.must(r.store.CreateViewPartitions(ctx, time.Now()))
	tx, err := blocker.Begin(ctx)
	r.must(err)
	_, err = tx.Exec(ctx, "lock table view_hours_due in exclusive mode") // the last thing that a batch writes
	r.must(err)
	cmd := r.child("nowhere")
	for r.number("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%view_hours_due%' and pid <> pg_backend_pid()") == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	r.must(cmd.Process.Kill())
	r.died(cmd)
	r.must(tx.Rollback(ctx))
	r.readAll(5, 1)
	r.agree("after the death")
}

func TestFlush_KilledWhileSeeding(t *testing.T) {
	for _, at := range []string{"before pages are filled in", "after pages were filled in", "after a shard was filled in"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			r := open(t, enginetest.Redis(t))
			r.flush()
			r.readAll(5, 10)
			r.flush()
			r.must(r.redis.FlushAll(t.Context()).Err())
			r.readAll(5, 2)
			r.died(r.child(at))
			r.readAll(5, 1)
			r.agree("after the death")
		})
	}
}
