package rule

import (
	"fmt"
	"slices"
	"time"

	"dateline/internal/infra/timezone"
	"dateline/internal/publishing/recurrence"
)

// publishTime returns when the post of an article is published, if it does not get the
// slot of a queue. A page that states a later time of publication is under embargo until
// then.
func (t Timing) publishTime(a Article, at time.Time) time.Time {
	due := at.Add(immediateDelay)
	if t.When == Delayed {
		due = at.Add(time.Duration(t.DelayMinutes) * time.Minute)
	}
	if embargo := a.embargo(at); embargo.After(due) {
		due = embargo
	}
	if t.Hours != nil {
		due = t.Hours.next(due)
	}
	return due.Truncate(time.Second).UTC()
}

// embargo returns until when an article must not be posted; zero: it may.
func (a Article) embargo(at time.Time) time.Time {
	if a.PublishedAt != nil && a.PublishedAt.After(at) {
		return *a.PublishedAt
	}
	return time.Time{}
}

// next returns the first instant within the hours, at or after an instant.
func (h Hours) next(at time.Time) time.Time {
	zone, err := timezone.Load(h.TimeZone)
	from, to, problem := h.clocks()
	if err != nil || problem != nil {
		return at
	}
	local := at.In(zone)
	day := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC)
	for range 8 {
		begins, ok := recurrence.Instant(day.Add(from), zone)
		ends, alsoOK := recurrence.Instant(day.Add(to), zone)
		if ok && alsoOK && h.hasWeekday(day.Weekday()) && at.Before(ends) {
			if at.Before(begins) {
				return begins
			}
			return at
		}
		day = day.AddDate(0, 0, 1)
	}
	return at
}

func (h Hours) hasWeekday(d time.Weekday) bool {
	return len(h.Weekdays) == 0 || slices.ContainsFunc(h.Weekdays, func(n int) bool { return n%7 == int(d) })
}

func (h Hours) clocks() (from, to time.Duration, err error) {
	if from, err = parseClock(h.From); err != nil {
		return 0, 0, err
	}
	if h.To == "24:00" {
		return from, 24 * time.Hour, nil
	}
	to, err = parseClock(h.To)
	return from, to, err
}

func parseClock(text string) (time.Duration, error) {
	at, err := time.Parse("15:04", text)
	if err != nil || at.Format("15:04") != text {
		return 0, fmt.Errorf("%q is not a time; write it like 07:30", text)
	}
	return time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute, nil
}
