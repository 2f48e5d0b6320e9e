// Package zonechange finds the planned posts whose instant changes with the rules of their
// time zone. A post, an occurrence of a series and a slot of a queue mean a local time:
// 9:00 stays 9:00.
package zonechange

import (
	"time"

	"github.com/google/uuid"

	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/recurrence"
)

// Hold is how far ahead nothing is moved: people have prepared for that time, and could not
// react any more.
const Hold = time.Hour

// Planned is a post with a time.
type Planned struct {
	PostID, WorkspaceID uuid.UUID
	GroupID             *uuid.UUID // of its queue
	At                  time.Time
	TimeZone            string
}

// Move is a post whose local time is another instant by new rules.
type Move struct {
	Planned
	To   time.Time
	Held bool // due within Hold, now or then: it keeps its instant
}

// Find returns the posts whose local time, by the rules by which their instant was
// computed, is another instant by new ones.
func Find(before, after *timezone.Database, planned []Planned, now time.Time) (all []Move) {
	for _, p := range planned {
		old, err := before.Load(p.TimeZone)
		if err != nil {
			continue // it was not computed by these rules
		}
		zone, err := after.Load(p.TimeZone)
		if err != nil {
			continue
		}
		// The second of two equal local times stays the second if nothing changed.
		local := wall(p.At.In(old))
		if wall(p.At.In(zone)).Equal(local) {
			continue
		}
		to, ok := recurrence.Instant(local, zone)
		if !ok || to.Equal(p.At) {
			continue
		}
		to = to.Add(time.Duration(p.At.Nanosecond()))
		all = append(all, Move{Planned: p, To: to, Held: p.At.Sub(now) <= Hold || to.Sub(now) <= Hold})
	}
	return all
}

// wall returns what a clock shows, as a time in UTC.
func wall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}
