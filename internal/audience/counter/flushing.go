package counter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
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
	UniqueMethod UniqueMethod // of counting uniques
	Hours        []HourDelta
	Funnel       []HourDelta // as Hours, of hits that were steps of the funnel
	Dimensions   []DimensionDelta
	Filtered     []FilteredDelta
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
	Day        Day
	Uniques    int64
	WeekToDate int64 // of its week, from Monday
}

// TakeBatch moves what was counted in a shard since the last batch aside, under
// the batch's id, atomically, and says whether the batch has anything. Taking a
// batch that was taken already changes nothing; one that was dropped stays
// empty. It fails with ErrLost where the shard is to be seeded first.
func (c *Counter) TakeBatch(ctx context.Context, shard int, batch uuid.UUID) (bool, error) {
	// Whoever folds beside may have what was counted last in hand.
	for all, tries := false, 0; !all && tries < maxAttempts; tries++ {
		var err error
		if all, err = c.aggregateShards(ctx, []int{shard}); err != nil {
			return false, err
		}
	}
	cmds, err := c.runScripts(ctx, c.shardScript, []scriptCall{{tag(shard) + "deltas", []any{"take", batch.String()}}})
	if err != nil {
		return false, fmt.Errorf("take a batch: %w", err)
	}
	switch n, err := cmds[0].Int(); {
	case err != nil:
		return false, fmt.Errorf("take a batch: %w", err)
	case n < 0:
		return false, fmt.Errorf("shard %d: %w", shard, ErrLost)
	default:
		return n == 1, nil
	}
}

// maxAttempts is how often a flush folds before it leaves the rest to the next.
const maxAttempts = 20

// Batches lists what was taken from a shard and not dropped, oldest first.
func (c *Counter) Batches(ctx context.Context, shard int) ([]uuid.UUID, error) {
	names, err := c.redis.LRange(ctx, tag(shard)+"batches", 0, -1).Result()
	if err != nil {
		return nil, fmt.Errorf("list batches: %w", err)
	}
	batches := make([]uuid.UUID, 0, len(names))
	for _, name := range names {
		batch, err := uuid.Parse(name)
		if err != nil {
			if err := c.quarantine(ctx, shard, listBatches, c.newQuarantineRecord(listBatches, name, err)); err != nil {
				return nil, err
			}
			continue
		}
		batches = append(batches, batch)
	}
	return batches, nil
}

// DropBatch forgets a batch that is safe in Postgres.
func (c *Counter) DropBatch(ctx context.Context, shard int, batch uuid.UUID) error {
	if _, err := c.runScripts(ctx, c.shardScript, []scriptCall{{tag(shard) + "deltas", []any{"drop", batch.String()}}}); err != nil {
		return fmt.Errorf("drop a batch: %w", err)
	}
	return nil
}

// Batch is what was taken from a shard at once.
type Batch struct {
	Deltas []Delta // one per page
	// Skipped are the records that could not be read and are in the quarantine
	// now. The ledger notes them with the batch: another process may have read the
	// batch with them.
	Skipped []uuid.UUID
}

// ReadBatch reads a batch that was taken. A batch that is not there is empty.
func (c *Counter) ReadBatch(ctx context.Context, shard int, batch uuid.UUID) (Batch, error) {
	for range maxAttempts {
		read, all, err := c.readBatch(ctx, shard, batch)
		if err != nil {
			return Batch{}, fmt.Errorf("read a batch: %w", err)
		}
		if all {
			return read, nil
		}
	}
	return Batch{}, fmt.Errorf("read a batch: %w", errSummary)
}

// readBatch reads a batch, unless something of it had to go to the quarantine
// first; then all is false.
func (c *Counter) readBatch(ctx context.Context, shard int, batch uuid.UUID) (_ Batch, whole bool, err error) {
	var found *redis.StringSliceCmd
	var left *redis.StringSliceCmd
	list := "flush:" + batch.String()
	// At one moment: what one of them says is true of the other.
	if _, err := c.redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
		found = p.LRange(ctx, tag(shard)+list, 0, -1)
		left = p.SMembers(ctx, tag(shard)+"left:"+batch.String())
		return nil
	}); err != nil {
		return Batch{}, false, err
	}
	var all summaries
	var bad []QuarantinedRecord
	for _, line := range found.Val() {
		if err := all.decode(line); err != nil {
			q := c.newQuarantineRecord(listDeltas, line, err)
			q.Batch = batch
			bad = append(bad, q)
		}
	}
	if len(bad) > 0 {
		return Batch{}, false, c.quarantine(ctx, shard, list, bad...)
	}
	var out Batch
	for _, id := range left.Val() {
		if id, err := uuid.Parse(id); err == nil {
			out.Skipped = append(out.Skipped, id)
		}
	}
	deltas := make([]Delta, len(all.list))
	for i, change := range all.list {
		if deltas[i], err = change.delta(); err != nil {
			return Batch{}, false, err
		}
	}
	for from := 0; from < len(deltas); from += maxPagesPerQuery {
		to := min(from+maxPagesPerQuery, len(deltas))
		if err := c.addUniques(ctx, all.list[from:to], deltas[from:to]); err != nil {
			return Batch{}, false, err
		}
	}
	out.Deltas = deltas
	return out, true, nil
}

// maxPagesPerQuery is how many pages are asked about in one round trip.
const maxPagesPerQuery = 500

// delta is a change as the flush wants it.
func (c *pageSummary) delta() (Delta, error) {
	id, err := splitPageKey(c.page)
	if err != nil {
		return Delta{}, err
	}
	d := Delta{PageID: id, UniqueMethod: methodFor(c.method)}
	for _, h := range c.hours {
		hour := HourDelta{Kind: kindFor(h.kind), Hour: time.Unix(h.quarters*quarterSeconds, 0).UTC(), Day: h.day, Count: h.count}
		d.Hours = append(d.Hours, hour)
		if h.funnel > 0 {
			hour.Count = h.funnel
			d.Funnel = append(d.Funnel, hour)
		}
	}
	for _, v := range c.values {
		if v.letter == filtered {
			d.Filtered = append(d.Filtered, FilteredDelta{v.day, v.value, v.count})
			continue
		}
		d.Dimensions = append(d.Dimensions, DimensionDelta{v.day, dimensionOf(v.letter), v.value, v.count})
	}
	return d, nil
}

func dimensionOf(letter byte) string {
	switch letter {
	case countryLetter:
		return Country
	case deviceLetter:
		return Device
	default:
		return Referrer
	}
}

// addUniques adds what Redis knows now: uniques, and which referrers are frequent
// enough to have a name.
func (c *Counter) addUniques(ctx context.Context, changes []*pageSummary, deltas []Delta) error {
	q := c.newPageQueries()
	asked := make([]uniquesQuery, len(changes))
	for i, change := range changes {
		asked[i] = q.hashFields(ctx, change.page, &deltas[i])
	}
	if err := q.run(ctx); err != nil {
		return err
	}
	for i, change := range changes {
		asked[i].readHash()
		asked[i].queryVisitors(ctx, q, change.page, &deltas[i])
	}
	if err := q.run(ctx); err != nil {
		return err
	}
	for i := range deltas {
		d, a := &deltas[i], asked[i]
		for j := range d.Uniques {
			d.Uniques[j].Uniques, d.Uniques[j].WeekToDate = a.days[j](), a.weeks[j]()
		}
		d.AllTime = a.total + a.allTime()
		d.Dimensions = mergeRareReferrers(d.Dimensions, a.knownReferrers)
	}
	return nil
}

// mergeRareReferrers puts referrers that a page has no room for under Other.
func mergeRareReferrers(all []DimensionDelta, known map[string]bool) []DimensionDelta {
	kept := all[:0]
	rare := map[Day]int64{}
	for _, d := range all {
		if d.Dimension == Referrer && (d.Value == Other || !known[d.Value]) {
			rare[d.Day] += d.Count
			continue
		}
		kept = append(kept, d)
	}
	for day, count := range rare {
		kept = append(kept, DimensionDelta{day, Referrer, Other, count})
	}
	return kept
}

func hasDay(all []DayUniques, d Day) bool {
	for _, u := range all {
		if u.Day == d {
			return true
		}
	}
	return false
}
