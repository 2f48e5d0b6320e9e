package timezone

import (
	"slices"
	"time"
)

// Change is a change of a zone's offset from UTC.
type Change struct {
	At            time.Time
	Before, After time.Duration // offset
}

// Changes lists the changes of a zone's offset from one instant to another.
func Changes(zone *time.Location, from, to time.Time) (all []Change) {
	at := from.In(zone)
	before := Offset(at)
	for {
		_, next := at.ZoneBounds()
		if next.IsZero() || !next.Before(to) {
			return all
		}
		if !next.After(at) {
			// Go 1.26.8 ends some periods of rules that repeat yearly with the year, and
			// begins the next one a second later.
			next = at.Add(time.Second)
		}
		at = next
		if after := Offset(at); after != before {
			all = append(all, Change{at.UTC(), before, after})
			before = after
		}
	}
}

// Offset returns the offset from UTC in t's zone.
func Offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// ChangedSince returns which of the zones have other offsets than in an older database,
// between two instants.
func (d *Database) ChangedSince(older *Database, names []string, from, to time.Time) (changed []string) {
	for _, name := range names {
		before, err := older.Load(name)
		if err != nil {
			continue
		}
		after, err := d.Load(name)
		if err != nil {
			continue
		}
		if Offset(from.In(before)) != Offset(from.In(after)) || !slices.Equal(Changes(before, from, to), Changes(after, from, to)) {
			changed = append(changed, name)
		}
	}
	return changed
}
