package counter

import (
	"encoding/binary"
	"math"
)

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
