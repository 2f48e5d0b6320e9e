package cli

import (
	"context"
	"fmt"
	"sync"

	"dateline/activities"
	"dateline/api"
	"dateline/internal/audience/botfilter"
	"dateline/internal/audience/dimensions"
	"dateline/internal/audience/flush"
	"dateline/internal/audience/ingest"
	"dateline/internal/audience/site"
	"dateline/internal/audience/visitor"
	"dateline/internal/notify/pubsub"
)

// counting is what a process needs that counts readers.
type counting struct {
	directory *site.Directory
	countries *dimensions.Countries
	pulses    *pubsub.Pulses
	intake    *ingest.Intake

	stop  context.CancelFunc
	loops sync.WaitGroup
}

// openCounting makes the parts of the counting. Nothing of it runs yet.
func (p *parts) openCounting(ctx context.Context) (_ *counting, err error) {
	c := &counting{pulses: pubsub.NewPulses(p.redis, p.log),
		directory: &site.Directory{Store: p.store, Sealer: p.sealer, Log: p.log}}
	if c.countries, err = dimensions.OpenCountries(p.cfg.GeoIPFile); err != nil {
		return nil, fmt.Errorf("DATELINE_GEOIP_FILE: %w", err)
	}
	robots, err := botfilter.New()
	if err != nil {
		return nil, err
	}
	tracker, err := ingest.NewTracker()
	if err != nil {
		return nil, err
	}
	trusted, err := ingest.ParseProxies(p.cfg.TrustedProxies)
	if err != nil {
		return nil, fmt.Errorf("DATELINE_TRUSTED_PROXIES: %w", err)
	}
	// Beyond ctx: what is under way is counted also while the process stops.
	lasting, stop := context.WithCancel(context.WithoutCancel(ctx))
	c.stop = stop
	c.intake = &ingest.Intake{Sites: c.directory, Counter: p.batcher, Ledger: p.counter, Listeners: c.pulses,
		Visitors: &visitor.Identifier{Salts: visitor.NewSalts(p.redis)}, Robots: robots, Rates: botfilter.NewRates(lasting, p.redis),
		Referrers: dimensions.NewReferrers(), Countries: c.countries, Trusted: trusted, Now: p.clock.Now, Log: p.log, Tracker: tracker}
	return c, nil
}

// startCounting reads the sites and begins to keep them up to date. The database must have been migrated.
func (p *parts) startCounting(ctx context.Context) error {
	c := p.counting
	if c == nil {
		return nil
	}
	if err := c.directory.Refresh(ctx); err != nil {
		return err
	}
	lasting, stop := context.WithCancel(context.WithoutCancel(ctx))
	earlier := c.stop
	c.stop = func() { stop(); earlier() }
	c.loops.Go(func() { c.directory.Run(lasting) })
	return nil
}

func (c *counting) close() {
	if c == nil {
		return
	}
	if c.stop != nil {
		c.stop()
	}
	c.loops.Wait()
	_ = c.countries.Close()
}

// views is what of it the API shows.
func (p *parts) views() *api.Views {
	c := p.counting
	if c == nil {
		return nil
	}
	refresh := func(ctx context.Context) {
		if err := c.directory.Refresh(ctx); err != nil {
			p.log.Warn("a change of a site is not in force here yet", "error", err)
		}
	}
	return &api.Views{Sites: &site.Service{Store: p.store, Sealer: p.sealer, Changed: refresh}, Counts: flush.Counts{Counter: p.counter, Filtered: flush.Filtered{Counter: p.counter, Store: p.store}}, Pulses: c.pulses, Intake: c.intake}
}

// viewsWorker is what the worker does for it; nil: readers are not counted.
func (p *parts) viewsWorker() *activities.Views {
	if p.counter == nil {
		return nil
	}
	return &activities.Views{Tally: meteredTally{&flush.Keeper{Counter: p.counter, Store: p.store, Settle: flush.Settle, Log: p.log, Now: p.clock.Now,
		Retention: flush.Retention{Hours: p.cfg.HourlyViewRetention, Days: p.cfg.DailyViewRetention}}, p.telemetry.Views}}
}
