package views

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
)

// ErrLost says that Redis was emptied and that the shard's totals have not been
// seeded since. Until they are, nothing is taken from it: what Postgres would be
// seeded with must not move.
var ErrLost = errors.New("the counters were lost and have not been seeded again")

// PageID names a page of a site.
type PageID struct {
	Site uuid.UUID
	Page string
}

// Delta is what a batch adds to one page.
type Delta struct {
	PageID
	Way        Way // of counting uniques
	Hours      []HourDelta
	Funnel     []HourDelta // as Hours, of hits that were steps of the funnel
	Dimensions []DimensionDelta
	Filtered   []FilteredDelta
	// Uniques is not a difference but how many there are now; with Postgres,
	// the larger number is right.
	Uniques []DayUniques
	AllTime int64 // uniques, as in Uniques.AllTime
}

// HourDelta is how often something was done in an hour, more than before.
type HourDelta struct {
	Kind  Kind
	Hour  time.Time // its start; hours are the site's, some zones' begin at half past
	Day   Day
	Count int64
}

// Day is a day on the calendar of the site, as days since 1970-01-01.
type Day int32

// Time is the day's midnight in UTC, as databases take dates.
func (d Day) Time() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

// The dimensions.
const (
	Country  = "country"
	Device   = "device"
	Referrer = "referrer"
)

// DimensionDelta is how many views a value had on a day, more than before.
type DimensionDelta struct {
	Day       Day
	Dimension string // Country, Device, Referrer
	Value     string
	Count     int64
}

// FilteredDelta is how many hits were refused on a day, more than before.
type FilteredDelta struct {
	Day    Day
	Reason string
	Count  int64
}

// DayUniques is how many different visitors a page had on a day.
type DayUniques struct {
	Day          Day
	Uniques      int64
	WeekToTheDay int64 // of the seven days that end with it
}

// Total is what Postgres knows of a page, to count on from.
type Total struct {
	PageID
	Way                     Way
	Views, Clicks, Converts int64
	Funnel                  Funnel
	Uniques                 int64 // all time
	Sketch                  []byte
	Hours                   []HourDelta // of the last 48 hours, from which today's numbers and the rankings go on
	Days                    []DayTotal  // of the last 35 days
}

// DayTotal is how often something was done on a day.
type DayTotal struct {
	Kind  Kind
	Day   Day
	Count int64
}

// TakeBatch moves what was counted in a shard since the last batch aside, under
// the batch's id, atomically, and says whether there was anything. Taking a
// batch that was taken already changes nothing.
func (c *Counter) TakeBatch(ctx context.Context, shard int, batch uuid.UUID) (bool, error) {
	return false, errBatch
}

// Batches lists what was taken from a shard and not dropped, oldest first.
func (c *Counter) Batches(ctx context.Context, shard int) ([]uuid.UUID, error) {
	return nil, errBatch
}

// ReadBatch reads a batch that was taken: one Delta per page. A batch that is
// not there is empty.
func (c *Counter) ReadBatch(ctx context.Context, shard int, batch uuid.UUID) ([]Delta, error) {
	return nil, errBatch
}

// DropBatch forgets a batch that is safe in Postgres.
func (c *Counter) DropBatch(ctx context.Context, shard int, batch uuid.UUID) error { return errBatch }

// Sketches reads the all-time HyperLogLogs of pages (at most 14 kB each), from
// which Seed can restore them; nil for a page that has none.
func (c *Counter) Sketches(ctx context.Context, pages []PageID) ([][]byte, error) {
	return nil, errBatch
}

// Lost lists the shards whose counters were lost, or are new, and have not been
// seeded since.
func (c *Counter) Lost(ctx context.Context) ([]int, error) { return nil, errBatch }

// Seed adds Postgres' totals to what was counted since the loss. Each page is
// seeded once, however often it is tried; pages of shards that are not lost are
// left alone.
func (c *Counter) Seed(ctx context.Context, totals []Total) error { return errBatch }

// Seeded ends the seeding of a shard, after all totals were given to Seed.
func (c *Counter) Seeded(ctx context.Context, shard int) error { return errBatch }

// Forget deletes everything that is known of a page, but what is in batches.
func (c *Counter) Forget(ctx context.Context, page PageID) error { return errBatch }
