package remote

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

const whenHelp = "`time` in the workspace's time zone: 2026-12-24T18:00, \"tomorrow 9:00\", \"fri 18:30\", \"14:00\" (the next one) or \"in 90 minutes\""

// parseWhen returns the time that a text means, seen from now. Texts without a zone are
// in the zone of now.
func parseWhen(text string, now time.Time) (time.Time, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	if t, err := time.Parse(time.RFC3339, strings.ToUpper(text)); err == nil {
		return t, nil
	}
	for _, layout := range []string{"2006-01-02t15:04:05", "2006-01-02t15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return exact(t, layout, text)
		}
	}
	words := strings.Fields(text)
	switch {
	case len(words) == 3 && words[0] == "in":
		n, err := strconv.Atoi(words[1])
		unit, known := units()[strings.TrimSuffix(words[2], "s")]
		if err == nil && n > 0 && n <= 100_000 && known {
			if unit == 0 {
				return now.AddDate(0, 0, n), nil
			}
			return now.Add(time.Duration(n) * unit), nil
		}
	case len(words) == 2 || len(words) == 3 && words[1] == "at":
		days, known := daysUntil(words[0], now)
		clock, err := time.Parse("15:04", words[len(words)-1])
		if known && err == nil {
			return onDay(now, days, clock, words[0] != "today" && words[0] != "tomorrow")
		}
	case len(words) == 1:
		if clock, err := time.Parse("15:04", text); err == nil {
			t, err := onDay(now, 0, clock, false)
			if err == nil && t.After(now) {
				return t, nil
			}
			return onDay(now, 1, clock, false)
		}
	}
	return time.Time{}, UsageError(fmt.Sprintf("cannot read the time %q: use 2026-12-24T18:00, \"tomorrow 9:00\", \"fri 18:30\", 14:00 or \"in 90 minutes\"", text))
}

func units() map[string]time.Duration {
	return map[string]time.Duration{"second": time.Second, "minute": time.Minute, "min": time.Minute, "hour": time.Hour, "day": 0}
}

// daysUntil returns the number of days until a named day. A weekday can be today.
func daysUntil(name string, now time.Time) (int, bool) {
	switch name {
	case "today":
		return 0, true
	case "tomorrow":
		return 1, true
	}
	for d := range 7 {
		day := strings.ToLower((now.Weekday() + time.Weekday(d)).String())
		if d+int(now.Weekday()) > 6 {
			day = strings.ToLower(time.Weekday((d + int(now.Weekday())) % 7).String())
		}
		if name == day || name == day[:3] {
			return d, true
		}
	}
	return 0, false
}

// onDay returns a time of day so many days from now. If repeats is set and the time has
// passed, it is a week later.
func onDay(now time.Time, days int, clock time.Time, repeats bool) (time.Time, error) {
	day := func(n int) time.Time {
		return time.Date(now.Year(), now.Month(), now.Day()+n, clock.Hour(), clock.Minute(), 0, 0, now.Location())
	}
	t := day(days)
	if repeats && !t.After(now) {
		t = day(days + 7)
	}
	return exact(t, "15:04", clock.Format("15:04"))
}

// exact rejects a time that the clock skips, such as when daylight saving time starts.
func exact(t time.Time, layout, want string) (time.Time, error) {
	if t.Format(strings.ReplaceAll(layout, "t", "T")) != strings.ToUpper(want) {
		return t, UsageError(fmt.Sprintf("the time %s does not exist on that day in %s, because the clock skips it", want, t.Location()))
	}
	return t, nil
}
