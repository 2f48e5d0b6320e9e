package counter

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"github.com/google/uuid"
)

// format is the first byte of everything that Go writes to Redis for Go to read
// later: log entries, summaries and deltas. During an upgrade, processes of
// both versions read each other's entries. So a new encoding takes a new
// letter, and entries with the previous letter stay readable for one release.
// Entries with an unknown letter go to the quarantine, from which a version
// that knows the letter can replay them.
const format = '1'

var errFormat = errors.New("unknown format, written by another version of the program")

// recordHeader holds what the hits of a log entry have in common.
type recordHeader struct {
	kind     byte // a Kind's letter, filtered or heartbeat
	method   byte // of the site; noMethod for filtered hits and heartbeats; firstHour plus the hour of the day for page loads and engaged visits
	quarters int64
	day      Day
}

// record is a hit in the log until it is aggregated.
type record struct {
	unix                      int64
	country, device, referrer string // of a view
	visitor                   uint64 // of a view
	from                      int    // of a view: the index of the page that led to it, plus 1; 0: none
	reason                    string // of a filtered hit
	// Of a page load, for visits.
	browser, os, channel, source, campaign, link string
	// From the flags: whether it was a funnel step and the visitor's first view of
	// the day.
	isFunnelStep, isFirstToday bool
	visit                      visitStep // of a page load or an engaged visit, from the flags
	progress                   progress  // of a heartbeat, from the flags
}

// firstHour is the method in the header of page loads of the hour from midnight.
const firstHour = 'A'

// isOfVisits reports whether the records have flags of visits.
func (h recordHeader) isOfVisits() bool {
	return h.kind == Entry.letter() || h.kind == EngagedVisit.letter()
}

// visitStep is what a page load or an engaged view is for its visit.
type visitStep struct {
	isStart        bool
	inPreviousHour bool // when the visit started
	wasEngaged     bool // before its second page load
}

// pageRef is a page of a log entry, with the key of its hash.
type pageRef struct {
	sum  uint64
	site uuid.UUID
	hash string
}

func (p pageRef) name() string { return p.hash[siteLength+1 : len(p.hash)-len(totalsKey)] }

// logEncoder encodes the records of a group of hits. count.lua stores a flag
// for each of them in the line before.
type logEncoder struct {
	pages []pageRef
	base  int64
	hits  int
	text  []byte
}

// page returns the index of a page in the entry.
func (l *logEncoder) page(sum uint64, shard int, site uuid.UUID, name string) int {
	for i, p := range l.pages {
		if p.sum == sum && p.site == site && p.name() == name {
			return i
		}
	}
	l.pages = append(l.pages, pageRef{sum, site, pageTotalsKey(shard, site, name)})
	return len(l.pages) - 1
}

func (l *logEncoder) add(h recordHeader, page int, r record) {
	if l.hits == 0 {
		l.base = r.unix
	}
	l.hits++
	l.text = binary.AppendUvarint(l.text, uint64(page)) //nolint:gosec // never negative
	l.text = binary.AppendVarint(l.text, r.unix-l.base)
	switch h.kind {
	case filtered:
		l.text = appendText(l.text, r.reason)
	case View.letter():
		l.text = appendText(l.text, r.country)
		l.text = append(l.text, deviceCode(r.device))
		l.text = appendText(l.text, r.referrer)
		l.text = binary.BigEndian.AppendUint64(l.text, r.visitor)
		l.text = appendNumbers(l.text, int64(r.from))
	case Entry.letter():
		l.text = append(appendText(l.text, r.country), deviceCode(r.device))
		for _, value := range []string{r.browser, r.os, r.channel, r.source, r.campaign, r.link} {
			l.text = appendText(l.text, value)
		}
	}
}

// encode returns the entry for newLogDecoder.
func (l *logEncoder) encode(h recordHeader) []byte {
	b := append(make([]byte, 0, 64+48*len(l.pages)+len(l.text)), format, h.kind, h.method)
	b = appendNumbers(b, l.base, h.quarters, int64(h.day), int64(len(l.pages)))
	last := ""
	for _, p := range l.pages {
		key := strings.TrimSuffix(p.hash, totalsKey)
		shared := commonPrefix(last, key)
		b = appendText(appendNumbers(b, int64(shared)), key[shared:])
		last = key
	}
	return append(appendNumbers(b, int64(l.hits)), l.text...)
}

// commonPrefix returns the length of the common prefix of two strings.
func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// logDecoder decodes the records of a log entry.
type logDecoder struct {
	recordHeader
	base  int64
	pages []string // their keys
	hits  int64
	decoder
}

var errLogEntry = errors.New("malformed log entry")

func newLogDecoder(s string) (logDecoder, error) {
	l := logDecoder{decoder: decoder{rest: s}}
	if l.letter() != format {
		return logDecoder{}, errFormat
	}
	l.kind, l.method = l.letter(), l.letter()
	l.base, l.quarters, l.day = l.number(), l.number(), l.date()
	last := ""
	for n := l.number(); n > 0 && !l.failed; n-- {
		shared := l.number()
		if shared > int64(len(last)) {
			return logDecoder{}, errLogEntry
		}
		last = last[:shared] + l.text()
		if !isWellFormed(last) {
			return logDecoder{}, errLogEntry
		}
		l.pages = append(l.pages, last)
	}
	l.hits = l.number()
	isUncounted := (l.kind == filtered || l.kind == heartbeat) && l.method == noMethod
	isCounted := strings.IndexByte(hitLetters, l.kind) >= 0 && methodFor(l.method) != ""
	isVisit := l.isOfVisits() && l.method >= firstHour && l.method < firstHour+24
	if l.failed || !isUncounted && !isCounted && !isVisit || !isPlausible(l.day, l.quarters*quarterSeconds) {
		return logDecoder{}, errLogEntry
	}
	return l, nil
}

// next decodes the next record and the index of its page.
func (l *logDecoder) next() (page int, r record, err error) {
	page, r.unix = int(l.number()), l.base+l.difference()
	switch l.kind {
	case filtered:
		r.reason = l.text()
	case View.letter():
		r.country, r.device, r.referrer = l.text(), "", ""
		if letter := l.letter(); letter != 0 {
			r.device = deviceFromCode(letter)
		}
		r.referrer = l.text()
		r.visitor = l.hash()
		r.from = int(l.number())
	case Entry.letter():
		r.country = l.text()
		if letter := l.letter(); letter != 0 {
			r.device = deviceFromCode(letter)
		}
		r.browser, r.os, r.channel, r.source, r.campaign, r.link = l.text(), l.text(), l.text(), l.text(), l.text(), l.text()
	}
	if l.failed || page >= len(l.pages) || r.from > len(l.pages) || !isPlausible(l.day, r.unix) {
		return 0, record{}, errLogEntry
	}
	return page, r, nil
}

// flagDuplicate is the flag of a hit that did not count. The flags of others
// are digits: 1 is added for a funnel step, 2 for a visitor's first view of the
// day. Of page loads, flagStart is that of a visit's start. Second page loads, and
// views that make a visit engaged, have flagLater, plus 1 if the visit started in the
// hour before, plus 2 if it was engaged before its second page load. The second byte
// of records is a letter in lower case, so that they differ from flags.
const (
	flagDuplicate = '-'
	flagStart     = '0'
	flagLater     = 'A'
	lastFlag      = 'Z' // no flag is larger
)

func parseVisitStep(flag byte) visitStep {
	return visitStep{isStart: flag == flagStart, inPreviousHour: flag > flagStart && (flag-flagLater)&1 != 0, wasEngaged: flag > flagStart && (flag-flagLater)&2 != 0}
}

// isFlag reports whether a flag can belong to a hit of the kind.
func isFlag(kind, flag byte) bool {
	switch kind {
	case Entry.letter():
		return flag == flagDuplicate || flag == flagStart || flag >= flagLater && flag < flagLater+4
	case EngagedVisit.letter():
		return flag == flagDuplicate || flag >= flagLater && flag < flagLater+2
	}
	if kind == heartbeat {
		return flag == flagDuplicate || flag >= '0' && flag <= '0'+EngagedBuckets
	}
	return flag == flagDuplicate || flag >= '0' && flag <= '3'
}

// isPlausible reports whether a time can belong to a day in some zone.
// Otherwise Postgres would have no partition for it.
func isPlausible(d Day, unix int64) bool {
	const maxDay = 200 * 366
	since := unix - int64(d)*86400
	return d >= 0 && d <= maxDay && since >= -86400 && since <= 2*86400
}

// addLog adds the hits of a log entry that counted according to their flags. It
// adds nothing if the entry is malformed.
func (cs *summaries) addLog(flags, text string) error {
	l, err := newLogDecoder(text)
	if err != nil {
		return err
	}
	width := 1
	if l.kind == heartbeat {
		width = progressLength
	}
	if l.hits*int64(width) != int64(len(flags)) {
		return errLogEntry
	}
	cs.records = cs.records[:0]
	for i := 0; i < len(flags); i += width {
		page, r, err := l.next()
		if err != nil {
			return err
		}
		switch {
		case !isFlag(l.kind, flags[i]):
			return errLogEntry
		case flags[i] == flagDuplicate:
			page = -1
		case l.kind == heartbeat:
			if err := r.progress.parse(flags[i : i+width]); err != nil {
				return err
			}
		case l.isOfVisits():
			r.visit = parseVisitStep(flags[i])
		default:
			r.isFunnelStep, r.isFirstToday = (flags[i]-'0')&1 != 0, (flags[i]-'0')&2 != 0
		}
		cs.records = append(cs.records, pageRecord{page, r})
	}
	if l.rest != "" {
		return errLogEntry
	}
	touched := make([]*pageSummary, len(l.pages))
	for _, one := range cs.records {
		if one.page < 0 {
			continue
		}
		if touched[one.page] == nil {
			touched[one.page] = cs.page(l.pages[one.page])
		}
		touched[one.page].addRecord(l.recordHeader, one.record)
		if one.from > 0 {
			cs.page(l.pages[one.from-1]).addHour(Recirculation.letter(), l.quarters, l.day, 1, 0)
		}
	}
	return nil
}

// pageRecord is a record and the index of its page; -1 if it did not count.
type pageRecord struct {
	page int
	record
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder decodes a sequence of numbers and strings. After a failure it returns
// zeros.
type decoder struct {
	rest   string
	failed bool
}

// maxNumber exceeds any number in a record: a time takes 33 bits.
const maxNumber = 1 << 48

func (d *decoder) number() int64 {
	var n uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		b := d.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			d.rest = d.rest[i+1:]
			if n >= maxNumber {
				break
			}
			return int64(n) //nolint:gosec // less than maxNumber
		}
	}
	d.failed, d.rest = true, ""
	return 0
}

// date decodes a day; -1 if it is out of range.
func (d *decoder) date() Day {
	n := d.number()
	if n > math.MaxInt32 {
		return -1
	}
	return Day(n) //nolint:gosec // checked above
}

// difference decodes the output of binary.AppendVarint.
func (d *decoder) difference() int64 {
	n := d.number()
	if n&1 != 0 {
		return ^(n >> 1)
	}
	return n >> 1
}

func (d *decoder) letter() byte {
	if d.rest == "" {
		d.failed = true
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *decoder) hash() uint64 {
	if len(d.rest) < 8 {
		d.failed, d.rest = true, ""
		return 0
	}
	h := binary.BigEndian.Uint64([]byte(d.rest[:8]))
	d.rest = d.rest[8:]
	return h
}

func (d *decoder) text() string {
	n := d.number()
	if n > int64(len(d.rest)) {
		d.failed, d.rest = true, ""
		return ""
	}
	text := d.rest[:n]
	d.rest = d.rest[n:]
	return text
}
