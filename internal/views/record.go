package views

import (
	"encoding/binary"
	"errors"
	"strings"
)

// record is what the log keeps of a hit until it is folded; an entry of the log
// holds one or more. Redis puts a digit before it, which says whether it was a
// step of the funnel (1) and its visitor's first view of the day (2), and the
// key of the page's hash after it.
type record struct {
	kind, way byte
	moment
	country, device, referrer string
	reason                    string
	visitor                   uint64 // of a view, for HyperLogLog
	step, first               bool
	page                      string // its key
}

var errRecord = errors.New("the log holds something that is not a hit")

// encode writes the record without what Redis adds.
func (r record) encode() []byte {
	b := append(make([]byte, 0, 48), r.kind, r.way)
	b = binary.AppendUvarint(b, uint64(r.unix))     //nolint:gosec // never negative
	b = binary.AppendUvarint(b, uint64(r.quarters)) //nolint:gosec // never negative
	b = binary.AppendUvarint(b, uint64(r.day))      //nolint:gosec // never negative
	if r.kind == filtered {
		b = appendText(b, r.reason)
	} else {
		b = appendText(b, r.country)
		b = appendText(b, r.device)
		b = appendText(b, r.referrer)
		if r.kind == View.letter() && r.way == HyperLogLog.letter() {
			b = binary.BigEndian.AppendUint64(b, r.visitor)
		}
	}
	return binary.AppendUvarint(b, uint64(len(r.page)+len(totalsKey)))
}

// parseRecord reads the first of the records that lie in an entry of the log.
func parseRecord(s string) (r record, rest string, err error) {
	if len(s) < 3 || s[0] < '0' || s[0] > '3' {
		return record{}, "", errRecord
	}
	r = record{step: (s[0]-'0')&1 != 0, first: (s[0]-'0')&2 != 0, kind: s[1], way: s[2]}
	d := decoder{rest: s[3:]}
	r.unix, r.quarters, r.day = d.number(), d.number(), Day(d.number()) //nolint:gosec // bounded by number
	if r.kind == filtered {
		r.reason = d.text()
	} else {
		r.country, r.device, r.referrer = d.text(), d.text(), d.text()
		if r.kind == View.letter() && r.way == HyperLogLog.letter() {
			r.visitor = d.hash()
		}
	}
	page, ok := strings.CutSuffix(d.text(), totalsKey)
	r.page = page
	if !ok || d.failed || !isPageKey(r.page) || r.kind != filtered && strings.IndexByte("vcx", r.kind) < 0 {
		return record{}, "", errRecord
	}
	return r, d.rest, nil
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
