package counter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrNoMembership reports that the site's counting method doesn't store
// individual visitors.
var ErrNoMembership = errors.New("the hyperloglog method does not store individual visitors")

// Stats are the current counts of a page. Totals include every acknowledged
// hit; hours, days and HyperLogLog uniques lag by about two seconds.
type Stats struct {
	Page                       string
	Views, Clicks, Conversions int64
	Uniques                    Uniques
	Today                      []Bucket // hours of today in the site's zone that have views, oldest first
	Days                       []Bucket // the days of the last 35 that have views, oldest first
}

// Uniques are numbers of unique visitors.
type Uniques struct {
	Day, Week int64 // today, and since Monday, in the site's zone
	// AllTime is the sum of the days' uniques with SetPerDay, which doesn't
	// remember visitors for longer.
	AllTime int64
}

// Bucket is the count of an hour or a day.
type Bucket struct {
	Start time.Time // in the site's zone
	Count int64
}

// Unit is the length of the buckets of a series.
type Unit string

// The units.
const (
	ByHour Unit = "hour" // of the last 48 hours
	ByDay  Unit = "day"  // of the last 35 days
)

// Maximum numbers of buckets in a series, including the current one.
const (
	MaxHours = 48
	MaxDays  = 35
)

// Funnel counts the visitors that reached each step, once per step and hour.
type Funnel struct{ Views, Clicks, Conversions int64 }

// Dimensions are the views of a page by country, device and referrer. Rare
// values are counted under Other.
type Dimensions struct{ Country, Device, Referrer map[string]int64 }

// Stats reads the counts of one page.
func (c *Counter) Stats(ctx context.Context, site Site, page string) (Stats, error) {
	all, err := c.PageStats(ctx, site, []string{page})
	if err != nil {
		return Stats{}, err
	}
	return all[0], nil
}

// PageStats reads the counts of many pages. A page without hits has zeros.
func (c *Counter) PageStats(ctx context.Context, site Site, pages []string) ([]Stats, error) {
	all := make([]Stats, 0, len(pages))
	for part := range slices.Chunk(pages, maxPagesPerQuery) {
		stats, err := c.readStats(ctx, site, part)
		if err != nil {
			return nil, fmt.Errorf("read views: %w", err)
		}
		all = append(all, stats...)
	}
	return all, nil
}

func (c *Counter) readStats(ctx context.Context, site Site, pages []string) ([]Stats, error) {
	today := siteTimeOf(c.options.Now(), site.Zone).day
	q := c.newPageQueries()
	totals := make([]*redis.MapStringStringCmd, len(pages))
	for i, page := range pages {
		totals[i] = q.pipe.HGetAll(ctx, c.pageKey(site.ID, page)+totalsKey)
	}
	if err := q.run(ctx); err != nil {
		return nil, err
	}
	all := make([]Stats, len(pages))
	uniques := make([][3]lazyCount, len(pages))
	for i, page := range pages {
		all[i] = parseStats(totals[i].Val(), zoneOf(site), today)
		all[i].Page = page
		key, latest := c.pageKey(site.ID, page), Day(atoi(totals[i].Val()[latestDayField])) //nolint:gosec // a day
		if list := registerList(totals[i].Val()[registersField]); list != "" && site.UniqueMethod == HyperLogLog {
			seeded := atoi(totals[i].Val()[uniquesField])
			uniques[i] = [3]lazyCount{
				func() int64 { return list.count(today) },
				func() int64 { return list.count(today.weekdays()...) },
				func() int64 { return seeded + list.count() },
			}
			continue
		}
		uniques[i] = [3]lazyCount{
			q.dayUniques(ctx, key, site.UniqueMethod, today),
			q.weekUniques(ctx, key, site.UniqueMethod, today),
			q.allTimeUniques(ctx, key, site.UniqueMethod, latest, today),
		}
	}
	if err := q.run(ctx); err != nil {
		return nil, err
	}
	for i := range all {
		u := Uniques{Day: uniques[i][0](), Week: uniques[i][1](), AllTime: uniques[i][2]()}
		if site.UniqueMethod == HyperLogLog {
			// An estimate may be too high, but there are never more visitors than views.
			u = Uniques{
				Day: min(u.Day, all[i].Views), Week: min(u.Week, all[i].Views),
				AllTime: min(u.AllTime, all[i].Views),
			}
		}
		all[i].Uniques = u
	}
	return all, nil
}

func zoneOf(site Site) *time.Location {
	if site.Zone == nil {
		return time.UTC
	}
	return site.Zone
}

func parseStats(fields map[string]string, zone *time.Location, today Day) Stats {
	s := Stats{Views: atoi(fields["v"]), Clicks: atoi(fields["c"]), Conversions: atoi(fields["x"])}
	for field, value := range fields {
		code, err := strconv.ParseInt(field, 10, 64)
		if err != nil || code%4 != int64(View.code()) {
			continue
		}
		if code < firstHourField {
			if day := Day(code / 4); day > today-MaxDays { //nolint:gosec // less than firstHourField
				s.Days = append(s.Days, Bucket{day.StartIn(zone), atoi(value)})
			}
			continue
		}
		start := time.Unix(code/4*quarterSeconds, 0)
		if siteTimeOf(start, zone).day == today {
			s.Today = append(s.Today, Bucket{start.In(zone), atoi(value)})
		}
	}
	for _, buckets := range [][]Bucket{s.Today, s.Days} {
		slices.SortFunc(buckets, func(a, b Bucket) int { return a.Start.Compare(b.Start) })
	}
	return s
}

// StartIn returns the first instant of the day in a zone. In some zones, clocks
// change at midnight: it is skipped, or there are two of them.
func (d Day) StartIn(zone *time.Location) time.Time {
	year, month, day := d.Time().Date()
	start := time.Date(year, month, day, 0, 0, 0, 0, zone)
	for DayAt(start, zone) < d {
		start = start.Add(quarterSeconds * time.Second)
	}
	for before := start.Add(-quarterSeconds * time.Second); DayAt(before,
		zone) == d; before = before.Add(-quarterSeconds * time.Second) {
		start = before
	}
	return start
}

// atoi parses a number; a missing one is 0.
func atoi(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// Series reads counts by hour or day, oldest first and ending with the current
// one, including empty buckets. There are at most MaxHours or MaxDays.
func (c *Counter) Series(
	ctx context.Context, site Site, page string, kind Kind, unit Unit, buckets int,
) ([]Bucket, error) {
	if kind.letter() == 0 {
		return nil, ErrKind
	}
	now := siteTimeOf(c.options.Now(), site.Zone)
	zone := zoneOf(site)
	limit := MaxHours
	if unit == ByDay {
		limit = MaxDays
	}
	buckets = min(buckets, limit)
	if buckets <= 0 {
		return nil, nil
	}
	series, fields := make([]Bucket, buckets), make([]string, buckets)
	hour := HourAt(time.Unix(now.unix, 0), zone)
	for ago := range buckets {
		i := buckets - 1 - ago
		if unit == ByDay {
			day := now.day - Day(ago) //nolint:gosec // at most MaxDays
			series[i].Start, fields[i] = day.StartIn(zone), dayField(day, kind)
			continue
		}
		series[i].Start, fields[i] = hour, hourField(hour.Unix()/quarterSeconds, kind)
		hour = HourAt(hour.Add(-time.Second), zone)
	}
	values, err := c.redis.HMGet(ctx, c.pageKey(site.ID, page)+totalsKey, fields...).Result()
	if err != nil {
		return nil, fmt.Errorf("read a series: %w", err)
	}
	for i, v := range values {
		if s, ok := v.(string); ok {
			series[i].Count = atoi(s)
		}
	}
	return series, nil
}

// Funnel reads the funnel of a page.
func (c *Counter) Funnel(ctx context.Context, site Site, page string) (Funnel, error) {
	steps, err := c.redis.HMGet(ctx, c.pageKey(site.ID, page)+totalsKey, "fv", "fc", "fx").Result()
	if err != nil {
		return Funnel{}, fmt.Errorf("read a funnel: %w", err)
	}
	var n [3]int64
	for i, step := range steps {
		if s, ok := step.(string); ok {
			n[i] = atoi(s)
		}
	}
	return Funnel{n[0], n[1], n[2]}, nil
}

// Dimensions reads a page's views by country, device and referrer.
func (c *Counter) Dimensions(ctx context.Context, site Site, page string) (Dimensions, error) {
	fields, err := c.redis.HGetAll(ctx, c.pageKey(site.ID, page)+totalsKey).Result()
	if err != nil {
		return Dimensions{}, fmt.Errorf("read dimensions: %w", err)
	}
	d := Dimensions{map[string]int64{}, map[string]int64{}, map[string]int64{}}
	for field, value := range fields {
		if len(field) < 2 {
			continue
		}
		switch n := atoi(value); field[0] {
		case countryLetter:
			d.Country[field[1:]] = n
		case deviceLetter:
			d.Device[deviceFromCode(field[1])] = n
		case referrerLetter:
			d.Referrer[field[1:]] = n
		}
	}
	return d, nil
}

// HasSeen reports whether a visitor has viewed a page, as far back as the
// counting method remembers: Set and Bitmap for 15 to 30 days, SetPerDay since
// Monday.
func (c *Counter) HasSeen(ctx context.Context, site Site, page string, v Visitor) (bool, error) {
	key := c.pageKey(site.ID, page)
	today := siteTimeOf(c.options.Now(), site.Zone).day
	w := site.UniqueMethod
	keys := []string{key + halfMonthKey(today, w.letter()), key + halfMonthKey(today-halfMonth, w.letter())}
	switch {
	case w == HyperLogLog:
		return false, ErrNoMembership
	case w == SetPerDay:
		keys = []string{key + weekKey(today, w.letter())}
	case w == Bitmap && v.ID == 0:
		return false, nil
	}
	for _, k := range keys {
		var seen bool
		var err error
		if w == Bitmap {
			var bit int64
			bit, err = c.redis.GetBit(ctx, k, int64(v.ID)).Result()
			seen = bit == 1
		} else {
			seen, err = c.redis.SIsMember(ctx, k, int64(v.Hash)).Result() //nolint:gosec // as it was counted
		}
		if err != nil {
			return false, fmt.Errorf("read whether a page was seen: %w", err)
		}
		if seen {
			return true, nil
		}
	}
	return false, nil
}
