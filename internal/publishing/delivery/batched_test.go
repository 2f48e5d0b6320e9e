package delivery

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestInFlightBurst_LastsUntilItsCallsEnd(t *testing.T) {
	var b inFlightBurst
	planned := time.Now()
	ids := make([]uuid.UUID, minBurst)
	for i := range ids {
		ids[i] = uuid.New()
		b.add(ids[i], planned)
	}
	if b.isActive(planned.Add(-time.Millisecond)) {
		t.Error("got a burst before its time, want none")
	}
	if !b.isActive(planned) {
		t.Error("got no burst, want one")
	}
	b.remove(ids[0])
	if b.isActive(planned) {
		t.Error("got a burst of few calls, want none")
	}
}

func TestInFlightBurst_DoesNotWaitForSlowCalls(t *testing.T) {
	var b inFlightBurst
	planned := time.Now()
	for range 2 * minBurst {
		b.add(uuid.New(), planned)
	}
	if b.isActive(planned.Add(maxCallTime + time.Millisecond)) {
		t.Error("got a burst after maxCallTime, want none")
	}
	if len(b.calls) != 0 {
		t.Errorf("got %d calls without a waiter, want 0", len(b.calls))
	}
}
