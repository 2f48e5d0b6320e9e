package delivery_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"dateline/internal/publishing/hostguard"
	"dateline/internal/publishing/post"
	"dateline/platforms/fake"
)

// slotRecorder records how long before its call a post acquires a slot.
type slotRecorder struct {
	hostguard.Bulkhead
	mu      sync.Mutex
	maxLead time.Duration
}

func (d *slotRecorder) Acquire(
	host string, planned time.Time, probe bool,
) (*hostguard.Slot, time.Time, hostguard.Reason) {
	if probe {
		d.mu.Lock()
		d.maxLead = max(d.maxLead, time.Until(planned))
		d.mu.Unlock()
	}
	return d.Bulkhead.Acquire(host, planned, probe)
}

// If a burst held host slots while it is armed, it would delay every post beyond the
// host's limit.
func TestBurst_AcquiresNoSlotsWhileArmed(t *testing.T) {
	b := newBench(t, fake.Options{})
	at := time.Now().Add(6 * time.Second).UTC()
	doors := &slotRecorder{}
	p := b.publisher()
	p.Hosts = doors
	var all sync.WaitGroup
	for i := range 50 {
		one := b.schedule(func(p *post.Post) { p.Content, p.ScheduledTime = fmt.Sprintf("%s, %d", text, i), at })
		all.Go(func() { b.publish(p, input(one)) })
	}
	all.Wait()
	if n := len(b.published()); n != 50 {
		t.Errorf("%d of 50 posts are out", n)
	}
	if doors.maxLead > 3*time.Second {
		t.Errorf("a slot was acquired %s before its call", doors.maxLead)
	}
}
