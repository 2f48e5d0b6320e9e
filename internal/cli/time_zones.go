package cli

import (
	"context"
	"time"

	"dateline/internal/infra/timezone"
)

// applyTimeZones moves planned posts whose instant another time zone database changes, and
// lists them. It runs before anything is served: later, new times would be computed by
// the new rules and be mistaken for old ones.
func (p *parts) applyTimeZones(ctx context.Context) error {
	zones := timezone.Current()
	for _, w := range zones.Warnings(p.clock.Now()) {
		p.log.WarnContext(ctx, "the time zone database needs an update; see dateline doctor",
			"version", zones.Version, "source", zones.Source, "reason", w.Kind)
	}
	before, moves, err := p.store.Publishing.Posts.ApplyTimeZones(ctx, zones, p.clock.Now())
	if err != nil {
		return err
	}
	if before.NewerThan(zones) {
		p.log.WarnContext(ctx, "another process uses a newer time zone database; update this one",
			"version", zones.Version, "newer", before.Version)
	}
	for _, m := range moves {
		p.log.WarnContext(ctx, "the rules of a post's time zone changed; a post that is due within the hour is held "+
			"and not moved: check its time",
			"held", m.Held, "post", m.PostID, "time_zone", m.TimeZone,
			"before", m.At.UTC().Format(time.RFC3339), "after", m.To.Format(time.RFC3339), "database", zones.Version)
	}
	return nil
}
