package recurrence

import (
	"fmt"
	"iter"
	"slices"
	"time"
)

// Occurrence is one time at which a rule fires.
type Occurrence struct {
	Local time.Time // local time, represented in UTC regardless of clock changes
	At    time.Time // the instant, in UTC
}

const localLayout = "2006-01-02T15:04:05"

// Name is the occurrence's name: its time on the wall clock.
func (o Occurrence) Name() string { return FormatLocal(o.Local) }

// FormatLocal formats a time on the wall clock.
func FormatLocal(local time.Time) string { return local.Format(localLayout) }

// ParseLocal reads a time on the wall clock, like 2026-12-24T18:00.
func ParseLocal(text string) (time.Time, error) {
	for _, layout := range []string{localLayout, "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, text); err == nil && len(text) == len(layout) {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a local time; write it like 2026-12-24T18:00, without an offset", text)
}

// lastYear is where expansion stops, whatever the rule.
const lastYear = 2400

// Occurrences expands a rule from start, a local time in zone. The start itself occurs
// only if it matches the rule.
//
// A skipped local time uses the offset before the gap, as in RFC 5545, 3.3.5: 02:30
// becomes 03:30. An ambiguous time means the first. A date that a zone skipped (Samoa
// had no 30 December 2011) is an invalid date, which 3.3.10 ignores and does not count.
func (r Rule) Occurrences(start time.Time, zone *time.Location) iter.Seq[Occurrence] {
	return func(yield func(Occurrence) bool) {
		count := 0
		for date := range r.dates(start) {
			local := date.Add(start.Sub(midnight(start)))
			if local.Before(start) {
				continue
			}
			at, ok := Instant(local, zone)
			if r.hasEndedAt(local, at) {
				return
			}
			if !ok {
				continue
			}
			if count++; !yield(Occurrence{Local: local, At: at}) || count == r.Count {
				return
			}
		}
	}
}

func (r Rule) hasEndedAt(local, at time.Time) bool {
	return !r.until.local.IsZero() && local.After(r.until.local) || !r.until.instant.IsZero() &&
		at.After(r.until.instant)
}

// dates lists the dates that fit, in order, from the period that start is in.
func (r Rule) dates(start time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		first := midnight(start)
		for i := 0; ; i += r.Interval {
			var dates []time.Time
			var period time.Time
			switch r.Freq {
			case Daily:
				period = first.AddDate(0, 0, i)
				dates = []time.Time{period}
			case Weekly:
				// Weeks begin on Monday, the default of RFC 5545 without WKST.
				period = first.AddDate(0, 0, -daysAfter(time.Monday, first.Weekday())+7*i)
				dates = r.inWeek(period, first.Weekday())
			default:
				period = time.Date(first.Year(), first.Month()+time.Month(i), 1, 0, 0, 0, 0, time.UTC)
				dates = r.inMonth(period, first.Day())
			}
			if period.Year() > lastYear {
				return
			}
			for _, d := range dates {
				if !yield(d) {
					return
				}
			}
		}
	}
}

func (r Rule) inWeek(monday time.Time, weekday time.Weekday) []time.Time {
	days := r.ByDay
	if len(days) == 0 {
		days = []Day{{Weekday: weekday}}
	}
	dates := make([]time.Time, len(days))
	for i, d := range days {
		dates[i] = monday.AddDate(0, 0, daysAfter(time.Monday, d.Weekday))
	}
	return sorted(dates)
}

// inMonth leaves out days that the month does not have.
func (r Rule) inMonth(first time.Time, day int) []time.Time {
	length := first.AddDate(0, 1, -1).Day()
	var dates []time.Time
	add := func(day int) {
		if day >= 1 && day <= length {
			dates = append(dates, first.AddDate(0, 0, day-1))
		}
	}
	for _, d := range r.ByDay {
		if d.Nth > 0 {
			add(1 + daysAfter(first.Weekday(), d.Weekday) + 7*(d.Nth-1))
		} else {
			last := first.AddDate(0, 0, length-1).Weekday()
			add(length - daysAfter(d.Weekday, last) + 7*(d.Nth+1))
		}
	}
	days := r.ByMonthDay
	if len(days) == 0 && len(r.ByDay) == 0 {
		days = []int{day}
	}
	for _, d := range days {
		if d < 0 {
			d += length + 1
		}
		add(d)
	}
	return sorted(dates)
}

func sorted(dates []time.Time) []time.Time {
	slices.SortFunc(dates, time.Time.Compare)
	return slices.CompactFunc(dates, time.Time.Equal)
}

// daysAfter counts the days from one weekday to the next other one.
func daysAfter(from, to time.Weekday) int { return (int(to) - int(from) + 7) % 7 }

func midnight(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

// Instant finds when clocks in zone show local. ok is false for a date that the
// zone does not have.
func Instant(local time.Time, zone *time.Location) (at time.Time, ok bool) {
	guess := time.Date(local.Year(), local.Month(), local.Day(), local.Hour(), local.Minute(), local.Second(), 0, zone)
	from, to := guess.ZoneBounds()
	instants := []time.Time{guess}
	for _, change := range []time.Time{from, to} {
		if change.IsZero() {
			continue
		}
		before, after := offset(change.Add(-time.Second)), offset(change)
		// In a gap, the clock before it would show local after the change, and the
		// clock after it before.
		if early, late := local.Add(-after), local.Add(-before); early.Before(change) && !late.Before(change) {
			return late, after-before < 24*time.Hour
		}
		instants = append(instants, local.Add(-before), local.Add(-after))
	}
	at = guess
	for _, t := range instants {
		if t.In(zone).Format(localLayout) == FormatLocal(local) && t.Before(at) {
			at = t
		}
	}
	return at.UTC(), true
}

func offset(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}
