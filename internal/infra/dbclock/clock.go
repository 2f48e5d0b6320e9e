// Package dbclock provides the time of the database clock without querying it each time.
// All hosts publish by the database clock, so that posts are on time even if the clock of
// a host is wrong.
package dbclock

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"
)

// Thresholds for the offset between a host and its database.
const (
	Warning = time.Second      // above it, a warning is logged
	Limit   = 10 * time.Second // above it, the host is not ready
)

const (
	probes         = 5
	measureTimeout = 5 * time.Second
	// minUncertainty is the lower limit of the uncertainty, because of scheduling delays.
	minUncertainty = 2 * time.Millisecond
	// drift is the maximum drift of two clocks per second.
	drift = 100 * time.Microsecond
)

// MeasureInterval is the interval of the measurements of Run.
const MeasureInterval = 30 * time.Second

// Options for a Clock.
type Options struct {
	Database func(ctx context.Context) (time.Time, error) // returns the database time; required
	Host     func() time.Time                             // if nil, time.Now
	Log      *slog.Logger                                 // required
}

// Reading is a measurement of the offset.
type Reading struct {
	Offset      time.Duration // positive if this host is ahead of the database
	Uncertainty time.Duration // of the offset
	At          time.Time     // by the host clock; zero before the first measurement
}

// Clock converts host times to database times. Before the first measurement it returns
// host times. It is safe for concurrent use.
type Clock struct {
	options Options

	mu      sync.RWMutex
	reading Reading
	anchor  anchor
	state   state
}

// anchor is an instant whose time is known on both clocks. Later times are computed with
// the monotonic clock of the host, so setting the host clock has no effect.
type anchor struct {
	host, database time.Time
	uncertainty    time.Duration
}

// New returns a clock without a measurement.
func New(o Options) *Clock {
	if o.Host == nil {
		o.Host = time.Now
	}
	return &Clock{options: o}
}

// Now returns the database time.
func (c *Clock) Now() time.Time { return c.FromHost(c.options.Host()) }

// FromHost converts a time of the host clock to the database clock.
func (c *Clock) FromHost(t time.Time) time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.anchor.host.IsZero() {
		return t.Round(0)
	}
	return c.anchor.at(t)
}

func (a anchor) at(host time.Time) time.Time { return a.database.Add(host.Sub(a.host)).Round(0) }

// Reading returns the latest measurement.
func (c *Clock) Reading() Reading {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.reading
}

// Measure queries the database time several times and uses the fastest response, which
// has the lowest uncertainty.
func (c *Clock) Measure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, measureTimeout)
	defer cancel()
	var middle, database time.Time
	shortest := time.Duration(math.MaxInt64)
	for range probes {
		start := c.options.Host()
		t, err := c.options.Database(ctx)
		took := c.options.Host().Sub(start)
		if err != nil {
			return fmt.Errorf("querying the database time: %w", err)
		}
		if took < shortest {
			shortest, middle, database = took, start.Add(took/2), t
		}
	}
	c.update(middle, database.Round(0), max(shortest/2, minUncertainty))
	return nil
}

func (c *Clock) update(host, database time.Time, uncertainty time.Duration) {
	c.mu.Lock()
	offset := host.Round(0).Sub(database)
	c.reading = Reading{Offset: offset, Uncertainty: uncertainty, At: host}
	// Ignore a less precise measurement that is consistent with the anchor.
	known := c.anchor.uncertainty + time.Duration(host.Sub(c.anchor.host).Seconds()*float64(drift))
	isLessPrecise := !c.anchor.host.IsZero() && uncertainty > known &&
		c.anchor.at(host).Sub(database).Abs() <= uncertainty
	switch {
	case isLessPrecise:
	case offset.Abs() <= uncertainty: // the clocks agree: use the host time
		c.anchor = anchor{host, host.Round(0), uncertainty}
	default:
		c.anchor = anchor{host, database, uncertainty}
	}
	before := c.state
	c.state = stateOf(offset)
	after := c.state
	c.mu.Unlock()
	if before != after {
		c.logState(after, offset)
	}
}

// Run measures periodically until ctx ends. If the database is down, the latest
// measurement stays valid.
func (c *Clock) Run(ctx context.Context) {
	tick := time.NewTicker(MeasureInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := c.Measure(ctx); err != nil && ctx.Err() == nil {
				c.options.Log.Debug("measuring the database clock failed", "error", err)
			}
		}
	}
}
