package delivery

import (
	"errors"
	"testing"
	"time"

	"dateline/internal/publishing/post"
)

// Operators rely on the documented intervals.
func TestTiming_Defaults(t *testing.T) {
	t.Parallel()
	got := Timing{}.orDefaults()
	for name, row := range map[string][2]time.Duration{
		"Lease": {got.Lease, 15 * time.Second}, "Heartbeat": {got.Heartbeat, 2 * time.Second},
		"Backoff": {got.Backoff, time.Second},
		"Parent":  {got.Parent, 2 * time.Second}, "MaxWait": {got.MaxWait, 30 * time.Second},
		"Settled":    {got.Settled, 20 * time.Second},
		"Unanswered": {got.Unanswered, 15 * time.Minute}, "MaxLimitWait": {got.MaxLimitWait, 2 * time.Second},
	} {
		if row[0] != row[1] {
			t.Errorf("%s: got %s, want %s", name, row[0], row[1])
		}
	}
	if own := (Timing{Lease: time.Minute}).orDefaults().Lease; own != time.Minute {
		t.Errorf("got %s, want the one that was set", own)
	}
}

func TestDoubling_GrowsToItsLimit(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]time.Duration{-1: 1, 0: 1, 1: 1, 2: 2, 3: 4, 7: 64, 8: 100, 1000: 100} {
		if got := doubling(time.Second, n, 100*time.Second); got != want*time.Second {
			t.Errorf("attempt %d: got %s, want %s", n, got, want*time.Second)
		}
	}
	if got := doubling(time.Second, 1000, 1<<62); got != time.Second<<20 {
		t.Errorf("got %s, want no overflow", got)
	}
}

// Attempts are counted without the one that found that it was too early.
func TestAttempt_CountsWithoutTheDeferredOne(t *testing.T) {
	t.Parallel()
	deferred := TargetInput{NotBefore: time.Now()}
	for _, row := range []struct {
		number int
		in     TargetInput
		want   int
	}{{1, TargetInput{}, 1}, {2, TargetInput{}, 2}, {1, deferred, 1}, {2, deferred, 1}, {3, deferred, 2}} {
		if got := (Attempt{Number: row.number}).of(row.in); got != row.want {
			t.Errorf("attempt %d of %+v: got %d, want %d", row.number, row.in, got, row.want)
		}
	}
}

// fixedClock always shows the same time.
type fixedClock time.Time

func (c fixedClock) Now() time.Time               { return time.Time(c) }
func (fixedClock) FromHost(t time.Time) time.Time { return t }

func TestNotDue_DefersUntilItsTime(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for left, want := range map[time.Duration]time.Duration{
		-time.Hour: 0, 0: 0, time.Second - 1: 0,
		time.Second: time.Second, 1500 * time.Millisecond: 1500 * time.Millisecond, time.Hour: time.Hour,
	} {
		err := notDue(fixedClock(now), TargetInput{NotBefore: now.Add(left)})
		var deferred *NotDueError
		if errors.As(err, &deferred) != (want > 0) || want > 0 &&
			(deferred.Delay != want || !deferred.NotBefore.Equal(now.Add(left))) {
			t.Errorf("%s ahead: got %v, want a delay of %s", left, err, want)
		}
	}
	if err := notDue(fixedClock(time.Time{}), TargetInput{}); err != nil {
		t.Errorf("without a time: got %v, want none", err)
	}
}

// Only a post with one open target waits at Temporal.
func TestIsDeferrable(t *testing.T) {
	t.Parallel()
	view := func(states ...post.TargetStatus) (v PostView) {
		for _, s := range states {
			v.Targets = append(v.Targets, TargetView{Status: s})
		}
		return v
	}
	for _, row := range []struct {
		view PostView
		want bool
	}{
		{view(), false},
		{view(post.TargetScheduled), true},
		{view(post.TargetPosted), false},
		{view(post.TargetScheduled, post.TargetPosted, post.TargetUncertain), true},
		{view(post.TargetScheduled, post.TargetPublishing), false},
	} {
		if got := isDeferrable(row.view); got != row.want {
			t.Errorf("%v: got %t, want %t", row.view.Targets, got, row.want)
		}
	}
}

// After a burst whose responses were lost, all searches of an account would disturb each
// other every 60 s.
func TestTiming_DisturbedSearchesFollowSoonAndAtRandom(t *testing.T) {
	t.Parallel()
	timing := Timing{}.orDefaults()
	for n, want := range timing.Looks {
		if got := timing.look(n, 3); got != want {
			t.Errorf("got %s before look %d, want %s", got, n, want)
		}
	}
	if got := timing.look(9, 0); got != time.Minute {
		t.Errorf("got %s before a look after an undisturbed one, want 1m", got)
	}
	for disturbed, mean := range map[int]time.Duration{
		1: 5 * time.Second, 2: 10 * time.Second, 4: 40 * time.Second,
		5: time.Minute, 99: time.Minute,
	} {
		distinct := map[time.Duration]bool{}
		for range 100 {
			got := timing.look(9, disturbed)
			if got < mean/2 || got >= mean*3/2 {
				t.Fatalf("got %s after %d disturbed searches, want %s, more or less by half", got, disturbed, mean)
			}
			distinct[got] = true
		}
		if len(distinct) < 50 {
			t.Errorf("got %d different waits in 100, want random ones", len(distinct))
		}
	}
}
