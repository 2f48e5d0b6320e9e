package delivery

import (
	"testing"
	"time"
)

// Whatever the offset of an activity's start to its second, it sends heartbeats often
// enough, and not around the second.
func TestNextHeartbeat_QuietAroundABurst(t *testing.T) {
	at := time.Now()
	for _, every := range []time.Duration{7 * time.Second, 42 * time.Second} {
		quiet := min(every/8, maxQuiet)
		for start := -3 * every; start < 0; start += every / 50 {
			last := at.Add(start)
			for range 6 {
				next := nextHeartbeat(last, at, every)
				if gap := next.Sub(last); gap <= 0 || gap > every {
					t.Fatalf("%s after the last beat, with one due every %s", gap, every)
				}
				if off := next.Sub(at); off.Abs() < quiet {
					t.Fatalf("a beat %s off the second", off)
				}
				last = next
			}
		}
	}
}

func TestNextHeartbeat_EvenWithoutABurst(t *testing.T) {
	last := time.Now()
	if next := nextHeartbeat(last, time.Time{}, time.Second); !next.Equal(last.Add(time.Second)) {
		t.Errorf("%s later", next.Sub(last))
	}
}
