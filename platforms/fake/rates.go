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
func (l *limiter) take(w http.ResponseWriter, f *fakeNetwork, rates map[string]Rate, c caller, now time.Time, buckets ...string) (wait time.Duration, ok bool) {
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
