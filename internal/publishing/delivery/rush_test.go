package delivery

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestARushLastsUntilItsCallsAreAnswered(t *testing.T) {
	var r rush
	planned := time.Now()
	ids := make([]uuid.UUID, rushSize)
	for i := range ids {
		ids[i] = uuid.New()
		r.claimed(ids[i], planned)
	}
	if r.on(planned.Add(-time.Millisecond)) {
		t.Error("there is a rush before its time")
	}
	if !r.on(planned) {
		t.Error("there is no rush")
	}
	r.answered(ids[0])
	if r.on(planned) {
		t.Error("there is a rush of few calls")
	}
}

func TestNobodyWaitsLongForASlowCall(t *testing.T) {
	var r rush
	planned := time.Now()
	for range 2 * rushSize {
		r.claimed(uuid.New(), planned)
	}
	if r.on(planned.Add(rushPatient + time.Millisecond)) {
		t.Error("the rush outlasts its patience")
	}
	if len(r.calls) != 0 {
		t.Errorf("%d calls are kept that nobody waits for", len(r.calls))
	}
}
