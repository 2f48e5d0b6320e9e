package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// callers is the number of concurrent requests.
const callers = 16

// schedule creates n posts through the API, each due at its time, and returns how many
// per second were accepted.
func (s *stack) schedule(ctx context.Context, account, text string, n int, due func(i int) time.Time) (ids []string, perSecond float64, err error) {
	ids = make([]string, n)
	began := time.Now()
	err = inParallel(ctx, n, func(ctx context.Context, i int) error {
		var made struct{ ID string }
		err := s.call(ctx, http.MethodPost, "/api/v1/posts", map[string]any{"content": fmt.Sprintf("%s %d", text, i),
			"scheduled_time": due(i).Format(time.RFC3339Nano), "accounts": []string{account}}, &made)
		ids[i] = made.ID
		return err
	})
	return ids, float64(n) / time.Since(began).Seconds(), err
}

// inParallel calls do for 0 to n-1 with limited concurrency until one fails.
func inParallel(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	queue := make(chan int)
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for i := range queue {
				if err := do(ctx, i); err != nil {
					cancel(fmt.Errorf("number %d: %w", i, err))
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		queue <- i
	}
	close(queue)
	all.Wait()
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), context.Cause(ctx))
	}
	return nil
}
