package delivery

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestLeadOf_SinglePost(t *testing.T) {
	if lead := leadOf(uuid.New(), burstShare{n: 1}); lead < 2*time.Second || lead > 2100*time.Millisecond {
		t.Errorf("armed %s ahead", lead)
	}
}

// A burst is dispatched no faster than Temporal can, and no post so early that an edit
// would be noticed late.
func TestLeadOf_SpreadsABurst(t *testing.T) {
	const burstSize = 4000
	seconds := map[int]int{}
	for range burstSize {
		id := uuid.New()
		lead := leadOf(id, burstShare{n: burstSize})
		if lead != leadOf(id, burstShare{n: burstSize}) {
			t.Fatal("the same post gets different leads")
		}
		if lead < 2*time.Second || lead > 102*time.Second {
			t.Fatalf("armed %s ahead", lead)
		}
		seconds[int(lead.Seconds())]++
	}
	for second, n := range seconds {
		if n > 2*dispatchRate {
			t.Errorf("%d posts are armed in second %d", n, second)
		}
	}
	if lead := leadOf(uuid.New(), burstShare{n: 1_000_000}); lead > 10*time.Minute {
		t.Errorf("armed %s ahead", lead)
	}
}

func TestBurstCounter_CountsOnce(t *testing.T) {
	var c burstCounter
	counted := 0
	count := func(_ context.Context, from, to time.Time) (int, error) {
		counted++
		if to.Sub(from) != burstBucket {
			t.Errorf("counted from %s to %s", from, to)
		}
		return 7, nil
	}
	at := time.Now().Truncate(burstBucket)
	for i := range 100 {
		if n, err := c.around(t.Context(), at.Add(time.Duration(i)*time.Millisecond), count); err != nil || n.n != 7 {
			t.Fatal(n, err)
		}
	}
	if counted != 1 {
		t.Errorf("counted %d times", counted)
	}
	broken := errors.New("broken")
	if _, err := c.around(t.Context(), at.Add(time.Hour),
		func(context.Context, time.Time, time.Time) (int, error) { return 0, broken }); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

// A burst that grows while it is scheduled is armed no faster than one that is
// complete, however fast it grows and is counted.
func TestBurstCounter_SpreadsAGrowingBurst(t *testing.T) {
	for _, perLook := range []int{50, 150, 300} {
		var c burstCounter
		at, come := time.Now().Truncate(burstBucket), 0
		count := func(context.Context, time.Time, time.Time) (int, error) { return come, nil }
		seconds := map[int]int{}
		const all = 3000
		for asked := 0; asked < all; {
			come = min(come+200, all)
			for range min(perLook, come-asked) {
				part, err := c.around(t.Context(), at, count)
				if err != nil {
					t.Fatal(err)
				}
				seconds[int(leadOf(uuid.New(), part).Seconds())]++
				asked++
			}
			c.known[at.Unix()].at = time.Time{} // expired, so that it is counted again
		}
		for second, n := range seconds {
			if n > 2*dispatchRate {
				t.Errorf("read %d at a time: %d posts are armed in second %d before their time", perLook, n, second)
			}
		}
	}
}

func TestClaimLead_GrowsWithTheBurst(t *testing.T) {
	for burstSize, want := range map[int]time.Duration{
		1: 6 * time.Millisecond, 1000: 400 * time.Millisecond,
		100_000: 4 * time.Second,
	} {
		if lead := claimLead(burstSize); lead <= 0 || lead > want {
			t.Errorf("a burst of %d is claimed %s ahead, want at most %s", burstSize, lead, want)
		}
	}
}

func TestArmed_CountsWaitingPosts(t *testing.T) {
	var a armed
	at := time.Now()
	first, second := a.add(at), a.add(at)
	if n := a.count(at); n != 2 {
		t.Errorf("%d wait", n)
	}
	first()
	second()
	if n := a.count(at); n != 0 || len(a.at) != 0 {
		t.Errorf("%d waiting after all have left", n)
	}
}
