package call

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ParseReset returns when a rate limit resets, by the local clock; zero if the
// value is invalid. Servers of one API use different formats: Mastodon and
// GoToSocial send ISO 8601, others seconds since 1970, some milliseconds, and the
// IETF's RateLimit headers seconds from now
// (draft-ietf-httpapi-ratelimit-headers, section 2).
func (r *Response) ParseReset(value string) time.Time {
	value = strings.TrimSpace(value)
	for _, layout := range []string{
		time.RFC3339, "2006-01-02T15:04:05", time.DateTime, "2006-01-02 15:04:05 MST",
		http.TimeFormat,
	} {
		if at, err := time.Parse(layout, value); err == nil {
			return r.LocalTime(at)
		}
	}
	n, err := strconv.ParseFloat(value, 64)
	const year = 366 * 24 * 3600
	switch {
	case err != nil || math.IsNaN(n) || n < 0 || n > 1e14:
		return time.Time{}
	case n >= 1e11:
		return r.LocalTime(time.UnixMilli(int64(n)))
	case n >= 1e9:
		return r.LocalTime(time.UnixMilli(int64(n * 1000)))
	case n > year:
		return time.Time{} // neither a date nor a plausible wait
	default:
		return r.Received.Add(time.Duration(n * float64(time.Second)))
	}
}

// PolicyWindow returns the window of a policy such as "300;w=300"; zero if it has
// none (draft-ietf-httpapi-ratelimit-headers, section 3).
func PolicyWindow(policy string) time.Duration {
	for _, part := range strings.Split(policy, ";")[1:] {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		seconds, err := strconv.Atoi(strings.TrimRight(strings.TrimSpace(value), ","))
		if name == "w" && err == nil && seconds > 0 && seconds <= 366*24*3600 {
			return time.Duration(seconds) * time.Second
		}
	}
	return 0
}
