package post

import (
	"fmt"
	"regexp"
	"time"
)

// Horizon is how far ahead a post may be scheduled.
const Horizon = 5 * 366 * 24 * time.Hour

// timePattern is RFC 3339 with optional seconds and an optional offset. time.Parse
// alone would also accept T8:00 and a comma before the fraction.
var timePattern = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?$`)

const localLayout = "2006-01-02T15:04:05"

// ParseTime parses a scheduled time: RFC 3339 with an offset, which overrides the zone,
// or a local date and time without one, in zone. A local time that daylight saving time
// skips is refused; an ambiguous one means the earlier.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil && timePattern.MatchString(text) {
			return t.UTC(), nil
		}
	}
	for _, layout := range []string{localLayout + ".999999999", "2006-01-02T15:04"} {
		naive, err := time.Parse(layout, text)
		if err != nil || !timePattern.MatchString(text) {
			continue
		}
		return onWallClock(naive, zone)
	}
	return time.Time{}, fmt.Errorf("%q is not a time: use 2026-12-24T18:00:00+07:00, or omit the offset and "+
		"set time_zone", text)
}

// onWallClock finds the instant at which clocks in zone show what naive shows.
func onWallClock(naive time.Time, zone *time.Location) (time.Time, error) {
	t := time.Date(naive.Year(), naive.Month(), naive.Day(), naive.Hour(), naive.Minute(), naive.Second(),
		naive.Nanosecond(), zone)
	if t.Format(localLayout) != naive.Format(localLayout) {
		return time.Time{}, fmt.Errorf("clocks in %s skip %s that day", zone, naive.Format("15:04"))
	}
	// time.Date does not promise which of two equal wall clock times it picks.
	// No zone has ever been set back by more than a day.
	for _, back := range []time.Duration{30 * time.Minute, time.Hour, 2 * time.Hour, 24 * time.Hour} {
		if earlier := t.Add(-back); earlier.Format(localLayout) == t.Format(localLayout) {
			return earlier.UTC(), nil
		}
	}
	return t.UTC(), nil
}
