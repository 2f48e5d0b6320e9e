package fake

import (
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Rate is a number of requests per fixed window.
type Rate struct {
	Requests int
	Per      time.Duration
}

// Rates are the limits per account, and of an app over all of its accounts. A
// rate of zero requests means no limit.
type Rates struct {
	API      Rate // all calls
	Statuses Rate // new posts
	Media    Rate // uploads
	Deletes  Rate
	App      Rate // all calls with tokens of one app; zero: none

	Windows Windows // when its windows begin
	Headers Headers // what it reports about them
}

// MastodonRates are the limits of a real instance
// (https://docs.joinmastodon.org/api/rate-limits/).
func MastodonRates() Rates {
	return Rates{
		API:      Rate{300, 5 * time.Minute},
		Statuses: Rate{300, 3 * time.Hour},
		Media:    Rate{30, 30 * time.Minute},
		Deletes:  Rate{30, 30 * time.Minute},
	}
}

// GenerousRates are limits that normal use does not reach.
func GenerousRates() Rates {
	r := Rate{1_000_000, 5 * time.Minute}
	return Rates{API: r, Statuses: r, Media: r, Deletes: r}
}

const bucketApp = "app"

type limiter struct {
	rates Rates
	mu    sync.Mutex
	used  map[string]usage
}

type usage struct {
	period int64
	count  int
	ends   time.Time // for windows that begin with a call
}

func newLimiter(rates Rates) *limiter { return &limiter{rates: rates, used: map[string]usage{}} }

// allow counts a request in its buckets, writes the headers of the one with the
// least remaining requests, and reports whether all had room.
func (l *limiter) allow(w http.ResponseWriter, c caller, now time.Time, buckets ...string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	ok, least := true, -1
	for _, bucket := range buckets {
		rate := l.rate(bucket)
		if rate.Requests == 0 {
			continue
		}
		owner := bucket + "/" + c.account.ID
		if bucket == bucketApp {
			owner = bucket + "/" + c.app
		}
		u := l.used[owner].at(now, rate, l.rates.Windows)
		u.count++
		l.used[owner] = u
		left := max(rate.Requests-u.count, 0)
		ok = ok && u.count <= rate.Requests
		if least < 0 || left < least {
			least = left
			l.rates.Headers.write(w.Header(), rate, left, u.ends)
		}
	}
	return ok
}

// take counts a request in the buckets of one of the other networks, writes the
// headers of the one with the least remaining requests, and returns how long to
// wait if one is exhausted.
func (l *limiter) take(
	w http.ResponseWriter, f *fakeNetwork, rates map[string]Rate, c caller, now time.Time, buckets ...string,
) (wait time.Duration, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ok, least := true, -1
	for _, bucket := range buckets {
		rate, limited := rates[bucket]
		if !limited {
			rate = Rate{Requests: 1_000_000, Per: 5 * time.Minute}
		}
		period, owner := now.UnixNano()/int64(rate.Per), f.name+"/"+bucket+"/"+c.account.ID
		u := l.used[owner]
		if u.period != period {
			u = usage{period: period}
		}
		u.count++
		l.used[owner] = u
		reset := time.Unix(0, (period+1)*int64(rate.Per))
		if u.count > rate.Requests {
			ok, wait = false, max(wait, reset.Sub(now))
		}
		if left := max(rate.Requests-u.count, 0); least < 0 || left < least {
			least = left
			if f.writeRateHeaders != nil {
				f.writeRateHeaders(w.Header(), rate, left, reset)
			}
		}
	}
	return wait, ok
}

// writeRate writes Mastodon's headers: the reset is in ISO 8601.
func writeRate(h http.Header, rate Rate, left int, reset time.Time) {
	h.Set("X-RateLimit-Limit", strconv.Itoa(rate.Requests))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(left))
	h.Set("X-RateLimit-Reset", reset.UTC().Format("2006-01-02T15:04:05.000000Z07:00"))
}

func (l *limiter) rate(bucket string) Rate {
	switch bucket {
	case "statuses":
		return l.rates.Statuses
	case "media":
		return l.rates.Media
	case "deletes":
		return l.rates.Deletes
	case bucketApp:
		return l.rates.App
	default:
		return l.rates.API
	}
}

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
