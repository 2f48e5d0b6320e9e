package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"dateline/internal/audience/counter"
	"dateline/internal/infra/timezone"
)

// readers generates hits like those of a news site.
type readers struct {
	site     counter.Site
	pages    []string
	random   *rand.Rand
	zipf     *rand.Zipf
	visitors uint64
}

func newSite() (counter.Site, error) {
	zone, err := timezone.Load("Asia/Ho_Chi_Minh")
	return counter.Site{ID: uuid.New(), Zone: zone, Window: 30 * time.Minute, UniqueMethod: counter.HyperLogLog}, err
}

// newPages returns ids of posts.
func newPages(n int) []string {
	pages := make([]string, n)
	for i := range pages {
		pages[i] = uuid.Must(uuid.NewV7()).String()
	}
	return pages
}

func newReaders(site counter.Site, pages []string, visitors int, seed uint64) *readers {
	random := rand.New(rand.NewPCG(seed, 1))                                              //nolint:gosec // made up, and the same each time
	return &readers{site: site, pages: pages, random: random, visitors: uint64(visitors), //nolint:gosec // a flag
		zipf: rand.NewZipf(random, 1.01, 1, uint64(len(pages)-1))} //nolint:gosec // there are pages
}

// hit is the next view.
func (r *readers) hit() counter.Hit { return r.of(r.pages[r.zipf.Uint64()]) }

// of is a view of a page.
func (r *readers) of(page string) counter.Hit {
	visitor := r.random.Uint64N(r.visitors) * 0x9e3779b97f4a7c15
	return counter.Hit{
		Site: r.site, Page: page, Kind: counter.View, Visitor: counter.Visitor{Hash: visitor},
		At:      time.Now(),
		Country: pick(r.random, []string{"VN", "US", "FR", "DE", "JP", "KR", "AU", "CA", "GB", "TW"}),
		Device:  pick(r.random, []string{"mobile", "desktop", "tablet"}), Referrer: r.referrer(),
	}
}

func (r *readers) referrer() string {
	switch n := r.random.IntN(100); {
	case n < 40:
		return ""
	case n < 98:
		return pick(r.random, []string{
			"facebook.com", "google.com", "zalo.me", "t.co", "news.google.com", "reddit.com",
			"bing.com", "t.me",
		})
	default:
		return fmt.Sprintf("blog%d.example", r.random.IntN(10_000))
	}
}

// pick prefers the first elements.
func pick(random *rand.Rand, of []string) string {
	n := random.Float64()
	return of[int(n*n*float64(len(of)))]
}
