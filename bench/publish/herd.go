package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"dateline/internal/infra/retry"
	"dateline/workflows"
)

// herd is the result of a burst. Lateness is the difference between the time at which
// the network received a post, by its own clock, and the second at which all posts are
// due.
type herd struct {
	N          int     `json:"n"`
	Scheduled  float64 `json:"scheduled_per_s"` // accepted by the API
	LeadS      float64 `json:"lead_s"`          // from the last acceptance to the second
	MinMS      int64   `json:"min_ms"`
	P50MS      int64   `json:"p50_ms"`
	P99MS      int64   `json:"p99_ms"`
	MaxMS      int64   `json:"max_ms"`
	Early      int     `json:"early"` // received before their second
	Duplicates int     `json:"duplicates"`
	Lost       int     `json:"lost"`
	Readings   int     `json:"readings,omitempty"` // of metrics meanwhile
	// Of a post, from scheduling to the end, in all processes; with the readings
	CPUms float64 `json:"cpu_ms,omitempty"`

	cpuByName string
}

// herd publishes n posts of one second to new accounts.
func (s *stack) herd(ctx context.Context, o options, n int) (herd, error) {
	accounts, err := s.connect(ctx, fmt.Sprintf("herd%d-", n), o.accounts, o.networks)
	if err != nil {
		return herd{}, err
	}
	if o.measured <= 0 {
		return s.burst(ctx, o, accounts, fmt.Sprintf("herd %d of", n), n)
	}
	m, err := s.startMeasuring(ctx, accounts, o.measured)
	if err != nil {
		return herd{}, err
	}
	h, err := m.during(ctx, func() (herd, error) { return s.burst(ctx, o, accounts, fmt.Sprintf("herd %d of", n), n) })
	return h, errors.Join(err, m.close(ctx))
}

// burst schedules n posts for one second and waits until all of them and their
// workflows are done. The posts' texts start with text.
func (s *stack) burst(ctx context.Context, o options, accounts []string, text string, n int) (h herd, err error) {
	lead := o.lead
	if lead == 0 {
		lead = 20*time.Second + time.Duration(n)*45*time.Millisecond
	}
	at := time.Now().Add(lead).Truncate(time.Second)
	h.N = n
	before := s.cpu()
	ids, scheduled, err := s.schedule(ctx, accounts, text, n, func(int) time.Time { return at })
	if err != nil {
		return h, err
	}
	h.Scheduled = scheduled
	s.progress("herd of %d scheduled; its second is %s", n, at.Format(time.TimeOnly))
	h.LeadS = time.Until(at).Seconds()
	if h.LeadS < 0 {
		return h, errors.New("not all posts were scheduled before their second: use a longer -lead")
	}
	if err := s.profile(ctx, o, at.Add(-herdMargin), herdProfile, fmt.Sprintf("herd-%d", n)); err != nil {
		return h, err
	}
	if err := retry.Sleep(ctx, time.Until(at)+2*time.Second); err != nil {
		return h, err
	}
	// Posts that are still missing now are lost: nothing else takes this long.
	if !o.hurry {
		err = s.closed(ctx, workflows.PostWorkflow, time.Duration(n)*100*time.Millisecond+2*time.Minute)
	} else if err = retry.Sleep(ctx, 15*time.Second); err != nil {
		return h, err
	}
	h.CPUms, h.cpuByName = s.cpu().Since(before).PerUnit(n)
	var lates []int64
	copies, latest := map[string]int{}, map[int64]string{}
	for _, p := range s.network.Posts() {
		if strings.HasPrefix(p.Text, text) {
			lates = append(lates, p.ReceivedAt.Sub(at).Milliseconds())
			copies[p.Text]++
			latest[lates[len(lates)-1]] = p.Text
			latest[lates[len(lates)-1]] = p.Text
			if p.ReceivedAt.Before(at) {
				h.Early++
			}
		}
	}
	if len(lates) == 0 {
		return h, errors.Join(errors.New("no post of the herd arrived"), err)
	}
	slices.Sort(lates)
	h.MinMS, h.P50MS, h.P99MS, h.MaxMS = lates[0], lates[len(lates)/2], lates[len(lates)*99/100], lates[len(lates)-1]
	h.Duplicates, h.Lost = len(lates)-len(copies), n-len(copies)
	if err != nil {
		return h, err
	}
	for _, ms := range lates[max(0, len(lates)-3):] {
		i, err := strconv.Atoi(strings.TrimPrefix(latest[ms], text+" "))
		if err != nil {
			return h, err
		}
		if err := s.explain(ctx, ids[i], at, ms); err != nil {
			return h, err
		}
	}
	return h, nil
}

// explain prints to stderr when the steps of a post happened in Temporal, relative to
// its second.
func (s *stack) explain(ctx context.Context, id string, at time.Time, ms int64) error {
	var steps []string
	events := s.temporal.GetWorkflowHistory(ctx, "post/"+id, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return err
		}
		switch e.GetEventType() {
		case enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_STARTED, enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED,
			enumspb.EVENT_TYPE_TIMER_STARTED,
			enumspb.EVENT_TYPE_TIMER_FIRED, enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
			enumspb.EVENT_TYPE_ACTIVITY_TASK_STARTED:
			steps = append(steps, fmt.Sprintf("%s %+.1f s", e.GetEventType(),
				e.GetEventTime().AsTime().Sub(at).Seconds()))
		default:
		}
	}
	s.progress("%d ms late: %s", ms, strings.Join(steps, ", "))
	return nil
}
