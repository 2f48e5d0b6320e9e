package timezone

import "time"

// maxAge is the age of a database that is reported: IANA publishes one several times a year.
const maxAge = 365 * 24 * time.Hour

// Warning is a reason to update the database.
type Warning struct {
	Kind     WarningKind
	Source   string // of the database that the program does not use
	Version  string // its version
	Released time.Time
}

// WarningKind is the kind of a Warning.
type WarningKind string

// The kinds.
const (
	Old       WarningKind = "old"       // older than a year
	Outdated  WarningKind = "outdated"  // the system got a newer one since the program started
	Anonymous WarningKind = "anonymous" // ZONEINFO names a database without a version
)

// Warnings returns the reasons to update the database, as of now.
func (d *Database) Warnings(now time.Time) []Warning {
	var all []Warning
	for _, other := range d.others {
		switch version := openPath(other).Version; {
		case version == "" && other == d.zoneinfo:
			all = append(all, Warning{Kind: Anonymous, Source: other})
		case newer(version, d.Version):
			all = append(all, Warning{Kind: Outdated, Source: other, Version: version})
		}
	}
	if now.Sub(d.Released) > maxAge {
		all = append(all, Warning{Kind: Old, Released: d.Released})
	}
	return all
}
