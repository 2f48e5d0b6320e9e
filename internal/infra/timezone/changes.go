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

// step is less than any period between two changes of an offset.
const step = time.Hour

// Changes lists the changes of a zone's offset from one instant to another.
func Changes(zone *time.Location, from, to time.Time) (all []Change) {
	at := from.In(zone)
	for before := Offset(at); ; {
		_, next := at.ZoneBounds()
		if next.IsZero() || !next.Before(to) {
			return all
		}
		if !next.After(at) {
			// Go 1.26.8 takes every year for one of 365 days: on 31 December of a leap year, the end is past.
			next = firstChange(at, at.Add(step))
		}
		at = next
		if after := Offset(at); after != before {
			all = append(all, Change{at.UTC(), before, after})
			before = after
		}
	}
}

// firstChange returns when the offset changes, or end if it does not.
func firstChange(start, end time.Time) time.Time {
	before := Offset(start)
	if Offset(end) == before {
		return end
	}
	for end.Sub(start) > time.Second {
		if middle := start.Add(end.Sub(start) / 2).Truncate(time.Second); Offset(middle) == before {
			start = middle
		} else {
			end = middle
		}
	}
	return end
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
		if Offset(from.In(before)) != Offset(from.In(after)) ||
			!slices.Equal(Changes(before, from, to), Changes(after, from, to)) {
			changed = append(changed, name)
		}
	}
	return changed
}
