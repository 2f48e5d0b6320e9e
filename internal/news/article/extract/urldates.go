package extract

import (
	"strings"
	"time"
)

// dateFromURL parses /2026/03/07/ in a URL.
func dateFromURL(path string) (time.Time, bool) {
	parts := strings.Split(path, "/")
	for i := 0; i+2 < len(parts); i++ {
		if len(parts[i]) == 4 && len(parts[i+1]) <= 2 && len(parts[i+2]) <= 2 {
			if t, err := time.Parse("2006/1/2", parts[i]+"/"+parts[i+1]+"/"+parts[i+2]); err == nil && t.Year() > 1990 {
				return t, true
			}
		}
	}
	return time.Time{}, false
}

// dateInURL finds a day written as 20260307 or 2026-03-07 in a URL.
func dateInURL(path string) (time.Time, bool) {
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	for i := range path {
		if i > 0 && path[i-1] >= '0' && path[i-1] <= '9' {
			continue
		}
		for _, layout := range []string{"2006-01-02", "20060102", "2006_01_02"} {
			end := i + len(layout)
			if end > len(path) || !digits(path[i:i+4]) || end < len(path) && path[end] >= '0' && path[end] <= '9' {
				continue
			}
			if t, err := time.Parse(layout, path[i:end]); err == nil && t.Year() >= 1995 && t.Year() <= 2100 {
				return t, true
			}
		}
	}
	return time.Time{}, false
}
