package delivery

import (
	"context"
	"errors"
	"time"

	"dateline/internal/infra/retry"
)

// onward ends a round of publishing that the same attempt follows up: what is
// to come is near, and every way through Temporal costs it a step to end the
// attempt and one to hand it out anew. After a crash amid a crowd's second those
// ways would be longer than all the waiting.
type onward struct {
	pause time.Duration
	error // what Temporal is told when the attempt cannot go on
}

func (o *onward) Unwrap() error { return o.error }

// mostPauses bounds the rounds that only waited. They are as many as two leases
// are long: who holds a claim for longer is alive.
const (
	pausesOfLease = 5
	mostPauses    = 2 * pausesOfLease
)

// rounds runs rounds of publishing until one is the last.
func rounds(ctx context.Context, round func() (TargetResult, error)) (TargetResult, error) {
	for pauses := 0; ; {
		result, err := round()
		var next *onward
		if !errors.As(err, &next) {
			return result, err
		}
		if next.pause > 0 {
			pauses++
		}
		if pauses > mostPauses || retry.Sleep(ctx, next.pause) != nil || ctx.Err() != nil {
			return TargetResult{}, next.error
		}
	}
}
