package counter

import (
	"context"
	"errors"
	"slices"

	"github.com/redis/go-redis/v9"
)

// pageQueries collects queries about pages for one round trip. Their results
// are available after run.
type pageQueries struct{ pipe redis.Pipeliner }

type lazyCount func() int64

func (c *Counter) newPageQueries() pageQueries { return pageQueries{c.redis.Pipeline()} }

func (q pageQueries) run(ctx context.Context) error {
	if q.pipe.Len() == 0 {
		return nil
	}
	cmds, err := q.pipe.Exec(ctx)
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
	}
	if errors.Is(err, redis.Nil) {
		return nil
	}
	return err
}

// dayUniques queries the unique visitors of a page on a day.
func (q pageQueries) dayUniques(ctx context.Context, page string, w UniqueMethod, d Day) lazyCount {
	return q.cardinality(ctx, w, page+dayKey(d, w.letter()))
}

// weekUniques queries the unique visitors of a page since Monday.
func (q pageQueries) weekUniques(ctx context.Context, page string, w UniqueMethod, d Day) lazyCount {
	if w != HyperLogLog {
		return q.cardinality(ctx, w, page+weekKey(d, w.letter()))
	}
	var days []string
	for _, day := range d.weekdays() {
		days = append(days, page+dayKey(day, w.letter()))
	}
	return q.cardinality(ctx, w, days...)
}

// allTimeUniques queries the unique visitors of a page of all time. For
// HyperLogLog it includes days that may not have been merged yet: the page's
// latest day and today.
func (q pageQueries) allTimeUniques(ctx context.Context, page string, w UniqueMethod, days ...Day) lazyCount {
	switch w {
	case SetPerDay:
		return q.field(ctx, page, dailyUniquesField)
	case Set, Bitmap: // the visitors themselves expire, their number remains
		return q.field(ctx, page, uniquesField)
	}
	keys := []string{page + allTimeKey(w.letter())}
	for _, day := range days {
		keys = append(keys, page+dayKey(day, w.letter()))
	}
	before, since := q.field(ctx, page, uniquesField), q.cardinality(ctx, w, keys...)
	return func() int64 { return before() + since() }
}

func (q pageQueries) cardinality(ctx context.Context, w UniqueMethod, keys ...string) lazyCount {
	switch w {
	case HyperLogLog:
		return q.pipe.PFCount(ctx, keys...).Val
	case Bitmap:
		return q.pipe.BitCount(ctx, keys[0], nil).Val
	default:
		return q.pipe.SCard(ctx, keys[0]).Val
	}
}

func (q pageQueries) field(ctx context.Context, page, name string) lazyCount {
	cmd := q.pipe.HGet(ctx, page+totalsKey, name)
	return func() int64 {
		n, _ := cmd.Int64() // missing: 0
		return n
	}
}

// uniquesQuery reads the unique visitors of a page for a flush. It merges as
// few HyperLogLogs as possible, because merging them is by far the most
// expensive command.
type uniquesQuery struct {
	weekFields, referrers []string // fields of the page's hash: days with views, referrers
	weekdays              []Day
	hash                  *redis.SliceCmd
	hasMerged             *redis.IntCmd // HyperLogLog: whether the all-time key exists

	viewed         map[Day]bool
	latestDay      Day
	total          int64 // all-time visitors from the hash
	list           registerList
	knownReferrers map[string]bool

	days, weeks []lazyCount
	allTime     lazyCount
}

// hashFields queries the page's hash.
func (q pageQueries) hashFields(ctx context.Context, page string, d *Delta) uniquesQuery {
	var a uniquesQuery
	for _, h := range d.Hours {
		if h.Kind != View || hasDay(d.Uniques, h.Day) {
			continue
		}
		d.Uniques = append(d.Uniques, DayUniques{Day: h.Day})
		if d.UniqueMethod != HyperLogLog {
			continue
		}
		for _, day := range h.Day.weekdays() {
			if !slices.Contains(a.weekdays, day) {
				a.weekdays = append(a.weekdays, day)
				a.weekFields = append(a.weekFields, dayField(day, View))
			}
		}
	}
	for _, m := range d.Dimensions {
		if field := string(referrerLetter) + m.Value; m.Dimension == Referrer && !slices.Contains(a.referrers, field) {
			a.referrers = append(a.referrers, field)
		}
	}
	total := uniquesField
	if d.UniqueMethod == SetPerDay {
		total = dailyUniquesField
	}
	a.hash = q.pipe.HMGet(ctx, page+totalsKey, slices.Concat([]string{latestDayField, total, registersField},
		a.weekFields, a.referrers)...)
	if d.UniqueMethod == HyperLogLog {
		a.hasMerged = q.pipe.Exists(ctx, page+allTimeKey(HyperLogLog.letter()))
	}
	return a
}

// readHash stores the values of the page's hash.
func (a *uniquesQuery) readHash() {
	values := a.hash.Val()
	number := func(i int) int64 {
		s, _ := values[i].(string) // missing: 0
		return atoi(s)
	}
	a.latestDay, a.total = Day(number(0)), number(1) //nolint:gosec // a day
	list, _ := values[2].(string)
	a.list = registerList(list)
	values = values[3:]
	a.viewed = map[Day]bool{}
	for i, day := range a.weekdays {
		a.viewed[day] = values[i] != nil
	}
	values = values[len(a.weekdays):]
	a.knownReferrers = make(map[string]bool, len(a.referrers))
	for i, field := range a.referrers {
		a.knownReferrers[field[1:]] = values[i] != nil
	}
}

// queryVisitors queries the numbers of unique visitors.
func (a *uniquesQuery) queryVisitors(ctx context.Context, q pageQueries, page string, d *Delta) {
	method := d.UniqueMethod
	if method == HyperLogLog && a.list != "" {
		for _, u := range d.Uniques {
			a.days = append(a.days, func() int64 { return a.list.count(u.Day) })
			a.weeks = append(a.weeks, func() int64 { return a.list.count(u.Day.weekdays()...) })
		}
		a.allTime = func() int64 { return a.list.count() }
		return
	}
	a.allTime = func() int64 { return 0 }
	counts := map[string]lazyCount{} // already queried
	count := func(keys []string) lazyCount {
		if len(keys) > 1 {
			return q.cardinality(ctx, method, keys...)
		}
		if counts[keys[0]] == nil {
			counts[keys[0]] = q.cardinality(ctx, method, keys...)
		}
		return counts[keys[0]]
	}
	for _, u := range d.Uniques {
		a.days = append(a.days, count([]string{page + dayKey(u.Day, method.letter())}))
		if method != HyperLogLog {
			a.weeks = append(a.weeks, q.weekUniques(ctx, page, method, u.Day))
			continue
		}
		keys := []string{page + dayKey(u.Day, method.letter())}
		for _, day := range u.Day.weekdays() {
			if day != u.Day && a.viewed[day] {
				keys = append(keys, page+dayKey(day, method.letter()))
			}
		}
		a.weeks = append(a.weeks, count(keys))
	}
	if method != HyperLogLog {
		return
	}
	keys := []string{page + dayKey(a.latestDay, method.letter())}
	for _, u := range d.Uniques {
		if u.Day != a.latestDay {
			keys = append(keys, page+dayKey(u.Day, method.letter()))
		}
	}
	if a.hasMerged.Val() > 0 {
		keys = append(keys, page+allTimeKey(method.letter()))
	}
	a.allTime = count(keys)
}
