package counter

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// change is what a number of records add up to for one page: what a fold adds
// to Redis and what a flush adds to Postgres.
type change struct {
	page    string // its key
	way     byte
	hours   []hourChange
	values  []valueChange
	byValue map[valueKey]int // where they are many
	minutes []minuteChange   // for the rankings; the flush has no use for them
	firsts  int64            // visitors of whom it was the day's first view; neither for these
	seen    []seen           // for HyperLogLog; nor for these
}

type hourChange struct {
	kind         byte
	quarters     int64
	day          Day
	count, steps int64
}

// valueChange is of a dimension's value, or of a reason where letter is
// filtered.
type valueChange struct {
	valueKey
	count int64
}

type valueKey struct {
	letter byte
	day    Day
	value  string
}

// seen is who came on a day.
type seen struct {
	day      Day
	visitors []uint64
}

type minuteChange struct{ minute, last, views int64 }

func (c *change) hour(kind byte, quarters int64, day Day, count, steps int64) {
	for i := range c.hours {
		if h := &c.hours[i]; h.kind == kind && h.quarters == quarters && h.day == day {
			h.count += count
			h.steps += steps
			return
		}
	}
	c.hours = append(c.hours, hourChange{kind, quarters, day, count, steps})
}

func (c *change) value(letter byte, day Day, value string, count int64) {
	if value == "" {
		return
	}
	key := valueKey{letter, day, value}
	if c.byValue == nil {
		for i := range c.values {
			if v := &c.values[i]; v.valueKey == key {
				v.count += count
				return
			}
		}
	} else if i, ok := c.byValue[key]; ok {
		c.values[i].count += count
		return
	}
	c.values = append(c.values, valueChange{key, count})
	switch n := len(c.values); {
	case n == fewValues:
		c.byValue = make(map[valueKey]int, 4*fewValues)
		for i, v := range c.values {
			c.byValue[v.valueKey] = i
		}
	case n > fewValues:
		c.byValue[key] = n - 1
	}
}

// fewValues are found sooner without a map.
const fewValues = 16

func (c *change) minute(unix, views int64) {
	for i := range c.minutes {
		if m := &c.minutes[i]; m.minute == unix/60 {
			m.views += views
			m.last = max(m.last, unix)
			return
		}
	}
	c.minutes = append(c.minutes, minuteChange{unix / 60, unix, views})
}

func (c *change) sight(day Day, visitor uint64) {
	for i := range c.seen {
		if c.seen[i].day == day {
			c.seen[i].visitors = append(c.seen[i].visitors, visitor)
			return
		}
	}
	c.seen = append(c.seen, seen{day, []uint64{visitor}})
}

// add counts a record.
func (c *change) add(h heading, r record) {
	if h.kind == filtered {
		c.value(filtered, h.day, r.reason, 1)
		return
	}
	c.way = h.way
	var steps int64
	if r.step {
		steps = 1
	}
	c.hour(h.kind, h.quarters, h.day, 1, steps)
	if h.kind != View.letter() {
		return
	}
	c.value(countryLetter, h.day, r.country, 1)
	c.value(deviceLetter, h.day, r.device, 1)
	c.value(referrerLetter, h.day, r.referrer, 1)
	c.minute(r.unix, 1)
	if h.sketched() {
		c.sight(h.day, r.visitor)
	}
	if r.first {
		c.firsts++
	}
}

// increments are what a page's hash gets, each field once.
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

// changes are changes by page.
type changes struct {
	list    []*change
	byPage  map[string]*change
	records []pageRecord // of the entry that is being added
}

func (cs *changes) of(page string) *change {
	if c := cs.byPage[page]; c != nil {
		return c
	}
	if cs.byPage == nil {
		cs.byPage = map[string]*change{}
	}
	c := &change{page: strings.Clone(page)}
	cs.byPage[c.page] = c
	cs.list = append(cs.list, c)
	return c
}

var errDelta = errors.New("what lies between Redis and Postgres cannot be read")

// encodeChanges writes changes for read: all there is, or what the flush needs.
func encodeChanges(list []*change, all bool) []byte {
	b := []byte{format}
	for _, c := range list {
		b = appendText(b, c.page)
		b = append(b, c.way)
		b = binary.AppendUvarint(b, uint64(len(c.hours)))
		for _, h := range c.hours {
			b = append(b, h.kind)
			b = appendNumbers(b, h.quarters, int64(h.day), h.count, h.steps)
		}
		b = binary.AppendUvarint(b, uint64(len(c.values)))
		for _, v := range c.values {
			b = append(b, v.letter)
			b = appendNumbers(b, int64(v.day))
			b = appendText(b, v.value)
			b = appendNumbers(b, v.count)
		}
		if !all {
			b = appendNumbers(b, 0, 0, 0)
			continue
		}
		b = appendNumbers(b, c.firsts, int64(len(c.minutes)))
		for _, m := range c.minutes {
			b = appendNumbers(b, m.last, m.views)
		}
		b = appendNumbers(b, int64(len(c.seen)))
		for _, s := range c.seen {
			b = appendNumbers(b, int64(s.day), int64(len(s.visitors)))
			for _, v := range s.visitors {
				b = binary.BigEndian.AppendUint64(b, v)
			}
		}
	}
	return b
}

func appendNumbers(b []byte, numbers ...int64) []byte {
	for _, n := range numbers {
		b = binary.AppendUvarint(b, uint64(n)) //nolint:gosec // never negative
	}
	return b
}

// read adds what encodeChanges wrote: all or, with an error, nothing.
func (cs *changes) read(s string) error {
	if err := new(changes).readUnchecked(s); err != nil {
		return err
	}
	return cs.readUnchecked(s)
}

// readUnchecked is read that may leave a part behind when it fails.
func (cs *changes) readUnchecked(s string) error {
	d := decoder{rest: s}
	if d.letter() != format {
		return errFormat
	}
	for d.rest != "" {
		page := d.text()
		if !isWellFormed(page) {
			return errDelta
		}
		if err := cs.of(page).read(&d); err != nil {
			return err
		}
	}
	return nil
}

// read adds what follows a page's key.
func (c *change) read(d *decoder) error {
	if way := d.letter(); way != 0 {
		if wayOf(way) == "" {
			return errDelta
		}
		c.way = way
	}
	first, last := int64(largest), int64(0) // hours
	for n := d.number(); n > 0 && !d.failed; n-- {
		kind := d.letter()
		quarters, day := d.number(), d.date()
		if strings.IndexByte("vcx", kind) < 0 || !plausible(day, quarters*quarter) {
			return errDelta
		}
		first, last = min(first, quarters*quarter), max(last, quarters*quarter)
		c.hour(kind, quarters, day, d.number(), d.number())
	}
	for n := d.number(); n > 0 && !d.failed; n-- {
		letter, day := d.letter(), d.date()
		if !slices.Contains([]byte{countryLetter, deviceLetter, referrerLetter, filtered}, letter) || !plausible(day, int64(day)*86400) {
			return errDelta
		}
		c.value(letter, day, d.text(), d.number())
	}
	c.firsts += d.number()
	for n := d.number(); n > 0 && !d.failed; n-- {
		unix, views := d.number(), d.number()
		if unix < first-86400 || unix > last+86400 {
			return errDelta
		}
		c.minute(unix, views)
	}
	for n := d.number(); n > 0 && !d.failed; n-- {
		day := d.date()
		if !plausible(day, int64(day)*86400) {
			return errDelta
		}
		for m := d.number(); m > 0 && !d.failed; m-- {
			c.sight(day, d.hash())
		}
	}
	if d.failed {
		return errDelta
	}
	return nil
}
