package delivery

import "time"

// Timing are the publisher's pauses. A zero field has the default that suits
// real networks; tests shorten them.
type Timing struct {
	Lease     time.Duration // how long a claim outlives its holder, who renews it; 15 s
	Heartbeat time.Duration // how often Temporal hears from a waiting activity, at most: see keepAlive; 2 s
	Backoff   time.Duration // after the first try, doubled after each; 1 s
	Parent    time.Duration // before a reply looks again for the post it answers, doubled up to MaxWait; 2 s
	MaxWait   time.Duration // the longest pause that nobody asked for; 30 s
	// Looks are the pauses before each look for a lost post, because listings
	// lag behind; docs/explanation/delivery-guarantees.md promises 1 s, 5 s, 15 s, 60 s.
	Looks []time.Duration
	// Settled is how long after a send a network that knows idempotency keys is
	// sent the same again, when the post is not found: long enough for it to have
	// finished, or dropped, the first call, because it may note the key only then;
	// 20 s.
	Settled time.Duration
	// Unanswered is how long after a send a network that cannot be asked about
	// it is asked again, before a person has to decide; 15 min.
	Unanswered time.Duration
	// Patience is how long past its time a post waits in memory for a rate limit
	// or a network, before it goes back to Temporal; 2 s.
	Patience time.Duration
}

func (t Timing) orDefaults() Timing {
	for field, fallback := range map[*time.Duration]time.Duration{
		&t.Lease:      15 * time.Second,
		&t.Heartbeat:  2 * time.Second,
		&t.Backoff:    time.Second,
		&t.Parent:     2 * time.Second,
		&t.MaxWait:    30 * time.Second,
		&t.Settled:    20 * time.Second,
		&t.Unanswered: 15 * time.Minute,
		&t.Patience:   2 * time.Second,
	} {
		if *field <= 0 {
			*field = fallback
		}
	}
	if len(t.Looks) == 0 {
		t.Looks = []time.Duration{time.Second, 5 * time.Second, 15 * time.Second, 60 * time.Second}
	}
	return t
}

// doubling gives base, twice, four times base … for n = 1, 2, 3 …, at most most.
func doubling(base time.Duration, n int, most time.Duration) time.Duration {
	return min(base<<min(max(n-1, 0), 20), most)
}
