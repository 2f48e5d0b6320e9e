package cli

import (
	"dateline/activities"
	"dateline/internal/publishing/measure"
)

// measureActivities returns the activities that read the metrics of posts; nil if they
// are switched off.
func (p *parts) measureActivities() *activities.Measure {
	if p.cfg.MetricsShare == 0 {
		return nil
	}
	return &activities.Measure{Starter: p.workflows, Measurer: &measure.Service{
		Store: p.store, Accounts: p.accounts,
		Networks: p.networks, Limits: p.limits,
		Meter: p.telemetry.Publishing, Bursts: p.running, Share: p.cfg.MetricsShare, Now: p.clock.Now, Log: p.log,
	}}
}
