package crawl

import "time"

// Ranks order a domain's queue: the lower goes first. Hubs and pages that were
// never fetched have the lower half, refreshes the upper, so that each half can
// be given its share.
const (
	rankHome = iota
	rankSection
	rankFeed
	rankNews // pages that the newest hubs name
	_
	rankDeep // pages further away
	rankOld  // pages of large sitemaps
	rankRetry
	// MinRefreshRank is the first of the ranks of what is fetched again.
	MinRefreshRank
	// MaxRank is the last of all ranks.
	MaxRank = 15
)

// HubRank is where a hub stands.
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

// DiscoveryRank is where a page stands that was just found: by the hub that names it,
// its distance from the seed, its age as far as it was told, and the seed's
// priority.
func DiscoveryRank(by Kind, depth int, age time.Duration, priority int) int {
	rank := rankNews
	switch {
	case depth > 1:
		rank = rankDeep + min(depth-2, 1)
	case by == Sitemap && (age == 0 || age > 48*time.Hour):
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

// RefreshRank is where a page stands once it was fetched: those that changed
// lately first.
func RefreshRank(every time.Duration) int {
	switch {
	case every <= time.Hour:
		return MinRefreshRank
	case every <= 12*time.Hour:
		return MinRefreshRank + 1
	case every <= 7*24*time.Hour:
		return MinRefreshRank + 2
	default:
		return MinRefreshRank + 3
	}
}

// RetryRank is where a page stands whose fetch failed.
func RetryRank(k Kind) int {
	if k.Hub() {
		return HubRank(k)
	}
	return rankRetry
}
