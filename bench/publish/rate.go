package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"

	"dateline/internal/infra/retry"
	"dateline/internal/testing/cputime"
	"dateline/workflows"
)

// rate is the number of workflows per minute completed while more became due than the
// machine can process.
type rate struct {
	N         int     // that were measured
	DuePerMin float64 // requested
	PerMin    float64 // completed in the middle of the measurement
	WholeMin  float64 // completed overall, with ramp-up and tail

	StartedPerS float64 // accepted or started per second, before the first was due
	EndToEndMin float64 // per minute, with the time for starting them
	CPUms       float64 // CPU time of each, with starting it
}

// addCost adds the cost of starting n workflows and the CPU time of starting and
// completing them.
func (s *stack) addCost(r *rate, n int, started time.Duration, starting, completing cputime.Times) {
	r.StartedPerS = float64(n) / started.Seconds()
	r.EndToEndMin = 1 / (1/r.PerMin + 1/(60*r.StartedPerS))
	first, firstByName := starting.PerUnit(n)
	rest, restByName := completing.PerUnit(n)
	r.CPUms = first + rest
	s.progress("CPU time of each in ms: starting %.1f (%s), completing %.1f (%s)", first, firstByName, rest, restByName)
}

// sustained measures posts that become due at a rate that exceeds the machine's
// capacity. They are accepted before the first one is due, so that the measurement
// covers publishing (waking, loading, claiming, sending, recording and ending) but not
// the API.
func (s *stack) sustained(ctx context.Context, o options, round int) (rate, error) {
	accounts, err := s.connect(ctx, fmt.Sprintf("steady%d-", round), 1, 1)
	if err != nil {
		return rate{}, err
	}
	began := time.Now()
	// Bursts are armed ahead of time, so scheduling must end even earlier.
	first := began.Add(firstDue(o) + time.Duration(o.rate)*250*time.Millisecond)
	// This process is the client and the network, so its CPU time does not count.
	sample := func() cputime.Times {
		c := s.cpu()
		delete(c, "")
		return c
	}
	before := sample()
	scheduling, profiled := time.Now(), make(chan error, 1)
	go func() { profiled <- s.profile(ctx, o, scheduling, scheduleProfile, "schedule") }()
	if _, _, err := s.schedule(ctx, accounts, fmt.Sprintf("steady%d-", round), o.steady,
		func(i int) time.Time { return dueAt(o, first, i) }); err != nil {
		return rate{}, err
	}
	started, between := time.Since(scheduling), sample()
	if err := <-profiled; err != nil {
		return rate{}, err
	}
	r, err := s.rate(ctx, o, workflows.PostWorkflow, began, first)
	s.addCost(&r, o.steady, started, between.Since(before), sample().Since(between))
	return r, err
}

// firstDue leaves enough time for starting all of them on an idle machine.
func firstDue(o options) time.Duration {
	if o.lead > 0 {
		return o.lead
	}
	return 20*time.Second + time.Duration(o.steady)*15*time.Millisecond
}

func dueAt(o options, first time.Time, i int) time.Time {
	return first.Add(time.Duration(i) * time.Second / time.Duration(o.rate))
}

// life is when a workflow's activity was dispatched and when it ended.
type life struct {
	run               *commonpb.WorkflowExecution
	dispatched, ended time.Time // dispatched stays zero when there was nothing left to do
}

// rate waits until all workflows are closed and computes their rate. Dispatching
// counts as one half of the work and closing as the other: posts of a burst are
// dispatched ahead of time, so counting only closed workflows would overstate the
// rate.
func (s *stack) rate(ctx context.Context, o options, kind string, began, first time.Time) (rate, error) {
	s.progress("%d workflows of type %s started; the first is due at %s", o.steady, kind, first.Format(time.TimeOnly))
	if late := time.Since(first); late > 0 {
		return rate{}, fmt.Errorf("the first of %d was due %s before all were started: use a smaller -steady", o.steady,
			late)
	}
	if err := s.profile(ctx, o, dueAt(o, first, o.steady/2), rateProfile, kind); err != nil {
		return rate{}, err
	}
	if err := retry.Sleep(ctx, time.Until(dueAt(o, first, o.steady))); err != nil {
		return rate{}, err
	}
	if err := s.closed(ctx, kind, 5*time.Minute); err != nil {
		return rate{}, err
	}
	lives, err := s.lives(ctx, kind, began)
	if err != nil {
		return rate{}, err
	}
	if len(lives) != o.steady {
		return rate{}, fmt.Errorf("%d of %d workflows of type %s ended", len(lives), o.steady, kind)
	}
	var halves []time.Time
	for _, l := range lives {
		halves = append(halves, l.dispatched, l.ended)
	}
	return middleRate(halves, float64(60*o.rate)), nil
}

// middleRate computes the rate in the middle of the measurement: it excludes the first
// and the last fifth of the time.
func middleRate(halves []time.Time, due float64) rate {
	slices.SortFunc(halves, time.Time.Compare)
	first, last := halves[0], halves[len(halves)-1]
	fifth := last.Sub(first) / 5
	from, to := first.Add(fifth), last.Add(-fifth)
	within := 0
	for _, at := range halves {
		if !at.Before(from) && at.Before(to) {
			within++
		}
	}
	return rate{
		N: len(halves) / 2, DuePerMin: due, PerMin: float64(within) / 2 / to.Sub(from).Minutes(),
		WholeMin: float64(len(halves)) / 2 / last.Sub(first).Minutes(),
	}
}

// closed waits until no workflow of a type is running.
func (s *stack) closed(ctx context.Context, kind string, timeout time.Duration) error {
	return until(ctx, timeout, "all workflows of type "+kind+" to end", func() (bool, error) {
		answer, err := s.temporal.CountWorkflow(ctx,
			&workflowservice.CountWorkflowExecutionsRequest{
				Namespace: namespace,
				Query:     fmt.Sprintf("WorkflowType = %q AND ExecutionStatus = 'Running'", kind),
			})
		return err == nil && answer.GetCount() == 0, err
	})
}

// lives reads when the workflows of a type that started since a time were dispatched
// and ended, by Temporal's clock. It runs after the measurement.
func (s *stack) lives(ctx context.Context, kind string, since time.Time) (lives []life, err error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: namespace, PageSize: 1000,
		Query: fmt.Sprintf("WorkflowType = %q AND StartTime >= %q", kind, since.UTC().Format(time.RFC3339Nano)),
	}
	for {
		page, err := s.temporal.ListWorkflow(ctx, request)
		if err != nil {
			return nil, err
		}
		for _, e := range page.GetExecutions() {
			if e.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_COMPLETED {
				lives = append(lives, life{run: e.GetExecution(), ended: e.GetCloseTime().AsTime()})
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			break
		}
	}
	err = inParallel(ctx, len(lives), func(ctx context.Context, i int) error {
		events := s.temporal.GetWorkflowHistory(ctx, lives[i].run.GetWorkflowId(), lives[i].run.GetRunId(), false,
			enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			e, err := events.Next()
			if err != nil {
				return err
			}
			if e.GetEventType() == enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED {
				lives[i].dispatched = e.GetEventTime().AsTime()
				return nil
			}
		}
		return nil
	})
	// The reconciler may check a late post once more after it is done.
	return slices.DeleteFunc(lives, func(l life) bool { return l.dispatched.IsZero() }), err
}

// meanRate averages measurements.
func meanRate(all []rate) (mean rate) {
	n := float64(len(all))
	for _, r := range all {
		mean.N += r.N
		mean.DuePerMin, mean.PerMin, mean.WholeMin = mean.DuePerMin+r.DuePerMin/n, mean.PerMin+
			r.PerMin/n, mean.WholeMin+r.WholeMin/n
		mean.StartedPerS, mean.EndToEndMin, mean.CPUms = mean.StartedPerS+r.StartedPerS/n, mean.EndToEndMin+
			r.EndToEndMin/n, mean.CPUms+r.CPUms/n
	}
	return mean
}
