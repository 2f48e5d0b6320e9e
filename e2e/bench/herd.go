package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"dateline/workflows"
)

// herd is how a crowded second went. Lateness is when the network received a
// post, by its own clock, after the second that all of them were due at.
type herd struct {
	N          int     `json:"n"`
	Scheduled  float64 `json:"scheduled_per_s"` // accepted by the API
	LeadS      float64 `json:"lead_s"`          // from the last acceptance to the second
	MinMS      int64   `json:"min_ms"`
	P50MS      int64   `json:"p50_ms"`
	P99MS      int64   `json:"p99_ms"`
	MaxMS      int64   `json:"max_ms"`
	Early      int     `json:"early"` // before their second
	Duplicates int     `json:"duplicates"`
	Lost       int     `json:"lost"`
}

// herd schedules n posts for one second and waits until all of them, and their
// workflows, are done.
func (s *stack) herd(ctx context.Context, o options, n int) (h herd, err error) {
	accounts, err := s.connect(ctx, fmt.Sprintf("herd%d-", n), 1)
	if err != nil {
		return h, err
	}
	lead := o.lead
	if lead == 0 {
		lead = 20*time.Second + time.Duration(n)*32*time.Millisecond
	}
	at := time.Now().Add(lead).Truncate(time.Second)
	text := fmt.Sprintf("herd %d of", n)
	h.N = n
	if _, h.Scheduled, err = s.schedule(ctx, accounts[0], text, n, func(int) time.Time { return at }); err != nil {
		return h, err
	}
	s.progress("herd of %d scheduled; its second is %s", n, at.Format(time.TimeOnly))
	h.LeadS = time.Until(at).Seconds()
	if h.LeadS < 0 {
		return h, errors.New("the herd's second came before all of it was scheduled: give it a longer -lead")
	}
	if err := s.profile(ctx, o, at, fmt.Sprintf("herd-%d", n)); err != nil {
		return h, err
	}
	if err := pause(ctx, time.Until(at)+2*time.Second); err != nil {
		return h, err
	}
	// What is missing after this is lost; nothing takes so long otherwise.
	late := func() error {
		return s.closed(ctx, workflows.PostWorkflow, time.Duration(n)*100*time.Millisecond+2*time.Minute)
	}
	err = late()
	var lates []int64
	copies := map[string]int{}
	for _, p := range s.network.Posts() {
		if strings.HasPrefix(p.Text, text) {
			lates = append(lates, p.ReceivedAt.Sub(at).Milliseconds())
			copies[p.Text]++
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
	return h, err
}
