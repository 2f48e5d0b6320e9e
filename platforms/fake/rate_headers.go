package fake

import (
	"net/http"
	"time"
)

// Windows says where the windows of a server's limits begin.
type Windows string

// The kinds of windows. Mastodon's begin at the multiples of their length.
const (
	FixedWindows         Windows = ""
	WindowsFromFirstCall Windows = "from the first call"
)

// Headers is what a server says of its limits.
type Headers string

// What servers say. All but the first are lies, or nothing.
const (
	HeadersAccurate          Headers = ""
	HeadersWholeSeconds      Headers = "whole seconds" // of the reset: up to a second early
	HeadersConstantRemaining Headers = "constant remaining"
	HeadersPastReset         Headers = "past reset"
	HeadersZeroLimit         Headers = "zero limit"
	HeadersNone              Headers = "none"
)

// GoToSocialRates are a real GoToSocial's: all calls count together, in windows
// that begin with their first call, and the reset is said in whole seconds
// (internal/middleware/ratelimit.go there, over github.com/ulule/limiter).
func GoToSocialRates() Rates {
	return Rates{API: Rate{300, 5 * time.Minute}, Windows: WindowsFromFirstCall, Headers: HeadersWholeSeconds}
}

// at returns the usage of the window that a time falls in.
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
