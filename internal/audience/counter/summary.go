package counter

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// pageSummary holds what a number of records add up to for one page: the
// increments that an aggregation applies to Redis and a flush to Postgres.
type pageSummary struct {
	page        string // its key
	method      byte
	hours       []hourCount
	values      []valueCount
	valueIndex  map[valueKey]int // index into values, if there are many
	minutes     []minuteCount    // for rankings; not part of a delta
	newVisitors int64            // visitors with their first view of the day; not part of a delta
	dayVisitors []dayVisitors    // not part of a delta
	engagement  []EngagementDelta
	links       []LinkEngagement
}

type hourCount struct {
	kind          byte
	quarters      int64
	day           Day
	count, funnel int64
}

// valueCount counts a dimension's value, or a reason if letter is filtered.
type valueCount struct {
	valueKey
	count int64
}

type valueKey struct {
	letter byte
	day    Day
	value  string
}

// dayVisitors lists the visitors of a day.
type dayVisitors struct {
	day      Day
	visitors []uint64
}

type minuteCount struct{ minute, last, views int64 }

func (c *pageSummary) addHour(kind byte, quarters int64, day Day, count, steps int64) {
	for i := range c.hours {
		if h := &c.hours[i]; h.kind == kind && h.quarters == quarters && h.day == day {
			h.count += count
			h.funnel += steps
			return
		}
	}
	c.hours = append(c.hours, hourCount{kind, quarters, day, count, steps})
}

func (c *pageSummary) addValue(letter byte, day Day, value string, count int64) {
	if value == "" {
		return
	}
	key := valueKey{letter, day, value}
	if c.valueIndex == nil {
		for i := range c.values {
			if v := &c.values[i]; v.valueKey == key {
				v.count += count
				return
			}
		}
	} else if i, ok := c.valueIndex[key]; ok {
		c.values[i].count += count
		return
	}
	c.values = append(c.values, valueCount{key, count})
	switch n := len(c.values); {
	case n == linearSearchLimit:
		c.valueIndex = make(map[valueKey]int, 4*linearSearchLimit)
		for i, v := range c.values {
			c.valueIndex[v.valueKey] = i
		}
	case n > linearSearchLimit:
		c.valueIndex[key] = n - 1
	}
}

// linearSearchLimit is the number of values up to which a linear search is
// faster than a map.
const linearSearchLimit = 16

func (c *pageSummary) addMinute(unix, views int64) {
	for i := range c.minutes {
		if m := &c.minutes[i]; m.minute == unix/60 {
			m.views += views
			m.last = max(m.last, unix)
			return
		}
	}
	c.minutes = append(c.minutes, minuteCount{unix / 60, unix, views})
}

func (c *pageSummary) addVisitor(day Day, visitor uint64) {
	for i := range c.dayVisitors {
		if c.dayVisitors[i].day == day {
			c.dayVisitors[i].visitors = append(c.dayVisitors[i].visitors, visitor)
			return
		}
	}
	c.dayVisitors = append(c.dayVisitors, dayVisitors{day, []uint64{visitor}})
}

// addRecord adds a record, except for the dimensions of visits: see addVisitStart.
func (c *pageSummary) addRecord(h recordHeader, r record) {
	if h.kind == filtered {
		if event, ok := strings.CutPrefix(r.reason, eventMark); ok {
			c.addEvent(h.day, event)
			return
		}
		c.addValue(filtered, h.day, r.reason, 1)
		return
	}
	if h.kind == heartbeat {
		day := h.day - r.progress.daysAgo
		r.progress.addTo(c.engagementOf(day))
		if r.link != "" {
			r.progress.addTo(c.linkEngagementOf(r.link, day))
		}
		return
	}
	if h.isOfVisits() {
		c.addVisitStep(h, r)
		return
	}
	c.method = h.method
	var steps int64
	if r.isFunnelStep {
		steps = 1
	}
	c.addHour(h.kind, h.quarters, h.day, 1, steps)
	if h.kind != View.letter() {
		return
	}
	c.addValue(countryLetter, h.day, r.country, 1)
	c.addValue(deviceLetter, h.day, r.device, 1)
	c.addValue(referrerLetter, h.day, r.referrer, 1)
	c.addMinute(r.unix, 1)
	c.addVisitor(h.day, r.visitor)
	if r.isFirstToday {
		c.newVisitors++
	}
}

// increments are increments of fields of a page's hash, with distinct names.
type increments []struct {
	name  string
	count int64
}

func (is *increments) add(name string, count int64) {
	if count == 0 {
		return
	}
	for i := range *is {
		if (*is)[i].name == name {
			(*is)[i].count += count
			return
		}
	}
	*is = append(*is, struct {
		name  string
		count int64
	}{name, count})
}

// summaries are page summaries by page.
type summaries struct {
	list    []*pageSummary
	byPage  map[string]*pageSummary
	bySite  map[string]*pageSummary // by key of the site: the first of its pages
	starts  map[visitStart]int64    // visits whose dimensions addVisitValues adds
	records []pageRecord            // scratch space of addLog
}

func (cs *summaries) page(page string) *pageSummary {
	if c := cs.byPage[page]; c != nil {
		return c
	}
	if cs.byPage == nil {
		cs.byPage, cs.bySite = map[string]*pageSummary{}, map[string]*pageSummary{}
	}
	c := &pageSummary{page: strings.Clone(page)}
	cs.byPage[c.page] = c
	cs.list = append(cs.list, c)
	if site := siteKeyOf(c.page); cs.bySite[site] == nil {
		cs.bySite[site] = c
	}
	return c
}

var errSummary = errors.New("malformed summary")

// encodeSummaries encodes summaries for decode: complete, or only what a delta
// needs.
func encodeSummaries(list []*pageSummary, all bool) []byte {
	b := []byte{format}
	for _, c := range list {
		b = appendText(b, c.page)
		b = append(b, c.method)
		b = binary.AppendUvarint(b, uint64(len(c.hours)))
		for _, h := range c.hours {
			b = append(b, h.kind)
			b = appendNumbers(b, h.quarters, int64(h.day), h.count, h.funnel)
		}
		b = binary.AppendUvarint(b, uint64(len(c.values)))
		for _, v := range c.values {
			b = append(b, v.letter)
			b = appendNumbers(b, int64(v.day))
			b = appendText(b, v.value)
			b = appendNumbers(b, v.count)
		}
		b = binary.AppendUvarint(b, uint64(len(c.engagement)))
		for i := range c.engagement {
			b = appendEngagement(b, &c.engagement[i])
		}
		b = binary.AppendUvarint(b, uint64(len(c.links)))
		for i := range c.links {
			b = appendEngagement(appendText(b, c.links[i].Link), &c.links[i].EngagementDelta)
		}
		if !all {
			b = appendNumbers(b, 0, 0, 0)
			continue
		}
		b = appendNumbers(b, c.newVisitors, int64(len(c.minutes)))
		for _, m := range c.minutes {
			b = appendNumbers(b, m.last, m.views)
		}
		b = appendNumbers(b, int64(len(c.dayVisitors)))
		for _, s := range c.dayVisitors {
			b = appendNumbers(b, int64(s.day), int64(len(s.visitors)))
			for _, v := range s.visitors {
				b = binary.BigEndian.AppendUint64(b, v)
			}
		}
	}
	return b
}

func appendEngagement(b []byte, e *EngagementDelta) []byte {
	return appendCounts(appendCounts(appendNumbers(b, int64(e.Day)), e.Engaged[:]), e.Scrolled[:])
}

// appendCounts appends numbers without the zeros at their end: few views are read for
// long.
func appendCounts(b []byte, numbers []int64) []byte {
	n := len(numbers)
	for n > 0 && numbers[n-1] == 0 {
		n--
	}
	return appendNumbers(appendNumbers(b, int64(n)), numbers[:n]...)
}

func appendNumbers(b []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(n)) //nolint:gosec // never negative
	}
	return b
}

// addCounts adds the output of appendCounts to numbers.
func (d *decoder) addCounts(numbers []int64) bool {
	n := d.number()
	if n > int64(len(numbers)) {
		return false
	}
	for i := range n {
		numbers[i] += d.number()
	}
	return true
}

// addEngagement adds the output of appendEngagement to the engagement of its day.
func (d *decoder) addEngagement(of func(Day) *EngagementDelta) bool {
	day := d.date()
	if !isPlausible(day, int64(day)*86400) {
		return false
	}
	e := of(day)
	return d.addCounts(e.Engaged[:]) && d.addCounts(e.Scrolled[:])
}

// decode adds encoded summaries. It adds nothing if they are malformed.
func (cs *summaries) decode(s string) error {
	if len(cs.list) == 0 { // nothing to preserve
		err := cs.decodeUnchecked(s)
		if err != nil {
			*cs = summaries{}
		}
		return err
	}
	if err := new(summaries).decodeUnchecked(s); err != nil {
		return err
	}
	return cs.decodeUnchecked(s)
}

// decodeUnchecked is decode, but may add a part of malformed summaries.
func (cs *summaries) decodeUnchecked(s string) error {
	d := decoder{rest: s}
	if d.letter() != format {
		return errFormat
	}
	for d.rest != "" {
		page := d.text()
		if !isWellFormed(page) {
			return errSummary
		}
		if err := cs.page(page).decode(&d); err != nil {
			return err
		}
	}
	return nil
}

// decode decodes the part that follows the page's key.
func (c *pageSummary) decode(d *decoder) error {
	if method := d.letter(); method != 0 {
		if methodFor(method) == "" {
			return errSummary
		}
		c.method = method
	}
	first, last := int64(maxNumber), int64(0) // hours
	for n := d.number(); n > 0 && !d.failed; n-- {
		kind := d.letter()
		quarters, day := d.number(), d.date()
		if strings.IndexByte(kindLetters, kind) < 0 || !isPlausible(day, quarters*quarterSeconds) {
			return errSummary
		}
		first, last = min(first, quarters*quarterSeconds), max(last, quarters*quarterSeconds)
		c.addHour(kind, quarters, day, d.number(), d.number())
	}
	for n := d.number(); n > 0 && !d.failed; n-- {
		letter, day := d.letter(), d.date()
		if !slices.Contains([]byte{countryLetter, deviceLetter, referrerLetter, filtered}, letter) &&
			!isVisitLetter(letter) && letter != eventLetter || !isPlausible(day, int64(day)*86400) {
			return errSummary
		}
		c.addValue(letter, day, d.text(), d.number())
	}
	for n := d.number(); n > 0 && !d.failed; n-- {
		if !d.addEngagement(c.engagementOf) {
			return errSummary
		}
	}
	for n := d.number(); n > 0 && !d.failed; n-- {
		link := d.text()
		if !d.addEngagement(func(day Day) *EngagementDelta { return c.linkEngagementOf(link, day) }) {
			return errSummary
		}
	}
	c.newVisitors += d.number()
	for n := d.number(); n > 0 && !d.failed; n-- {
		unix, views := d.number(), d.number()
		if unix < first-86400 || unix > last+86400 {
			return errSummary
		}
		c.addMinute(unix, views)
	}
	for n := d.number(); n > 0 && !d.failed; n-- {
		day := d.date()
		if !isPlausible(day, int64(day)*86400) {
			return errSummary
		}
		for m := d.number(); m > 0 && !d.failed; m-- {
			c.addVisitor(day, d.hash())
		}
	}
	if d.failed {
		return errSummary
	}
	return nil
}
