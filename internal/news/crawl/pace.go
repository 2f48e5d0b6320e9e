package crawl

import "time"

// Pace says how often hubs and pages are fetched again. Tests scale it down.
type Pace struct {
	Every    time.Duration // of a hub, at first
	Min, Max time.Duration // of a hub
	Refresh  time.Duration // of an article, the first time; each look without a change doubles it
	Retry    time.Duration // after the first failure; each further one doubles it
	Dead     time.Duration // until a dead URL is asked for again
}

// StandardPace is what production runs by: every hub within 20 minutes.
func StandardPace() Pace {
	return Pace{Every: 15 * time.Minute, Min: 5 * time.Minute, Max: 20 * time.Minute,
		Refresh: time.Hour, Retry: time.Minute, Dead: 30 * 24 * time.Hour}
}

// Scaled is the pace on a clock that runs faster by a factor.
func (p Pace) Scaled(factor int) Pace {
	f := time.Duration(factor)
	return Pace{Every: p.Every / f, Min: p.Min / f, Max: p.Max / f, Refresh: p.Refresh / f, Retry: p.Retry / f, Dead: p.Dead / f}
}

// HubAgain is how long a hub rests: shorter when it had something new, longer
// when not.
func HubAgain(every time.Duration, news bool, least, most time.Duration) time.Duration {
	if news {
		every = every * 2 / 3
	} else {
		every = every * 5 / 4
	}
	return min(max(every, least), most)
}

// PageAgain is how long an article rests. It ends at 30 times 24 first pauses.
func (p Pace) PageAgain(every time.Duration, changed bool) time.Duration {
	if changed || every == 0 {
		return p.Refresh
	}
	return min(2*every, 30*24*p.Refresh)
}

// mostTries is after how many failures in a row a page counts as dead.
const mostTries = 8

// RetryIn is how long a URL rests whose fetch failed for the nth time in a row.
// dead says that it is given up for long.
func (p Pace) RetryIn(tries int) (wait time.Duration, dead bool) {
	if tries >= mostTries {
		return p.Dead, true
	}
	return p.Retry << min(max(tries-1, 0), 10), false
}
