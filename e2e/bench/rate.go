package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"dateline/workflows"
)

// rate is how many workflows a minute were brought to their end while more
// became due than could be done.
type rate struct {
	N         int     // that were measured
	DuePerMin float64 // what was asked for
	PerMin    float64 // what was done, in the middle: the first and the last fifth are left out
	WholeMin  float64 // all of them over the time from the first due to the last end
}

// sustained measures posts that become due one after the other, at a rate that
// is more than the machine can do. They are accepted before the first of them
// is due, so that what is measured is publishing: waking, reading, claiming,
// sending, recording and ending, but not the API.
//
// A post counts when its workflow has ended and not when the network has got
// it: a post that was sent ahead of the work that it leaves behind would
// otherwise look cheaper than it is.
func (s *stack) sustained(ctx context.Context, o options) (rate, error) {
	accounts, err := s.connect(ctx, "steady", 1)
	if err != nil {
		return rate{}, err
	}
	began, first := time.Now(), firstDue(o)
	if _, _, err := s.schedule(ctx, accounts[0], "steady", o.steady, func(i int) time.Time { return dueAt(o, first, i) }); err != nil {
		return rate{}, err
	}
	return s.rate(ctx, o, workflows.PostWorkflow, began, first)
}

// firstDue leaves time for starting them all.
func firstDue(o options) time.Time {
	return time.Now().Add(20*time.Second + time.Duration(o.steady)*10*time.Millisecond)
}

func dueAt(o options, first time.Time, i int) time.Time {
	return first.Add(time.Duration(i) * time.Second / time.Duration(o.rate))
}

func (s *stack) rate(ctx context.Context, o options, kind string, began, first time.Time) (rate, error) {
	s.progress("%d workflows of type %s started; the first is due at %s", o.steady, kind, first.Format(time.TimeOnly))
	if late := time.Since(first); late > 0 {
		return rate{}, fmt.Errorf("the first of %d was due %s before all were started: give a smaller -steady", o.steady, late)
	}
	if err := pause(ctx, time.Until(dueAt(o, first, o.steady))); err != nil {
		return rate{}, err
	}
	if err := s.closed(ctx, kind, 5*time.Minute); err != nil {
		return rate{}, err
	}
	ends, err := s.ends(ctx, kind, began)
	if err != nil {
		return rate{}, err
	}
	if len(ends) != o.steady {
		return rate{}, fmt.Errorf("%d of %d workflows of type %s ended", len(ends), o.steady, kind)
	}
	slices.SortFunc(ends, time.Time.Compare)
	from, to := len(ends)/5, len(ends)*4/5
	return rate{N: len(ends), DuePerMin: float64(60 * o.rate),
		PerMin:   float64(to-from) / ends[to].Sub(ends[from]).Minutes(),
		WholeMin: float64(len(ends)) / ends[len(ends)-1].Sub(first).Minutes()}, nil
}

// closed waits until no workflow of a type runs.
func (s *stack) closed(ctx context.Context, kind string, patience time.Duration) error {
	return until(ctx, patience, "all workflows of type "+kind+" to end", func() (bool, error) {
		answer, err := s.temporal.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: namespace,
			Query: fmt.Sprintf("WorkflowType = %q AND ExecutionStatus = 'Running'", kind)})
		return err == nil && answer.GetCount() == 0, err
	})
}

// ends lists when the workflows of a type that were started since then ended,
// by Temporal's clock.
func (s *stack) ends(ctx context.Context, kind string, since time.Time) (ends []time.Time, err error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, PageSize: 1000,
		Query: fmt.Sprintf("WorkflowType = %q AND StartTime >= %q", kind, since.UTC().Format(time.RFC3339Nano))}
	for {
		page, err := s.temporal.ListWorkflow(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, e := range page.GetExecutions() {
			if e.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED {
				ends = append(ends, e.GetCloseTime().AsTime())
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return ends, nil
		}
	}
}
