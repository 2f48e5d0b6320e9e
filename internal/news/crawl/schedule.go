package crawl

import "time"

// RevisitPolicy says how often hubs and pages are fetched. Tests speed it up.
type RevisitPolicy struct {
	HubInterval     time.Duration // initial interval of a hub
	MinHubInterval  time.Duration
	MaxHubInterval  time.Duration
	RefreshInterval time.Duration // until an article's first refresh; doubles while it is unchanged
	PushedInterval  time.Duration // minimum for feeds whose entries a hub delivers
	RetryInterval   time.Duration // after the first failure; doubles with each further one
	DeadInterval    time.Duration // until a dead URL is checked again
}

// DefaultRevisitPolicy fetches every hub at least every 20 minutes.
func DefaultRevisitPolicy() RevisitPolicy {
	return RevisitPolicy{
		HubInterval: 15 * time.Minute, MinHubInterval: 5 * time.Minute,
		MaxHubInterval:  20 * time.Minute,
		RefreshInterval: time.Hour, PushedInterval: time.Hour, RetryInterval: time.Minute,
		DeadInterval: 30 * 24 * time.Hour,
	}
}

// SpedUp is the policy with all intervals divided by a factor.
func (p RevisitPolicy) SpedUp(factor int) RevisitPolicy {
	f := time.Duration(factor)
	return RevisitPolicy{
		HubInterval: p.HubInterval / f, MinHubInterval: p.MinHubInterval / f,
		MaxHubInterval:  p.MaxHubInterval / f,
		RefreshInterval: p.RefreshInterval / f, PushedInterval: p.PushedInterval / f,
		RetryInterval: p.RetryInterval / f, DeadInterval: p.DeadInterval / f,
	}
}

// NextHubInterval shortens the interval of a hub that had new links and lengthens
// that of one that had none.
func NextHubInterval(interval time.Duration, hasNews bool, minInterval, maxInterval time.Duration) time.Duration {
	if hasNews {
		interval = interval * 2 / 3
	} else {
		interval = interval * 5 / 4
	}
	return min(max(interval, minInterval), maxInterval)
}

// NextPageInterval doubles the interval of an article that did not change, up to
// 720 refresh intervals.
func (p RevisitPolicy) NextPageInterval(interval time.Duration, changed bool) time.Duration {
	if changed || interval == 0 {
		return p.RefreshInterval
	}
	return min(2*interval, 30*24*p.RefreshInterval)
}

// maxAttempts is how many failures in a row make a URL dead.
const maxAttempts = 8

// RetryDelay is the wait after a number of failures in a row. dead reports that
// no attempts are left.
func (p RevisitPolicy) RetryDelay(attempts int) (wait time.Duration, dead bool) {
	if attempts >= maxAttempts {
		return p.DeadInterval, true
	}
	return p.RetryInterval << min(max(attempts-1, 0), 10), false
}

// Ranks order a domain's queue; lower ranks are fetched first. Hubs and pages
// that were never fetched have the lower half and refreshes the upper half, so
// that each half can have its share of a lease.
const (
	rankHome = iota
	rankSection
	rankFeed
	rankNews // pages linked from hubs
	_
	rankDeep // pages further away from a seed
	rankOld  // pages of large sitemaps
	rankRetry
	// MinRefreshRank is the lowest rank of refreshes.
	MinRefreshRank
	// MaxRank is the highest rank.
	MaxRank = 15
)

// HubRank is the rank of a hub.
func HubRank(k Kind) int {
	switch k {
	case Home:
		return rankHome
	case Section:
		return rankSection
	default:
		return rankFeed
	}
}

// DeliveredRank is the rank of an article that a hub has delivered: it is fetched before
// all others of its domain.
const DeliveredRank = rankHome

// DiscoveryRank is the rank of a newly discovered page. It depends on the kind of
// hub that links it, its distance from the seed, its age (0: unknown), and the
// seed's priority.
func DiscoveryRank(linkedBy Kind, depth int, age time.Duration, priority int) int {
	rank := rankNews
	switch {
	case depth > 1:
		rank = rankDeep + min(depth-2, 1)
	case linkedBy == Sitemap && (age == 0 || age > 48*time.Hour):
		rank = rankOld
	case age > 48*time.Hour:
		rank = rankDeep
	}
	switch {
	case priority >= 75 && rank > rankNews:
		rank--
	case priority < 25 && rank < rankOld:
		rank++
	}
	return rank
}

// RefreshRank is the rank of a page that was fetched before. Pages that changed
// recently come first.
func RefreshRank(interval time.Duration) int {
	switch {
	case interval <= time.Hour:
		return MinRefreshRank
	case interval <= 12*time.Hour:
		return MinRefreshRank + 1
	case interval <= 7*24*time.Hour:
		return MinRefreshRank + 2
	default:
		return MinRefreshRank + 3
	}
}

// RetryRank is the rank of a URL whose last fetch failed.
func RetryRank(k Kind) int {
	if k.Hub() {
		return HubRank(k)
	}
	return rankRetry
}
