package counter

import (
	"encoding/binary"
	"errors"
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
	kind byte // a Kind's letter, pageLoad, midnightPageLoad, filtered or heartbeat
	// Of the site; noMethod for filtered hits and heartbeats; firstHour plus the hour of the day
	// for page loads and engaged visits
	method   byte
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
	visitValues               string // of a page load: the values of visitDimensions, encoded
	link                      string // of a heartbeat
	// From the flags: whether it was a funnel step and the visitor's first view of
	// the day.
	isFunnelStep, isFirstToday bool
	visit                      visitStep // of a page load or an engaged visit, from the flags
	progress                   progress  // of a heartbeat, from the flags
}

// Kinds of views that are also page loads, from which visits are derived. Each has two
// flags: that of a view, and after those of all views, that of a page load.
const (
	pageLoad         = 'p'
	midnightPageLoad = 'm' // in the first hour of a day
)

func pageLoadKind(hour byte) byte {
	if hour == 0 {
		return midnightPageLoad
	}
	return pageLoad
}

func (h recordHeader) isPageLoad() bool { return h.kind == pageLoad || h.kind == midnightPageLoad }

func (h recordHeader) isView() bool { return h.kind == View.letter() || h.isPageLoad() }

// ofKind returns the header of the records that are derived from a page load.
func (h recordHeader) ofKind(k Kind) recordHeader {
	if k == Entry {
		h.method = firstHour
		if h.kind != midnightPageLoad {
			h.method++
		}
	}
	h.kind = k.letter()
	return h
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
	switch {
	case h.kind == filtered:
		l.text = appendText(l.text, r.reason)
	case h.kind == heartbeat:
		l.text = appendText(l.text, r.link)
	case h.isView():
		l.text = appendText(l.text, r.country)
		l.text = append(l.text, deviceCode(r.device))
		l.text = appendText(l.text, r.referrer)
		l.text = binary.BigEndian.AppendUint64(l.text, r.visitor)
		l.text = appendNumbers(l.text, int64(r.from))
	case h.kind == Entry.letter():
		l.text = append(appendText(l.text, r.country), deviceCode(r.device))
	}
	if h.isPageLoad() || h.kind == Entry.letter() {
		l.text = append(l.text, r.visitValues...)
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
	isCounted := (strings.IndexByte(hitLetters, l.kind) >= 0 || l.isPageLoad()) && methodFor(l.method) != ""
	isVisit := l.isOfVisits() && l.method >= firstHour && l.method < firstHour+24
	if l.failed || !isUncounted && !isCounted && !isVisit || !isPlausible(l.day, l.quarters*quarterSeconds) {
		return logDecoder{}, errLogEntry
	}
	return l, nil
}

// next decodes the next record and the index of its page.
func (l *logDecoder) next() (page int, r record, err error) {
	page, r.unix = int(l.number()), l.base+l.difference()
	switch {
	case l.kind == filtered:
		r.reason = l.text()
	case l.kind == heartbeat:
		r.link = l.text()
	case l.isView():
		r.country, r.device, r.referrer = l.text(), "", ""
		if letter := l.letter(); letter != 0 {
			r.device = deviceFromCode(letter)
		}
		r.referrer = l.text()
		r.visitor = l.hash()
		r.from = int(l.number())
	case l.kind == Entry.letter():
		r.country = l.text()
		if letter := l.letter(); letter != 0 {
			r.device = deviceFromCode(letter)
		}
	}
	if l.isPageLoad() || l.kind == Entry.letter() {
		values := l.rest
		for range visitDimensions {
			l.text()
		}
		r.visitValues = values[:len(values)-len(l.rest)]
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
	return visitStep{
		isStart: flag == flagStart, inPreviousHour: flag > flagStart && (flag-flagLater)&1 != 0,
		wasEngaged: flag > flagStart && (flag-flagLater)&2 != 0,
	}
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
	width, loads := 1, "" // flags of page loads follow those of the views
	switch {
	case l.kind == heartbeat:
		width = progressLength
	case l.isPageLoad():
		flags, loads = flags[:len(flags)/2], flags[len(flags)/2:]
	}
	if l.hits*int64(width) != int64(len(flags)) || l.isPageLoad() && len(loads) != len(flags) {
		return errLogEntry
	}
	cs.records = cs.records[:0]
	for i := 0; i < len(flags); i += width {
		page, r, err := l.next()
		if err != nil {
			return err
		}
		if l.isPageLoad() {
			load := r
			load.from = 0 // counts with the view
			if err := cs.addFlagged(l.ofKind(Entry), loads[i:i+1], page, load); err != nil {
				return err
			}
			err = cs.addFlagged(l.ofKind(View), flags[i:i+1], page, r)
		} else {
			err = cs.addFlagged(l.recordHeader, flags[i:i+width], page, r)
		}
		if err != nil {
			return err
		}
	}
	if l.rest != "" {
		return errLogEntry
	}
	touched := make([]*pageSummary, len(l.pages))
	for _, one := range cs.records {
		if touched[one.page] == nil {
			touched[one.page] = cs.page(l.pages[one.page])
		}
		touched[one.page].addRecord(one.header, one.record)
		if one.header.kind == Entry.letter() && one.visit.isStart {
			cs.addVisitStart(l.pages[one.page], one.header.day, one.record)
		}
		if one.from > 0 {
			cs.page(l.pages[one.from-1]).addHour(Recirculation.letter(), l.quarters, l.day, 1, 0)
		}
	}
	return nil
}

// addFlagged adds a record to those of the entry unless it did not count.
func (cs *summaries) addFlagged(h recordHeader, flags string, page int, r record) error {
	switch {
	case !isFlag(h.kind, flags[0]):
		return errLogEntry
	case flags[0] == flagDuplicate:
		return nil
	case h.kind == heartbeat:
		if err := r.progress.parse(flags); err != nil {
			return err
		}
	case h.isOfVisits():
		r.visit = parseVisitStep(flags[0])
	default:
		r.isFunnelStep, r.isFirstToday = (flags[0]-'0')&1 != 0, (flags[0]-'0')&2 != 0
	}
	cs.records = append(cs.records, pageRecord{page, h, r})
	return nil
}

// pageRecord is a record that counted, the index of its page and its header.
type pageRecord struct {
	page   int
	header recordHeader
	record
}
