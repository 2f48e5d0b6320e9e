package delivery

import (
	"context"
	"time"

	"dateline/internal/infra/retry"
)

// Clock tells the database's time, by which posts are due.
type Clock interface {
	Now() time.Time
	FromHost(t time.Time) time.Time // what the host's own clock showed
}

// hostClock takes the host's time for the database's.
type hostClock struct{}

func (hostClock) Now() time.Time                 { return time.Now() }
func (hostClock) FromHost(t time.Time) time.Time { return t }

func (p *Publisher) clock() Clock {
	if p.Clock == nil {
		return hostClock{}
	}
	return p.Clock
}

// lookAgain is how often a waiting activity asks the clock: it may have been
// corrected meanwhile.
const lookAgain = 5 * time.Second

// sleepUntil waits in memory until the database's clock shows at.
func (p *Publisher) sleepUntil(ctx context.Context, at time.Time) error {
	for {
		left := at.Sub(p.clock().Now())
		if err := retry.Sleep(ctx, min(left, lookAgain)); err != nil || left <= lookAgain {
			return err
		}
	}
}
