package views

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// ErrCannotTell is the answer when a site's way of counting different visitors
// does not know single ones.
var ErrCannotTell = errors.New("HyperLogLog cannot tell single visitors")

// Stats is what is known about a page now. Totals and uniques have every hit
// that was answered; hours and days follow within about a second.
type Stats struct {
	Page                   string
	Views, Clicks, Converts int64
	Uniques                Uniques
	Today                  []Bucket // hours of today in the site's zone, with views; oldest first
	Days                   []Bucket // days with views, as far as Redis holds them (35); oldest first
}

// Uniques are numbers of different visitors.
type Uniques struct {
	Day, Week int64 // today, and the last seven days with it, in the site's zone
	// AllTime is, by SetPerDay, the sum of the days' uniques: nothing is kept
	// that could tell more.
	AllTime int64
}

// Bucket is how often something was done in an hour or a day.
type Bucket struct {
	Start time.Time // in the site's zone
	Count int64
}

// Unit is how long the buckets of a series are.
type Unit string

// The units.
const (
	ByHour Unit = "hour" // of the last 48 hours
	ByDay  Unit = "day"  // of the last 35 days
)

// Funnel says how many went how far. A visitor counts once per step and hour.
type Funnel struct{ Views, Clicks, Converts int64 }

// Dimensions are the views of a page by country, device and referrer. What is
// too rare to be kept by itself is counted under Other.
type Dimensions struct{ Country, Device, Referrer map[string]int64 }

// Other stands for all values of a dimension that are not listed by themselves.
const Other = "other"

// Stats reads one page's numbers.
func (c *Counter) Stats(ctx context.Context, site Site, page string) (Stats, error) {
	all, err := c.StatsOf(ctx, site, []string{page})
	if err != nil {
		return Stats{}, err
	}
	return all[0], nil
}

// StatsOf reads many pages' numbers at once; a page that nobody saw has zeros.
func (c *Counter) StatsOf(context.Context, Site, []string) ([]Stats, error) { return nil, errBatch }

// Series reads how often something was done, oldest bucket first, empty ones
// included, ending with the current one.
func (c *Counter) Series(ctx context.Context, site Site, page string, kind Kind, unit Unit, buckets int) ([]Bucket, error) {
	return nil, errBatch
}

// Funnel reads how many went how far on a page.
func (c *Counter) Funnel(ctx context.Context, site Site, page string) (Funnel, error) {
	return Funnel{}, errBatch
}

// Dimensions reads a page's views by country, device and referrer.
func (c *Counter) Dimensions(ctx context.Context, site Site, page string) (Dimensions, error) {
	return Dimensions{}, errBatch
}

// FilteredOf reads how many hits on a page were refused, by reason, in the last
// days.
func (c *Counter) FilteredOf(ctx context.Context, site uuid.UUID, page string) (map[string]int64, error) {
	return nil, errBatch
}

// Seen says whether a visitor has viewed a page, as far back as the site's way
// remembers.
func (c *Counter) Seen(ctx context.Context, site Site, page string, v Visitor) (bool, error) {
	return false, ErrCannotTell
}
