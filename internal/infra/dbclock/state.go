package dbclock

import (
	"context"
	"fmt"
	"time"
)

// state classifies the offset.
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

// logState logs a change of state.
func (c *Clock) logState(s state, offset time.Duration) {
	log := c.options.Log
	switch s {
	case agreeing:
		log.Info("the host clock agrees with the database clock again", "offset", offset)
	case drifting:
		log.Warn("the host clock is more than one second off the database clock; check NTP", "offset", offset)
	case unusable:
		log.Error("the host clock is more than ten seconds off the database clock: not ready; synchronize it with NTP",
			"offset", offset)
	}
}

// OffsetError means that a host's clock is too far off. Its text is for operators and
// contains no secret.
type OffsetError struct{ Offset time.Duration }

func (p *OffsetError) Error() string {
	where := "ahead of"
	if p.Offset < 0 {
		where = "behind"
	}
	return fmt.Sprintf("The clock of this host is %.1f s %s the database clock. Synchronize both hosts with NTP "+
		"(timedatectl set-ntp true, or chronyc makestep).",
		p.Offset.Abs().Seconds(), where)
}

// Advice returns the message that the readiness check may show.
func (p *OffsetError) Advice() string { return p.Error() }

// Check returns an *OffsetError if the offset is above Limit.
func (c *Clock) Check(context.Context) error {
	if r := c.Reading(); r.Offset.Abs() > Limit {
		return &OffsetError{r.Offset}
	}
	return nil
}
