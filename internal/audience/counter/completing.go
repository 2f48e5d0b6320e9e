package counter

import (
	"context"
	"slices"

	"github.com/redis/go-redis/v9"
)

// completion is what a flush asks about a page. Redis is asked as little as can
// be: to merge HyperLogLogs takes it longer than all the rest.
type completion struct {
	week, referrers []string // fields of the page's hash: its days with views, its referrers
	weekdays        []Day
	hash            *redis.SliceCmd
	merged          *redis.IntCmd // HyperLogLog: whether there is more than days

	viewed map[Day]bool
	latest Day
	total  int64 // all-time visitors that the hash tells of
	known  map[string]bool

	days, weeks []number
	allTime     number
}

// fields asks for what the page's hash knows.
func (q asking) fields(ctx context.Context, page string, d *Delta) completion {
	var a completion
	for _, h := range d.Hours {
		if h.Kind != View || containsDay(d.Uniques, h.Day) {
			continue
		}
		d.Uniques = append(d.Uniques, DayUniques{Day: h.Day})
		if d.Way != HyperLogLog {
			continue
		}
		for _, day := range h.Day.weekdays() {
			if !slices.Contains(a.weekdays, day) {
				a.weekdays = append(a.weekdays, day)
				a.week = append(a.week, dayField(day, View))
			}
		}
	}
	for _, m := range d.Dimensions {
		if field := string(referrerLetter) + m.Value; m.Dimension == Referrer && !slices.Contains(a.referrers, field) {
			a.referrers = append(a.referrers, field)
		}
	}
	total := uniquesField
	if d.Way == SetPerDay {
		total = visitsField
	}
	a.hash = q.pipe.HMGet(ctx, page+totalsKey, slices.Concat([]string{latestField, total}, a.week, a.referrers)...)
	if d.Way == HyperLogLog {
		a.merged = q.pipe.Exists(ctx, page+allTimeKey(HyperLogLog.letter()))
	}
	return a
}

// read takes in what the hash said.
func (a *completion) read() {
	values := a.hash.Val()
	number := func(i int) int64 {
		s, _ := values[i].(string) // nothing is none
		return atoi(s)
	}
	a.latest, a.total = Day(number(0)), number(1) //nolint:gosec // a day
	values = values[2:]
	a.viewed = map[Day]bool{}
	for i, day := range a.weekdays {
		a.viewed[day] = values[i] != nil
	}
	values = values[len(a.weekdays):]
	a.known = make(map[string]bool, len(a.referrers))
	for i, field := range a.referrers {
		a.known[field[1:]] = values[i] != nil
	}
}

// visitors asks how many different visitors there were.
func (a *completion) visitors(ctx context.Context, q asking, page string, d *Delta) {
	way := d.Way
	a.allTime = func() int64 { return 0 }
	counts := map[string]number{} // what is asked already
	count := func(keys []string) number {
		if len(keys) > 1 {
			return q.size(ctx, way, keys...)
		}
		if counts[keys[0]] == nil {
			counts[keys[0]] = q.size(ctx, way, keys...)
		}
		return counts[keys[0]]
	}
	for _, u := range d.Uniques {
		a.days = append(a.days, count([]string{page + dayKey(u.Day, way.letter())}))
		if way != HyperLogLog {
			a.weeks = append(a.weeks, q.week(ctx, page, way, u.Day))
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
	keys := []string{page + dayKey(a.latest, way.letter())}
	for _, u := range d.Uniques {
		if u.Day != a.latest {
			keys = append(keys, page+dayKey(u.Day, way.letter()))
		}
	}
	if a.merged.Val() > 0 {
		keys = append(keys, page+allTimeKey(way.letter()))
	}
	a.allTime = count(keys)
}
