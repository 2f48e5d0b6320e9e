package crawl

import "time"

// RevisitPolicy says how often hubs and pages are fetched again. Tests scale it down.
type RevisitPolicy struct {
	HubInterval                    time.Duration // of a hub, at first
	MinHubInterval, MaxHubInterval time.Duration // of a hub
	RefreshInterval                time.Duration // of an article, the first time; each look without a change doubles it
	RetryInterval                  time.Duration // after the first failure; each further one doubles it
	DeadInterval                   time.Duration // until a dead URL is asked for again
}

// DefaultRevisitPolicy is what production runs by: every hub within 20 minutes.
func DefaultRevisitPolicy() RevisitPolicy {
	return RevisitPolicy{HubInterval: 15 * time.Minute, MinHubInterval: 5 * time.Minute, MaxHubInterval: 20 * time.Minute,
		RefreshInterval: time.Hour, RetryInterval: time.Minute, DeadInterval: 30 * 24 * time.Hour}
}

// SpedUp is the pace on a clock that runs faster by a factor.
func (p RevisitPolicy) SpedUp(factor int) RevisitPolicy {
	f := time.Duration(factor)
	return RevisitPolicy{HubInterval: p.HubInterval / f, MinHubInterval: p.MinHubInterval / f, MaxHubInterval: p.MaxHubInterval / f, RefreshInterval: p.RefreshInterval / f, RetryInterval: p.RetryInterval / f, DeadInterval: p.DeadInterval / f}
}

// NextHubInterval is how long a hub rests: shorter when it had something new, longer
// when not.
func NextHubInterval(every time.Duration, news bool, least, most time.Duration) time.Duration {
	if news {
		every = every * 2 / 3
	} else {
		every = every * 5 / 4
	}
	return min(max(every, least), most)
}

// NextPageInterval is how long an article rests. It ends at 30 times 24 first pauses.
func (p RevisitPolicy) NextPageInterval(every time.Duration, changed bool) time.Duration {
	if changed || every == 0 {
		return p.RefreshInterval
	}
	return min(2*every, 30*24*p.RefreshInterval)
}

// maxAttempts is after how many failures in a row a page counts as dead.
const maxAttempts = 8

// RetryDelay is how long a URL rests whose fetch failed for the nth time in a row.
// dead says that it is given up for long.
func (p RevisitPolicy) RetryDelay(tries int) (wait time.Duration, dead bool) {
	if tries >= maxAttempts {
		return p.DeadInterval, true
	}
	return p.RetryInterval << min(max(tries-1, 0), 10), false
}
