package counter

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"github.com/google/uuid"
)

// format begins all that Go writes into Redis for Go to read later: entries of
// the log, sums and deltas. A program that is replaced leaves some of them behind
// and meets some of its successor's, so a change of how they are written takes
// another letter, and what began with the letter before is read for one release
// more. What begins with a letter that is not known goes to the quarantine, from
// which a program that knows it can replay it.
const format = '1'

var errFormat = errors.New("the format is not known: another version of the program wrote it")

// heading is what hits that lie together in the log have in common.
type heading struct {
	kind     byte // a Kind's letter, or filtered
	way      byte // of the site; noWay where hits were refused
	quarters int64
	day      Day
}

// record is what the log keeps of a hit until it is folded.
type record struct {
	unix                      int64
	country, device, referrer string // of a view
	visitor                   uint64 // of a view, for HyperLogLog
	reason                    string // of a hit that was refused
	// What Redis says of it: that it was a step of the funnel, and its visitor's
	// first view of the day.
	step, first bool
}

// sketched says whether records have a visitor.
func (h heading) sketched() bool {
	return h.kind == View.letter() && h.way == HyperLogLog.letter()
}

// onPage is a page in the log, by the key of its hash.
type onPage struct {
	sum  uint64
	site uuid.UUID
	hash string
}

func (p onPage) name() string { return p.hash[siteLength+1 : len(p.hash)-len(totalsKey)] }

// logging writes the records of a group of hits. Redis puts a letter for each of
// them beside it: uncounted, or what it says of it.
type logging struct {
	pages []onPage
	base  int64
	hits  int
	text  []byte
}

// page numbers the pages of the group.
func (l *logging) page(sum uint64, shard int, site uuid.UUID, name string) int {
	for i, p := range l.pages {
		if p.sum == sum && p.site == site && p.name() == name {
			return i
		}
	}
	l.pages = append(l.pages, onPage{sum, site, pageHash(shard, site, name)})
	return len(l.pages) - 1
}

func (l *logging) add(h heading, page int, r record) {
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
		l.text = append(l.text, letterOf(r.device))
		l.text = appendText(l.text, r.referrer)
		if h.sketched() {
			l.text = binary.BigEndian.AppendUint64(l.text, r.visitor)
		}
	}
}

// encode gives what parseLogged reads.
func (l *logging) encode(h heading) []byte {
	b := append(make([]byte, 0, 64+48*len(l.pages)+len(l.text)), format, h.kind, h.way)
	b = appendNumbers(b, l.base, h.quarters, int64(h.day), int64(len(l.pages)))
	last := ""
	for _, p := range l.pages {
		key := strings.TrimSuffix(p.hash, totalsKey)
		shared := sharedBytes(last, key)
		b = appendText(appendNumbers(b, int64(shared)), key[shared:])
		last = key
	}
	return append(appendNumbers(b, int64(l.hits)), l.text...)
}

// sharedBytes is how many bytes two texts begin with alike.
func sharedBytes(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// logged are records that lie together in the log.
type logged struct {
	heading
	base  int64
	pages []string // their keys
	hits  int64
	decoder
}

var errRecord = errors.New("the log holds something that is not a hit")

func parseLogged(s string) (logged, error) {
	l := logged{decoder: decoder{rest: s}}
	if l.letter() != format {
		return logged{}, errFormat
	}
	l.kind, l.way = l.letter(), l.letter()
	l.base, l.quarters, l.day = l.number(), l.number(), l.date()
	last := ""
	for n := l.number(); n > 0 && !l.failed; n-- {
		shared := l.number()
		if shared > int64(len(last)) {
			return logged{}, errRecord
		}
		last = last[:shared] + l.text()
		if !isWellFormed(last) {
			return logged{}, errRecord
		}
		l.pages = append(l.pages, last)
	}
	l.hits = l.number()
	refused := l.kind == filtered && l.way == noWay
	counted := strings.IndexByte("vcx", l.kind) >= 0 && wayOf(l.way) != ""
	if l.failed || !refused && !counted || !plausible(l.day, l.quarters*quarter) {
		return logged{}, errRecord
	}
	return l, nil
}

// next reads the next record and the number of its page.
func (l *logged) next() (page int, r record, err error) {
	page, r.unix = int(l.number()), l.base+l.difference()
	switch l.kind {
	case filtered:
		r.reason = l.text()
	case View.letter():
		r.country, r.device, r.referrer = l.text(), "", ""
		if letter := l.letter(); letter != 0 {
			r.device = deviceOf(letter)
		}
		r.referrer = l.text()
		if l.sketched() {
			r.visitor = l.hash()
		}
	}
	if l.failed || page >= len(l.pages) || !plausible(l.day, r.unix) {
		return 0, record{}, errRecord
	}
	return page, r, nil
}

// uncounted is what Redis says of a hit that did not count; of others it says a
// digit, 1 for a step of the funnel, 2 for a visitor's first view of the day.
const uncounted = '-'

// plausible says whether a moment is of a day, in some zone. Postgres has no
// partition for what is not, and rankings no weight.
func plausible(d Day, unix int64) bool {
	const longest = 200 * 366 // days
	since := unix - int64(d)*86400
	return d >= 0 && d <= longest && since >= -86400 && since <= 2*86400
}

// addLogged adds the hits of an entry of the log that counted, which says so and
// what they are. It adds all or, with an error, nothing.
func (cs *changes) addLogged(said, text string) error {
	l, err := parseLogged(text)
	if err != nil {
		return err
	}
	if l.hits != int64(len(said)) {
		return errRecord
	}
	cs.records = cs.records[:0]
	for i := range len(said) {
		page, r, err := l.next()
		if err != nil {
			return err
		}
		if said[i] != uncounted && (said[i] < '0' || said[i] > '3') {
			return errRecord
		}
		r.step, r.first = (said[i]-'0')&1 != 0, (said[i]-'0')&2 != 0
		cs.records = append(cs.records, pageRecord{page, r})
	}
	if l.rest != "" {
		return errRecord
	}
	touched := make([]*change, len(l.pages))
	for i, one := range cs.records {
		if said[i] == uncounted {
			continue
		}
		if touched[one.page] == nil {
			touched[one.page] = cs.of(l.pages[one.page])
		}
		touched[one.page].add(l.heading, one.record)
	}
	return nil
}

// pageRecord is a record and the number of its page.
type pageRecord struct {
	page int
	record
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder reads numbers and texts one after the other; after a failure it gives
// zeros.
type decoder struct {
	rest   string
	failed bool
}

// largest is more than any number in a record: a moment takes 33 bits.
const largest = 1 << 48

func (d *decoder) number() int64 {
	var n uint64
	for i := 0; i < len(d.rest) && i < binary.MaxVarintLen64; i++ {
		b := d.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			d.rest = d.rest[i+1:]
			if n >= largest {
				break
			}
			return int64(n) //nolint:gosec // less than largest
		}
	}
	d.failed, d.rest = true, ""
	return 0
}

// date reads a day; one of no era that counts is negative.
func (d *decoder) date() Day {
	n := d.number()
	if n > math.MaxInt32 {
		return -1
	}
	return Day(n) //nolint:gosec // checked above
}

// difference reads what binary.AppendVarint wrote.
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
