package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"dateline/workflows"
)

// callers is the number of concurrent requests.
const callers = 16

// schedule creates n posts through the API, each due at its time, and returns how many
// per second were accepted.
func (s *stack) schedule(
	ctx context.Context, accounts []string, text string, n int, due func(i int) time.Time,
) (ids []string, perSecond float64, err error) {
	ids = make([]string, n)
	began := time.Now()
	err = inParallel(ctx, n, func(ctx context.Context, i int) error {
		var made struct{ ID string }
		err := s.call(ctx, http.MethodPost, "/api/v1/posts", map[string]any{
			"content":        fmt.Sprintf("%s %d", text, i),
			"scheduled_time": due(i).Format(time.RFC3339Nano), "accounts": []string{accounts[i%len(accounts)]},
		}, &made)
		ids[i] = made.ID
		return err
	})
	return ids, float64(n) / time.Since(began).Seconds(), err
}

// bulk is how fast POST /posts/bulk is.
type bulk struct {
	PerS        float64 // posts that the API accepted per second
	StartedPerS float64 // workflows that were started per second, until the last one
}

const (
	bulkRequests = 5
	bulkRows     = 1000
)

// bulk schedules posts of tomorrow. It comes last, because they are pending in the
// end.
func (s *stack) bulk(ctx context.Context) (b bulk, err error) {
	accounts, err := s.connect(ctx, "bulk", 5, 1)
	if err != nil {
		return b, err
	}
	count := func() (int64, error) {
		answer, err := s.temporal.CountWorkflow(ctx,
			&workflowservice.CountWorkflowExecutionsRequest{
				Namespace: namespace,
				Query:     fmt.Sprintf("WorkflowType = %q AND ExecutionStatus = 'Running'", workflows.PostWorkflow),
			})
		return answer.GetCount(), err
	}
	pending, err := count()
	if err != nil {
		return b, err
	}
	at := time.Now().Add(24 * time.Hour).Format(time.RFC3339)
	began := time.Now()
	for request := range bulkRequests {
		var rows strings.Builder
		for i := range bulkRows {
			row, err := json.Marshal(map[string]any{
				"content":        fmt.Sprintf("bulk %d of request %d", i, request),
				"scheduled_time": at, "accounts": []string{accounts[i%len(accounts)]},
			})
			if err != nil {
				return b, err
			}
			rows.Write(append(row, '\n'))
		}
		if err := s.send(ctx, "/api/v1/posts/bulk", "application/x-ndjson", rows.String()); err != nil {
			return b, err
		}
	}
	b.PerS = bulkRequests * bulkRows / time.Since(began).Seconds()
	err = until(ctx, 10*time.Minute, "the workflows of all posts to start", func() (bool, error) {
		n, err := count()
		return n >= pending+bulkRequests*bulkRows, err
	})
	b.StartedPerS = bulkRequests * bulkRows / time.Since(began).Seconds()
	return b, err
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
