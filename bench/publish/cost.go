package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"dateline/internal/infra/retry"
	"dateline/workflows"
)

// kind is a kind of post whose cost is measured.
type kind struct {
	name    string
	targets int
	body    map[string]any                                       // besides text, time and accounts
	before  func(ctx context.Context, s *stack, id string) error // done to the post before its time
}

func kinds() []kind {
	return []kind{
		{name: "1 target", targets: 1},
		{name: "3 targets", targets: 3},
		{name: "10 targets", targets: 10},
		{name: "thread of 3, 1 target", targets: 1, body: map[string]any{
			"thread": []map[string]any{{"content": "second"}, {"content": "third"}},
		}},
		{name: "1 target, edited once", targets: 1, before: func(ctx context.Context, s *stack, id string) error {
			return s.call(ctx, http.MethodPatch, "/api/v1/posts/"+id, map[string]string{"content": "edited"}, nil)
		}},
	}
}

// cost is what a post costs in Temporal, as reported by the workflow's description.
type cost struct {
	Kind        string `json:"kind"`
	Targets     int    `json:"targets"`
	Events      int64  `json:"events"`
	Transitions int64  `json:"transitions"`
	Bytes       int64  `json:"history_bytes"`
}

// costs publishes one post of each kind.
func (s *stack) costs(ctx context.Context) (costs []cost, err error) {
	accounts, err := s.connect(ctx, "cost", 10, 1)
	if err != nil {
		return nil, err
	}
	for _, k := range kinds() {
		body := map[string]any{
			"content":        k.name,
			"scheduled_time": time.Now().Add(5 * time.Second).Format(time.RFC3339Nano),
			"accounts":       accounts[:k.targets],
		}
		for name, value := range k.body {
			body[name] = value
		}
		var made struct {
			ID         string `json:"id"`
			WorkflowID string `json:"workflow_id"`
		}
		if err := s.call(ctx, http.MethodPost, "/api/v1/posts", body, &made); err != nil {
			return nil, err
		}
		if k.before != nil {
			// Until then the workflow waits, as it does for most of a post's life.
			if err := retry.Sleep(ctx, time.Second); err != nil {
				return nil, err
			}
			if err := k.before(ctx, s, made.ID); err != nil {
				return nil, err
			}
		}
		if err := retry.Sleep(ctx, 4*time.Second); err != nil {
			return nil, err
		}
		if err := s.closed(ctx, workflows.PostWorkflow, time.Minute); err != nil {
			return nil, err
		}
		described, err := s.temporal.DescribeWorkflowExecution(ctx, made.WorkflowID, "")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.name, err)
		}
		info := described.GetWorkflowExecutionInfo()
		costs = append(costs, cost{
			Kind: k.name, Targets: k.targets, Events: info.GetHistoryLength(),
			Transitions: info.GetStateTransitionCount(), Bytes: info.GetHistorySizeBytes(),
		})
	}
	return costs, nil
}
