package main

import (
	_ "embed"
	"time"

	"dateline/internal/news/article/dates"
)

// datesPart reads dates of the tests of dateparser and dateutil as those of news pages. A
// date that is not read is different on purpose if docs/reference/peers.md gives a reason; a
// wrong one never is.
func datesPart() part {
	return part{name: "dates", run: runDates, packages: []string{
		"pypi:dateparser==1.5.0", "pypi:python-dateutil==2.9.0.post0", "pypi:six==1.17.0",
	}}
}

//go:embed dates.py
var datesScript string //nolint:gochecknoglobals // embedded

func runDates(dir string, show func(string, ...any)) ([]result, error) {
	var lists []struct {
		Name  string
		Cases []struct{ Text, Now, Time string }
	}
	if err := runPython(dir, datesScript, &lists); err != nil {
		return nil, err
	}
	var results []result
	for _, l := range lists {
		r := result{list: l.Name}
		for _, c := range l.Cases {
			now, err := parseISO(c.Now)
			if err != nil {
				return nil, err
			}
			got, ok := dates.Parse(c.Text, dates.Options{Now: now, MonthFirst: true})
			said := "not read"
			if ok {
				said = got.Time.Format("2006-01-02T15:04:05.999999")
			}
			switch {
			case ok == (c.Time != "") && (!ok || sameDate(got, c.Time)):
				r.passed++
			case !ok || c.Time == "": // peers.md says why
				r.different++
				show("%s: different: %q is %s, want %s", l.Name, c.Text, said, c.Time)
			default:
				r.failed++
				show("%s: FAILED: %q is %s, want %q", l.Name, c.Text, said, c.Time)
			}
		}
		results = append(results, r)
	}
	return results, nil
}

// sameDate compares the day of a date, and its clock if it has one.
func sameDate(got dates.Date, want string) bool {
	at, err := parseISO(want)
	if err != nil {
		return false
	}
	if !got.HasTime {
		return got.Time.Format(time.DateOnly) == at.Format(time.DateOnly)
	}
	return got.Time.Truncate(time.Second).Equal(at.Truncate(time.Second))
}

func parseISO(text string) (time.Time, error) { return time.Parse("2006-01-02T15:04:05.999999", text) }
