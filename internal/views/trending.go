package views

import (
	"context"

	"github.com/google/uuid"
)

// Ranking is an order of a site's pages.
type Ranking string

// The rankings. All are kept ready; reading one computes nothing.
const (
	TrendingNow  Ranking = "now"    // views weigh half as much every ten minutes
	TrendingHour Ranking = "hour"   // exactly the last 60 minutes
	TrendingDay  Ranking = "day"    // exactly the last 24 hours on the clock
	Rising       Ranking = "rising" // views now against views of the last hours
)

// Ranked is a page's place in a ranking.
type Ranked struct {
	Page  string
	Score float64 // now: decayed views; hour, day: views; rising: times its usual rate
}

// Trending reads the first pages of a ranking, best first.
func (c *Counter) Trending(ctx context.Context, site uuid.UUID, r Ranking, limit int) ([]Ranked, error) {
	return nil, errBatch
}
