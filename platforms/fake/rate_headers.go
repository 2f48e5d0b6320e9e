package fake

import (
	"net/http"
	"time"
)

// Windows is when the windows of a server's limits begin.
type Windows string

// The kinds of windows. FixedWindows, as Mastodon's, begin at multiples of their
// length.
const (
	FixedWindows         Windows = ""
	WindowsFromFirstCall Windows = "from the first call"
)

// Headers is what a server reports about its limits.
type Headers string

// The kinds of headers. Only the first are accurate.
const (
	HeadersAccurate          Headers = ""
	HeadersWholeSeconds      Headers = "whole seconds" // truncates the reset to whole seconds: up to a second early
	HeadersConstantRemaining Headers = "constant remaining"
	HeadersPastReset         Headers = "past reset"
	HeadersZeroLimit         Headers = "zero limit"
	HeadersNone              Headers = "none"
)

// GoToSocialRates are the limits of a real GoToSocial server: all calls count
// together, in windows that begin with their first call, and the reset is
// reported in whole seconds (internal/middleware/ratelimit.go in its source,
// based on github.com/ulule/limiter).
func GoToSocialRates() Rates {
	return Rates{API: Rate{300, 5 * time.Minute}, Windows: WindowsFromFirstCall, Headers: HeadersWholeSeconds}
}

// at returns the usage of the window at a time.
func (u usage) at(now time.Time, rate Rate, windows Windows) usage {
	if windows == WindowsFromFirstCall {
		if now.Before(u.ends) {
			return u
		}
		return usage{ends: now.Add(rate.Per)}
	}
	period := now.UnixNano() / int64(rate.Per)
	if u.period != period {
		u = usage{period: period}
	}
	u.ends = time.Unix(0, (period+1)*int64(rate.Per))
	return u
}

func (h Headers) write(to http.Header, rate Rate, left int, reset time.Time) {
	switch h {
	case HeadersNone:
		return
	case HeadersWholeSeconds:
		reset = reset.Truncate(time.Second)
	case HeadersConstantRemaining:
		left = rate.Requests
	case HeadersPastReset:
		reset = reset.Add(-24 * time.Hour)
	case HeadersZeroLimit:
		rate.Requests, left = 0, 0
	}
	writeRate(to, rate, left, reset)
}
