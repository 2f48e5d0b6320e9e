// Package dbclock tells the time of the database as this host knows it. Posts are
// due, and their lateness is counted, by one clock: the database's. Hosts whose
// own clocks differ from it and from one another publish at the same moment all
// the same.
package dbclock

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"
)

// Bounds of the offset between a host and its database.
const (
	Warning = time.Second      // more is a warning
	Limit   = 10 * time.Second // with more, the host is not ready
)

const (
	probes   = 5
	patience = 5 * time.Second
	// leastUncertainty is what a measurement is never better than: processes
	// are scheduled in steps of milliseconds.
	leastUncertainty = 2 * time.Millisecond
	// drift is how much two quartz clocks may move apart per second.
	drift = 100 * time.Microsecond
)

// Every is how often Run measures.
const Every = 30 * time.Second

// Options for a Clock.
type Options struct {
	Database func(ctx context.Context) (time.Time, error) // its time; required
	Host     func() time.Time                             // nil: time.Now
	Log      *slog.Logger                                 // required
}

// Reading is one measurement.
type Reading struct {
	Offset      time.Duration // how far this host is ahead of the database; negative: behind
	Uncertainty time.Duration // the offset is right to this
	At          time.Time     // by this host; zero: never measured
}

// Clock is safe for concurrent use. Before the first measurement it shows the
// host's time.
type Clock struct {
	options Options

	mu      sync.RWMutex
	reading Reading
	anchor  anchor
	state   state
}

// anchor is a moment of which the time is known by both clocks. From there on
// only the host's monotonic clock counts: setting the host's clock moves
// nothing.
type anchor struct {
	host, database time.Time
	uncertainty    time.Duration
}

// New makes a clock that has not measured yet.
func New(o Options) *Clock {
	if o.Host == nil {
		o.Host = time.Now
	}
	return &Clock{options: o}
}

// Now is the database's time.
func (c *Clock) Now() time.Time { return c.FromHost(c.options.Host()) }

// FromHost turns a time that this host's clock showed into the database's.
func (c *Clock) FromHost(t time.Time) time.Time {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.anchor.host.IsZero() {
		return t.Round(0)
	}
	return c.anchor.at(t)
}

func (a anchor) at(host time.Time) time.Time { return a.database.Add(host.Sub(a.host)).Round(0) }

// Reading is the newest measurement.
func (c *Clock) Reading() Reading {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.reading
}

// Measure asks the database for its time, several times, and believes the
// answer that came fastest: its time was taken, on average, half way.
func (c *Clock) Measure(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var middle, database time.Time
	shortest := time.Duration(math.MaxInt64)
	for range probes {
		asked := c.options.Host()
		t, err := c.options.Database(ctx)
		took := c.options.Host().Sub(asked)
		if err != nil {
			return fmt.Errorf("asking the database for its time: %w", err)
		}
		if took < shortest {
			shortest, middle, database = took, asked.Add(took/2), t
		}
	}
	c.learn(middle, database.Round(0), max(shortest/2, leastUncertainty))
	return nil
}

func (c *Clock) learn(host, database time.Time, uncertainty time.Duration) {
	c.mu.Lock()
	offset := host.Round(0).Sub(database)
	c.reading = Reading{Offset: offset, Uncertainty: uncertainty, At: host}
	// A vague answer that does not contradict a better one teaches nothing.
	known := c.anchor.uncertainty + time.Duration(host.Sub(c.anchor.host).Seconds()*float64(drift))
	vaguer := !c.anchor.host.IsZero() && uncertainty > known && c.anchor.at(host).Sub(database).Abs() <= uncertainty
	switch {
	case vaguer:
	case offset.Abs() <= uncertainty: // so that a healthy host is left alone
		c.anchor = anchor{host, host.Round(0), uncertainty}
	default:
		c.anchor = anchor{host, database, uncertainty}
	}
	before := c.state
	c.state = stateOf(offset)
	after := c.state
	c.mu.Unlock()
	if before != after {
		c.tell(after, offset)
	}
}

// Run measures from time to time until ctx ends. A database that does not
// answer is told of by others; the last measurement holds on.
func (c *Clock) Run(ctx context.Context) {
	tick := time.NewTicker(Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := c.Measure(ctx); err != nil && ctx.Err() == nil {
				c.options.Log.Debug("the clock was not checked", "error", err)
			}
		}
	}
}
