package counter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
)

// ErrLost reports that a shard lost its counters and has not been seeded again.
// Until then no batch is taken from it, because the totals in Postgres must not
// change while they are being copied.
var ErrLost = errors.New("the shard lost its counters and must be seeded first")

// PageID identifies a page of a site.
type PageID struct {
	Site uuid.UUID
	Page string
}

// Delta holds the increments of one page in a batch.
type Delta struct {
	PageID
	UniqueMethod UniqueMethod
	Hours        []HourDelta
	Funnel       []HourDelta // hits that were funnel steps
	Dimensions   []DimensionDelta
	Visits       []DimensionDelta // of the visits that started on the page, for the site
	Filtered     []FilteredDelta
	Engagement   []EngagementDelta
	Links        []LinkEngagement
	Events       []EventDelta
	// Uniques are absolute numbers, not increments. Postgres stores the maximum.
	Uniques []DayUniques
	AllTime int64 // unique visitors of all time, see Uniques.AllTime
}

// HourDelta is the increment of a kind of hit in an hour.
type HourDelta struct {
	Kind  Kind
	Hour  time.Time // its start in the site's zone; in some zones hours start at half past
	Day   Day
	Count int64
}

// Day is a date on the site's calendar, in days since 1970-01-01.
type Day int32

// DayAt returns the day of an instant in a zone.
func DayAt(t time.Time, zone *time.Location) Day { return siteTimeOf(t, zone).day }

// HourAt returns when the hour of an instant began on the clock of a zone. In some zones
// hours start at half past or at a quarter, in terms of UTC. If the clock was changed by
// half an hour since, it is when the hour would have begun without the change.
func HourAt(t time.Time, zone *time.Location) time.Time {
	if zone == nil {
		zone = time.UTC
	}
	return time.Unix(siteTimeOf(t, zone).quarters*quarterSeconds, 0).In(zone)
}

// DayOf is the inverse of Time.
func DayOf(midnight time.Time) Day { return Day(midnight.Unix() / 86400) } //nolint:gosec // a day

// Time returns midnight UTC of the day, as databases store dates.
func (d Day) Time() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

// The dimensions. Pages have the first three, visits all but Referrer.
const (
	Country  = "country"
	Device   = "device"
	Referrer = "referrer"
	Browser  = "browser"
	OS       = "os"
	Channel  = "channel"
	Source   = "source"
	Campaign = "campaign"
	Link     = "link" // the code of a short link
)

// DimensionDelta is the increment of a dimension value's views, or visits, on a
// day.
type DimensionDelta struct {
	Day       Day
	Dimension string
	Value     string
	Count     int64
}

// FilteredDelta is the increment of filtered hits on a day.
type FilteredDelta struct {
	Day    Day
	Reason string
	Count  int64
}

// DayUniques is the number of unique visitors of a page on a day.
type DayUniques struct {
	Day        Day
	Uniques    int64
	WeekToDate int64 // since Monday
}

// TakeBatch atomically moves the deltas of a shard since the last batch to a
// batch with the given id, and reports whether the batch contains anything. It
// is idempotent; a dropped batch stays empty. It returns ErrLost if the shard
// must be seeded first.
func (c *Counter) TakeBatch(ctx context.Context, shard int, batch uuid.UUID) (bool, error) {
	// Another process may be aggregating the latest hits.
	for all, attempts := false, 0; !all && attempts < maxAttempts; attempts++ {
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

// maxAttempts is the maximum number of times that a flush repeats an operation
// that other processes interfere with.
const maxAttempts = 20

// Batches lists the batches of a shard that have not been dropped, oldest
// first.
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

// DropBatch deletes a batch that is stored in Postgres.
func (c *Counter) DropBatch(ctx context.Context, shard int, batch uuid.UUID) error {
	if _, err := c.runScripts(ctx, c.shardScript,
		[]scriptCall{{tag(shard) + "deltas", []any{"drop", batch.String()}}}); err != nil {
		return fmt.Errorf("drop a batch: %w", err)
	}
	return nil
}

// Batch contains the deltas that were taken from a shard together.
type Batch struct {
	Deltas []Delta // one per page
	// Skipped lists the records that could not be read and are now in the
	// quarantine. The ledger stores them with the batch, because another version of
	// the program may have read the batch including them.
	Skipped []uuid.UUID
}

// ReadBatch reads a batch. A batch that doesn't exist is empty.
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

// readBatch reads a batch. If entries have to be moved to the quarantine first,
// whole is false.
func (c *Counter) readBatch(ctx context.Context, shard int, batch uuid.UUID) (_ Batch, whole bool, err error) {
	var found *redis.StringSliceCmd
	var left *redis.StringSliceCmd
	list := "flush:" + batch.String()
	// In one transaction, so that both are consistent.
	if _, err := c.redis.TxPipelined(ctx, func(p redis.Pipeliner) error {
		found = p.LRange(ctx, tag(shard)+list, 0, -1)
		left = p.SMembers(ctx, tag(shard)+"skipped:"+batch.String())
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

// maxPagesPerQuery is the maximum number of pages that are queried in one round
// trip.
const maxPagesPerQuery = 500

// delta converts a summary for the flush.
func (c *pageSummary) delta() (Delta, error) {
	id, err := splitPageKey(c.page)
	if err != nil {
		return Delta{}, err
	}
	d := Delta{PageID: id, UniqueMethod: methodFor(c.method), Engagement: c.engagement, Links: c.links}
	for _, h := range c.hours {
		hour := HourDelta{
			Kind: kindFor(h.kind), Hour: time.Unix(h.quarters*quarterSeconds, 0).UTC(), Day: h.day,
			Count: h.count,
		}
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
		if v.letter == eventLetter {
			d.Events = append(d.Events, eventDelta(v))
			continue
		}
		if isVisitLetter(v.letter) {
			d.Visits = append(d.Visits, DimensionDelta{v.day, dimensionOf(v.letter), v.value, v.count})
			continue
		}
		d.Dimensions = append(d.Dimensions, DimensionDelta{v.day, dimensionOf(v.letter), v.value, v.count})
	}
	return d, nil
}

func dimensionOf(letter byte) string {
	switch letter {
	case countryLetter, visitCountryLetter:
		return Country
	case deviceLetter, visitDeviceLetter:
		return Device
	case visitBrowserLetter:
		return Browser
	case visitOSLetter:
		return OS
	case visitChannelLetter:
		return Channel
	case visitSourceLetter:
		return Source
	case visitCampaignLetter:
		return Campaign
	case visitLinkLetter:
		return Link
	default:
		return Referrer
	}
}

// addUniques completes deltas with the current unique visitors, and merges rare
// referrers.
func (c *Counter) addUniques(ctx context.Context, changes []*pageSummary, deltas []Delta) error {
	q := c.newPageQueries()
	queries := make([]uniquesQuery, len(changes))
	for i, change := range changes {
		queries[i] = q.hashFields(ctx, change.page, &deltas[i])
	}
	if err := q.run(ctx); err != nil {
		return err
	}
	for i, change := range changes {
		queries[i].readHash()
		queries[i].queryVisitors(ctx, q, change.page, &deltas[i])
	}
	if err := q.run(ctx); err != nil {
		return err
	}
	for i := range deltas {
		d, a := &deltas[i], queries[i]
		for j := range d.Uniques {
			d.Uniques[j].Uniques, d.Uniques[j].WeekToDate = a.days[j](), a.weeks[j]()
		}
		d.AllTime = a.total + a.allTime()
		d.Dimensions = mergeRareReferrers(d.Dimensions, a.knownReferrers)
	}
	return nil
}

// mergeRareReferrers merges the referrers that a page doesn't store into Other.
func mergeRareReferrers(all []DimensionDelta, known map[string]bool) []DimensionDelta {
	merged := all[:0]
	rare := map[Day]int64{}
	for _, d := range all {
		if d.Dimension == Referrer && (d.Value == Other || !known[d.Value]) {
			rare[d.Day] += d.Count
			continue
		}
		merged = append(merged, d)
	}
	for day, count := range rare {
		merged = append(merged, DimensionDelta{day, Referrer, Other, count})
	}
	return merged
}

func hasDay(all []DayUniques, d Day) bool {
	for _, u := range all {
		if u.Day == d {
			return true
		}
	}
	return false
}
