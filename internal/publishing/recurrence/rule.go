// Package recurrence expands recurrence rules in local time: the part of RFC 5545,
// 3.3.10, that is useful for publishing. A rule is anchored to its start, so the result
// does not depend on when or how often it is expanded.
package recurrence

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Freq is how often a rule repeats.
type Freq string

// The frequencies.
const (
	Daily   Freq = "DAILY"
	Weekly  Freq = "WEEKLY"
	Monthly Freq = "MONTHLY"
)

// Bounds that no schedule of posts needs more than.
const (
	maxInterval = 1000
	maxCount    = 100_000
	maxDays     = 62 // in a list
)

// Day is a weekday; of a month, the nth or, below zero, the nth from its end.
type Day struct {
	Nth     int // 0 in a weekly rule
	Weekday time.Weekday
}

// Rule describes when something recurs. Parse creates one.
type Rule struct {
	Freq       Freq
	Interval   int
	ByDay      []Day
	ByMonthDay []int // below zero: from the month's end
	Count      int   // 0: no limit
	until      until
}

// until is the last moment that counts; which field contains it depends on how it was
// written.
type until struct {
	local   time.Time // on the wall clock, as a time in UTC
	instant time.Time
}

// Parse reads a rule such as FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR. It refuses
// every part of RFC 5545 that it does not follow, by name.
func Parse(text string) (Rule, error) {
	r := Rule{Interval: 1}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(strings.TrimPrefix(text, "RRULE:"), ";") {
		name, value, ok := strings.Cut(part, "=")
		if !ok {
			return Rule{}, fmt.Errorf("%q is not part of a rule; write one like FREQ=WEEKLY;BYDAY=MO,FR", part)
		}
		if seen[name] {
			return Rule{}, fmt.Errorf("%s is duplicated", name)
		}
		seen[name] = true
		if err := r.read(name, value); err != nil {
			return Rule{}, err
		}
	}
	return r, r.check(seen)
}

func (r *Rule) read(name, value string) (err error) {
	switch name {
	case "FREQ":
		r.Freq = Freq(value)
		if r.Freq != Daily && r.Freq != Weekly && r.Freq != Monthly {
			err = fmt.Errorf("FREQ=%s is not supported; use DAILY, WEEKLY or MONTHLY", value)
		}
	case "INTERVAL":
		r.Interval, err = number(name, value, maxInterval)
	case "COUNT":
		r.Count, err = number(name, value, maxCount)
	case "UNTIL":
		r.until, err = parseUntil(value)
	case "BYDAY":
		r.ByDay, err = list(name, value, parseDay)
	case "BYMONTHDAY":
		r.ByMonthDay, err = list(name, value, parseMonthDay)
	default:
		err = fmt.Errorf("%s is not supported; a rule has FREQ, INTERVAL, BYDAY, BYMONTHDAY, COUNT or UNTIL", name)
	}
	return err
}

// check refuses parts that do not go together.
func (r *Rule) check(seen map[string]bool) error {
	switch {
	case r.Freq == "":
		return errors.New("FREQ is missing; use DAILY, WEEKLY or MONTHLY")
	case seen["COUNT"] && seen["UNTIL"]:
		return errors.New("COUNT and UNTIL cannot stand in one rule") // RFC 5545, 3.3.10
	case seen["BYDAY"] && seen["BYMONTHDAY"]:
		return errors.New("BYDAY together with BYMONTHDAY is not supported")
	case seen["BYDAY"] && r.Freq == Daily:
		return errors.New("BYDAY in a DAILY rule is not supported; write FREQ=WEEKLY with the days")
	case seen["BYMONTHDAY"] && r.Freq != Monthly:
		return errors.New("BYMONTHDAY is supported in a MONTHLY rule only")
	}
	for _, d := range r.ByDay {
		if r.Freq == Weekly && d.Nth != 0 {
			return errors.New("BYDAY of a WEEKLY rule requires days without a number, like MO") // RFC 5545, 3.3.10
		}
		if r.Freq == Monthly && d.Nth == 0 {
			return errors.New("BYDAY of a MONTHLY rule without numbers is not supported; write days like 1MO or -1FR")
		}
	}
	return nil
}

func number(name, value string, limit int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > limit || value[0] == '+' {
		return 0, fmt.Errorf("%s=%s is not a number from 1 to %d", name, value, limit)
	}
	return n, nil
}

func list[T comparable](name, value string, parse func(string) (T, bool)) ([]T, error) {
	var all []T
	for text := range strings.SplitSeq(value, ",") {
		one, ok := parse(text)
		if !ok {
			return nil, fmt.Errorf("%s=%s: %q is invalid", name, value, text)
		}
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	if len(all) > maxDays {
		return nil, fmt.Errorf("%s lists more than %d days", name, maxDays)
	}
	return all, nil
}

func parseDay(text string) (Day, bool) {
	if len(text) < 2 {
		return Day{}, false
	}
	weekday := slices.Index([]string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}, text[len(text)-2:])
	d := Day{Weekday: time.Weekday(weekday)}
	if nth := text[:len(text)-2]; nth != "" {
		var err error
		if d.Nth, err = strconv.Atoi(nth); err != nil || d.Nth == 0 || d.Nth < -5 || d.Nth > 5 {
			return Day{}, false
		}
	}
	return d, weekday >= 0
}

func parseMonthDay(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n != 0 && n >= -31 && n <= 31
}

// parseUntil parses a date, which includes the whole day, a local time, or an instant
// in UTC as in RFC 5545.
func parseUntil(value string) (until, error) {
	if t, err := time.Parse("20060102T150405Z", value); err == nil {
		return until{instant: t}, nil
	}
	if t, err := time.Parse("20060102T150405", value); err == nil {
		return until{local: t}, nil
	}
	if t, err := time.Parse("20060102", value); err == nil {
		return until{local: t.Add(24*time.Hour - time.Second)}, nil
	}
	return until{}, fmt.Errorf("UNTIL=%s is not a date; write 20261231 or 20261231T170000Z", value)
}
