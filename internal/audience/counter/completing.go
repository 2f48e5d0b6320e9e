package counter

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"
)

// uniquesQuery is what a flush asks about a page. Redis is asked as little as can
// be: to merge HyperLogLogs takes it longer than all the rest.
type uniquesQuery struct {
	weekFields, referrers []string // fields of the page's hash: its days with views, its referrers
	weekdays              []Day
	hash                  *redis.SliceCmd
	hasMerged             *redis.IntCmd // HyperLogLog: whether there is more than days

	viewed         map[Day]bool
	latestDay      Day
	total          int64 // all-time visitors that the hash tells of
	knownReferrers map[string]bool

	days, weeks []lazyCount
	allTime     lazyCount
}

// hashFields asks for what the page's hash knows.
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
	a.hash = q.pipe.HMGet(ctx, page+totalsKey, slices.Concat([]string{latestDayField, total}, a.weekFields, a.referrers)...)
	if d.UniqueMethod == HyperLogLog {
		a.hasMerged = q.pipe.Exists(ctx, page+allTimeKey(HyperLogLog.letter()))
	}
	return a
}

// readHash takes in what the hash said.
func (a *uniquesQuery) readHash() {
	values := a.hash.Val()
	number := func(i int) int64 {
		s, _ := values[i].(string) // nothing is none
		return atoi(s)
	}
	a.latestDay, a.total = Day(number(0)), number(1) //nolint:gosec // a day
	values = values[2:]
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

// queryVisitors asks how many different visitors there were.
func (a *uniquesQuery) queryVisitors(ctx context.Context, q pageQueries, page string, d *Delta) {
	way := d.UniqueMethod
	a.allTime = func() int64 { return 0 }
	counts := map[string]lazyCount{} // what is asked already
	count := func(keys []string) lazyCount {
		if len(keys) > 1 {
			return q.cardinality(ctx, way, keys...)
		}
		if counts[keys[0]] == nil {
			counts[keys[0]] = q.cardinality(ctx, way, keys...)
		}
		return counts[keys[0]]
	}
	for _, u := range d.Uniques {
		a.days = append(a.days, count([]string{page + dayKey(u.Day, way.letter())}))
		if way != HyperLogLog {
			a.weeks = append(a.weeks, q.weekUniques(ctx, page, way, u.Day))
			continue
		}
		keys := []string{page + dayKey(u.Day, way.letter())}
		for _, day := range u.Day.weekdays() {
			if day != u.Day && a.viewed[day] {
				keys = append(keys, page+dayKey(day, way.letter()))
			}
		}
		a.weeks = append(a.weeks, count(keys))
	}
	if way != HyperLogLog {
		return
	}
	keys := []string{page + dayKey(a.latestDay, way.letter())}
	for _, u := range d.Uniques {
		if u.Day != a.latestDay {
			keys = append(keys, page+dayKey(u.Day, way.letter()))
		}
	}
	if a.hasMerged.Val() > 0 {
		keys = append(keys, page+allTimeKey(way.letter()))
	}
	a.allTime = count(keys)
}
