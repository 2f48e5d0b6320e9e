package batch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dateline/internal/infra/batch"
)

func double(_ context.Context, in []int) ([]int, error) {
	out := make([]int, len(in))
	for i, n := range in {
		out[i] = 2 * n
	}
	return out, nil
}

func TestDo_ReturnsOwnResult(t *testing.T) {
	b := batch.New(t.Context(), 7, 2, double)
	var all sync.WaitGroup
	for i := range 1000 {
		all.Go(func() {
			if out, err := b.Do(t.Context(), i); err != nil || out != 2*i {
				t.Errorf("Do(%d): got %d, %v", i, out, err)
			}
		})
	}
	all.Wait()
}

func TestDo_QueuedCallsFormNextBatch(t *testing.T) {
	started, goOn := make(chan int, 10), make(chan struct{})
	b := batch.New(t.Context(), 100, 1, func(ctx context.Context, in []int) ([]int, error) {
		started <- len(in)
		<-goOn
		return double(ctx, in)
	})
	var all sync.WaitGroup
	all.Go(func() { _, _ = b.Do(t.Context(), 0) })
	if n := <-started; n != 1 {
		t.Fatalf("a lone call ran in a batch of %d", n)
	}
	for i := range 50 {
		all.Go(func() { _, _ = b.Do(t.Context(), i) })
	}
	time.Sleep(100 * time.Millisecond) // lets all of them queue
	close(goOn)
	all.Wait()
	if n := <-started; n < 25 {
		t.Errorf("50 calls that had queued ran in a batch of %d", n)
	}
}

// A single call runs at once. Calls that follow it within the interval share a batch.
func TestNewWithInterval_MergesAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		began := time.Now()
		var ran []string
		b := batch.NewWithInterval(ctx, time.Second, 100, func(ctx context.Context, in []int) ([]int, error) {
			ran = append(ran, fmt.Sprintf("%d at %s", len(in), time.Since(began)))
			return double(ctx, in)
		})
		var all sync.WaitGroup
		for _, at := range []time.Duration{0, 300, 600, 900, 1100, 5000} {
			all.Go(func() {
				time.Sleep(at * time.Millisecond)
				_, _ = b.Do(ctx, 1)
			})
		}
		all.Wait()
		stop()
		want := []string{"1 at 0s", "3 at 1s", "1 at 2s", "1 at 5s"}
		if !slices.Equal(ran, want) {
			t.Errorf("got batches of %v, want %v", ran, want)
		}
	})
}

func TestDo_BadInputFailsAlone(t *testing.T) {
	bad := errors.New("bad")
	b := batch.New(t.Context(), 100, 1, func(ctx context.Context, in []int) ([]int, error) {
		for _, n := range in {
			if n == 13 {
				return nil, bad
			}
		}
		return double(ctx, in)
	})
	var all sync.WaitGroup
	var failed atomic.Int32
	for i := range 100 {
		all.Go(func() {
			out, err := b.Do(t.Context(), i)
			if err != nil {
				failed.Add(1)
			}
			if (i == 13) != errors.Is(err, bad) || (i != 13 && out != 2*i) {
				t.Errorf("Do(%d): got %d, %v", i, out, err)
			}
		})
	}
	all.Wait()
	if failed.Load() != 1 {
		t.Errorf("%d calls failed", failed.Load())
	}
}

func TestDo_MissingResultsAreAnError(t *testing.T) {
	b := batch.New(t.Context(), 10, 1, func(context.Context, []int) ([]int, error) { return nil, nil })
	if _, err := b.Do(t.Context(), 1); err == nil {
		t.Error("a call without a result succeeded")
	}
}

func TestDo_StoppedBatcher(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	b := batch.New(ctx, 10, 1, double)
	stop()
	time.Sleep(10 * time.Millisecond)
	for range 100 {
		if _, err := b.Do(t.Context(), 1); err != nil && !errors.Is(err, batch.ErrStopped) {
			t.Fatal(err)
		}
	}
}

func TestDo_ContextEnds(t *testing.T) {
	forever := make(chan struct{})
	defer close(forever)
	b := batch.New(t.Context(), 1, 1, func(context.Context, []int) ([]int, error) {
		<-forever
		return []int{0}, nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	for range 2 { // one is running, one is queued
		if _, err := b.Do(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
	}
}

// A batch that hits its time limit fails as a whole: running each call again would keep
// later ones waiting for the limit of each.
func TestBatcher_DoesNotRepeatWhatTimedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		b := batch.NewWithDelay(t.Context(), time.Millisecond, 10, 1, func(ctx context.Context, in []int) ([]int, error) {
			if runs.Add(1) > 1 {
				return double(ctx, in)
			}
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			<-ctx.Done()
			return nil, fmt.Errorf("reading: %w", ctx.Err())
		})
		began := time.Now()
		var calls sync.WaitGroup
		for n := range 5 {
			calls.Go(func() {
				if _, err := b.Do(t.Context(), n); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v, want the time limit", err)
				}
			})
		}
		calls.Wait()
		if took := time.Since(began); took > 1100*time.Millisecond || runs.Load() != 1 {
			t.Errorf("%d runs in %s, want one of a second", runs.Load(), took)
		}
		if got, err := b.Do(t.Context(), 4); err != nil || got != 8 {
			t.Errorf("afterwards got %d, %v", got, err)
		}
	})
}
