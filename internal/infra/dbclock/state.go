package dbclock

import (
	"context"
	"fmt"
	"time"
)

// state is how well the two clocks agree.
type state int

const (
	agreeing state = iota
	drifting
	unusable
)

func stateOf(offset time.Duration) state {
	switch offset = offset.Abs(); {
	case offset > Limit:
		return unusable
	case offset > Warning:
		return drifting
	default:
		return agreeing
	}
}

// tell logs a change of state, once.
func (c *Clock) tell(s state, offset time.Duration) {
	log := c.options.Log
	switch s {
	case agreeing:
		log.Info("this host's clock agrees with the database's again", "offset", offset)
	case drifting:
		log.Warn("this host's clock differs from the database's by more than a second; check its time synchronisation (NTP)", "offset", offset)
	case unusable:
		log.Error("this host's clock differs from the database's by more than ten seconds: not ready; set it by NTP", "offset", offset)
	}
}

// Problem says that a host's clock is too wrong to work by. Its text is for
// operators and tells no secret.
type Problem struct{ Offset time.Duration }

func (p *Problem) Error() string {
	where := "ahead of"
	if p.Offset < 0 {
		where = "behind"
	}
	return fmt.Sprintf("This host's clock is %.1f s %s the database's. Set it by NTP (timedatectl set-ntp true, or chronyc makestep), on both hosts.",
		p.Offset.Abs().Seconds(), where)
}

// Advice is the text that readiness may show.
func (p *Problem) Advice() string { return p.Error() }

// Check is a *Problem while the offset is above Limit.
func (c *Clock) Check(context.Context) error {
	if r := c.Reading(); r.Offset.Abs() > Limit {
		return &Problem{r.Offset}
	}
	return nil
}
