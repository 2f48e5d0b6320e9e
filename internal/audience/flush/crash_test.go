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
	"dateline/internal/storage/postgres/audience"
	"dateline/internal/testing/enginetest"
)

// Environment of the child process: its crash point and the engines.
const (
	crashAt       = "FLUSH_TEST_CRASH_AT"
	crashDatabase = "FLUSH_TEST_DATABASE"
	crashRedis    = "FLUSH_TEST_REDIS"
)

// crash flushes and kills its own process at the crash point, as kill -9 does.
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
	m, client := crashPoint(at), redis.NewClient(options)
	var last int64
	if _, err := fmt.Sscanf(at, "after round trip %d", &last); err == nil {
		client.AddHook(&crashingTrips{last: last})
	}
	k := &flush.Flusher{
		Counter: crashingCounter{counter.New(client, counter.Options{Shards: shards}), m},
		Store:   crashingStore{s.Audience.Views, m}, Log: slog.New(slog.DiscardHandler),
	}
	if _, err := k.Flush(ctx, func() {}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}

// crashPoint is the step at which a process crashes.
type crashPoint string

func (m crashPoint) reach(at string) {
	if string(m) == at {
		die()
	}
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	time.Sleep(time.Hour)
}

// crashingTrips crashes at the response to one of its round trips to Redis.
type crashingTrips struct {
	last int64
	made atomic.Int64
}

func (m *crashingTrips) trip() {
	if m.made.Add(1) == m.last {
		die()
	}
}

func (m *crashingTrips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (m *crashingTrips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		m.trip()
		return err
	}
}

func (m *crashingTrips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		err := next(ctx, cmds)
		m.trip()
		return err
	}
}

type crashingCounter struct {
	*counter.Counter
	crashPoint
}

func (c crashingCounter) TakeBatch(ctx context.Context, shard int, batch uuid.UUID) (bool, error) {
	c.reach("before a batch is taken")
	took, err := c.Counter.TakeBatch(ctx, shard, batch)
	c.reach("after a batch was taken")
	return took, err
}

func (c crashingCounter) ReadBatch(ctx context.Context, shard int, batch uuid.UUID) (counter.Batch, error) {
	deltas, err := c.Counter.ReadBatch(ctx, shard, batch)
	c.reach("after a batch was read")
	return deltas, err
}

func (c crashingCounter) DropBatch(ctx context.Context, shard int, batch uuid.UUID) error {
	c.reach("before a batch is dropped")
	err := c.Counter.DropBatch(ctx, shard, batch)
	c.reach("after a batch was dropped")
	return err
}

func (c crashingCounter) Seed(ctx context.Context, totals []counter.PageTotals) error {
	c.reach("before pages are seeded")
	err := c.Counter.Seed(ctx, totals)
	c.reach("after pages were seeded")
	return err
}

func (c crashingCounter) MarkSeeded(ctx context.Context, shard int) error {
	err := c.Counter.MarkSeeded(ctx, shard)
	c.reach("after a shard was seeded")
	return err
}

type crashingStore struct {
	*audience.ViewStore
	crashPoint
}

func (s crashingStore) ApplyViewBatch(
	ctx context.Context, shard int, batch uuid.UUID, deltas counter.Batch,
) (bool, error) {
	applied, err := s.ViewStore.ApplyViewBatch(ctx, shard, batch, deltas)
	s.reach("after a batch was applied")
	return applied, err
}

// child starts a process that flushes and crashes.
func (r *fixture) child(at string) *exec.Cmd {
	r.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashAt+"="+at, crashDatabase+"="+r.databaseURL, crashRedis+"="+r.redisURL)
	cmd.Stderr = os.Stderr
	for r.number("select count(*) from pg_locks where locktype = 'advisory' and granted") > 0 {
		time.Sleep(10 * time.Millisecond) // the lock of a crashed process
	}
	r.must(cmd.Start())
	return cmd
}

// died waits for a child to be killed.
func (r *fixture) died(cmd *exec.Cmd) {
	r.t.Helper()
	_ = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() ||
		status.Signal() != syscall.SIGKILL {
		r.t.Fatalf("the process ended with %s instead of being killed", cmd.ProcessState)
	}
}

func TestFlush_KilledAtEveryStep(t *testing.T) {
	for _, at := range []string{
		"before a batch is taken", "after a batch was taken", "after a batch was read",
		"after a batch was applied",
		"before a batch is dropped", "after a batch was dropped",
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			r := open(t, enginetest.Redis(t))
			r.flush() // a new installation
			r.viewPages(5, 10)
			for range 2 { // two crashes in a row
				r.died(r.child(at))
				r.viewPages(7, 3)
			}
			r.expectConsistent("after two crashes")
			r.viewPages(5, 1)
			r.expectConsistent("after one more flush")
		})
	}
}

// The process is killed after each of its round trips to Redis in turn, including those
// of aggregating.
func TestFlush_KilledAfterEveryRoundTrip(t *testing.T) {
	t.Parallel()
	r := open(t, enginetest.Redis(t))
	r.flush() // a new installation
	deaths := 0
	for {
		r.viewPages(5, 2)
		cmd := r.child(fmt.Sprintf("after round trip %d", deaths+1))
		if err := cmd.Wait(); err == nil {
			break // it has no more round trips than that
		}
		r.died(cmd)
		deaths++
	}
	if deaths < 15 { // each of two shards is summarized, aggregated, taken, read and dropped
		t.Errorf("a flush makes %d round trips", deaths)
	}
	r.expectConsistent(fmt.Sprintf("after %d crashes", deaths))
	r.viewPages(5, 1)
	r.expectConsistent("after one more flush")
}

func TestFlush_KilledDuringTransaction(t *testing.T) {
	r := open(t, enginetest.Redis(t))
	r.flush()
	r.viewPages(5, 10)
	ctx := t.Context()
	blocker, err := pgx.Connect(ctx, r.databaseURL)
	r.must(err)
	defer func() { _ = blocker.Close(context.WithoutCancel(ctx)) }()
	r.must(r.store.Audience.Views.CreateViewPartitions(ctx, time.Now()))
	tx, err := blocker.Begin(ctx)
	r.must(err)
	_, err = tx.Exec(ctx, "lock table view_hours_due in exclusive mode") // the last table that a batch writes
	r.must(err)
	cmd := r.child("nowhere")
	for r.number("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like "+
		"'%view_hours_due%' and pid <> pg_backend_pid()") == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	r.must(cmd.Process.Kill())
	r.died(cmd)
	r.must(tx.Rollback(ctx))
	r.viewPages(5, 1)
	r.expectConsistent("after the crash")
}

func TestFlush_KilledWhileSeeding(t *testing.T) {
	for _, at := range []string{"before pages are seeded", "after pages were seeded", "after a shard was seeded"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			r := open(t, enginetest.Redis(t))
			r.flush()
			r.viewPages(5, 10)
			r.flush()
			r.must(r.redis.FlushAll(t.Context()).Err())
			r.viewPages(5, 2)
			r.died(r.child(at))
			r.viewPages(5, 1)
			r.expectConsistent("after the crash")
		})
	}
}
