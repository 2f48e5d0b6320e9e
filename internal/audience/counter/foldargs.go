package counter

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"
)

// aggregateArgs turns a sum into the arguments that fold.lua describes.
func (c *Counter) aggregateArgs(number int64, sum string) ([]any, error) {
	var all summaries
	if err := all.decode(sum); err != nil {
		return nil, err
	}
	now := c.options.Now().Unix()
	args := []any{number, now,
		int64(fastHalfLife / time.Second), int64(slowHalfLife / time.Second), maxRankedPages, maxReferrers, maxReasons}
	for len(all.list) > 0 {
		site, hour := siteKeyOf(all.list[0].page), int64(0)
		n := 0
		for ; n < len(all.list) && siteKeyOf(all.list[n].page) == site; n++ {
			for _, h := range all.list[n].hours {
				hour = max(hour, h.quarters)
			}
		}
		args = append(args, site, currentHour(now, hour), n)
		for _, change := range all.list[:n] {
			args = change.appendArgs(args)
		}
		all.list = all.list[n:]
	}
	return args, nil
}

// currentHour is the start of the hour now, for a site whose hours begin as the
// one given does. Both are in quarters.
func currentHour(unix, hour int64) int64 {
	hours := unix/quarterSeconds - hour
	return hour + hours - (hours%4+4)%4
}

func siteKeyOf(page string) string { return page[:siteLength] }

func (c *pageSummary) appendArgs(args []any) []any {
	var days []int64
	var fields increments
	refused := []any{0}
	for _, h := range c.hours {
		k := kindFor(h.kind)
		fields.add(hourField(h.quarters, k), h.count)
		fields.add(dayField(h.day, k), h.count)
		fields.add("f"+string(h.kind), h.funnel)
		if k == View && !slices.Contains(days, int64(h.day)) {
			days = append(days, int64(h.day))
		}
	}
	for _, v := range c.boundedValues() {
		switch v.letter {
		case filtered:
			refused = append(refused, v.value, v.count)
		case deviceLetter: // one letter is enough
			fields.add(string(deviceLetter)+v.value[:1], v.count)
		default:
			fields.add(string(v.letter)+v.value, v.count)
		}
	}
	if c.method == SetPerDay.letter() {
		fields.add(dailyUniquesField, c.newVisitors)
	}
	refused[0] = len(refused) / 2
	slices.Sort(days)
	args = append(args, c.page, string(c.method), len(days))
	for _, day := range days {
		args = append(args, day)
	}
	args = append(args, len(c.dayVisitors))
	for _, s := range c.dayVisitors {
		visitors := make([]byte, 0, 8*len(s.visitors))
		for _, v := range s.visitors {
			visitors = binary.BigEndian.AppendUint64(visitors, v)
		}
		args = append(args, int64(s.day), visitors)
	}
	args = append(args, len(fields))
	for _, f := range fields {
		args = append(args, f.name)
	}
	for _, f := range fields {
		args = append(args, f.count)
	}
	args = append(args, len(c.minutes))
	for _, m := range c.minutes {
		args = append(args, m.minute, m.last, m.views)
	}
	return append(args, refused...)
}

// boundedValues are the values without referrers that a page has no room for: they
// are counted under Other. The flush asks which ones have room.
func (c *pageSummary) boundedValues() []valueCount {
	var referrers []valueCount
	var rest []valueCount
	for _, v := range c.values {
		if v.letter == referrerLetter {
			referrers = append(referrers, v)
		} else {
			rest = append(rest, v)
		}
	}
	if len(referrers) > 2*maxReferrers {
		slices.SortStableFunc(referrers, func(a, b valueCount) int { return cmp.Compare(b.count, a.count) })
		for _, v := range referrers[2*maxReferrers:] {
			rest = append(rest, valueCount{valueKey{referrerLetter, v.day, Other}, v.count})
		}
		referrers = referrers[:2*maxReferrers]
	}
	return append(rest, referrers...)
}
