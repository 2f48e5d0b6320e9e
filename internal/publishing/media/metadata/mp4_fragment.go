package metadata

import "encoding/binary"

// Flags of fragments (8.8.7, 8.8.8).
const (
	tfhdBase         = 0x01
	tfhdDescription  = 0x02
	tfhdDuration     = 0x08
	tfhdSize         = 0x10
	tfhdBaseIsMoof   = 0x020000
	trunOffset       = 0x01
	trunFirstFlags   = 0x04
	trunDuration     = 0x100
	trunSize         = 0x200
	trunFlags        = 0x400
	trunTimeOffset   = 0x800
	maxRunsInTrack   = 10_000
	fragmentOverhead = 8 // of a header of a full box with a count
)

// sampleSizes reads the sizes that samples of fragments have by default
// (8.8.3).
func (m *mp4Scanner) sampleSizes(mvex box) error {
	for at := mvex.start; at+8 <= mvex.end; {
		b, err := m.box(at, mvex.end)
		if err != nil || b.kind == "" {
			return err
		}
		if b.kind == "trex" {
			p, err := m.read(b.start, 24)
			if err != nil {
				return err
			}
			if len(p) >= 20 {
				m.defaults[binary.BigEndian.Uint32(p[4:])] = binary.BigEndian.Uint32(p[16:])
			}
		}
		at = b.end
	}
	return nil
}

// clearFragments frees the parts of fragments that belong to dropped tracks, and
// clears their samples.
func (m *mp4Scanner) clearFragments() error {
	for _, moof := range m.moofs {
		end := moof.at // of the data of the track before
		for at := moof.start; at+8 <= moof.end; {
			b, err := m.box(at, moof.end)
			if err != nil || b.kind == "" {
				return err
			}
			if b.kind == "traf" {
				if end, err = m.fragment(moof, b, end); err != nil {
					return err
				}
			}
			at = b.end
		}
	}
	return nil
}

// fragment follows the runs of one track in one fragment, and returns the end of its
// data.
func (m *mp4Scanner) fragment(moof, traf box, before int64) (end int64, err error) {
	head, found, err := m.find(traf, "tfhd")
	if err != nil || !found {
		return before, err
	}
	p, err := m.read(head.start, 40)
	if err != nil || len(p) < 8 {
		return before, err
	}
	flags, track := binary.BigEndian.Uint32(p)&0xFFFFFF, binary.BigEndian.Uint32(p[4:])
	fields := reader{p[8:]}
	base, size := before, m.defaults[track]
	switch {
	case flags&tfhdBase != 0:
		base = fields.take(8)
	case flags&tfhdBaseIsMoof != 0:
		base = moof.at
	}
	if flags&tfhdDescription != 0 {
		fields.take(4)
	}
	if flags&tfhdDuration != 0 {
		fields.take(4)
	}
	if flags&tfhdSize != 0 {
		size = uint32(fields.take(4)) //nolint:gosec // of four bytes
	}
	dropped := m.dropped[track]
	if dropped {
		m.plan.overwrite(traf.at+4, []byte("free"))
		m.plan.zero(traf.start, traf.end)
	}
	end = base
	runs := 0
	for at := traf.start; at+8 <= traf.end; {
		b, err := m.box(at, traf.end)
		if err != nil || b.kind == "" {
			return end, err
		}
		if b.kind == "trun" {
			if runs++; runs > maxRunsInTrack {
				return end, malformed("a fragment has too many runs")
			}
			from, length, err := m.run(b, base, end, size)
			if err != nil {
				return end, err
			}
			if dropped {
				if err := m.clear(from, length); err != nil {
					return end, err
				}
			}
			end = from + length
		}
		at = b.end
	}
	return end, nil
}

// run returns the offsets of the samples of a run.
func (m *mp4Scanner) run(trun box, base, end int64, size uint32) (from, length int64, err error) {
	rows, err := m.table(trun, 0, 1)
	if err != nil || len(rows) < fragmentOverhead {
		return end, 0, err
	}
	flags, count := binary.BigEndian.Uint32(rows)&0xFFFFFF, binary.BigEndian.Uint32(rows[4:])
	fields := reader{rows[8:]}
	from = end
	if flags&trunOffset != 0 {
		from = base + int64(int32(fields.take(4))) //nolint:gosec // signed, of four bytes
	}
	if flags&trunFirstFlags != 0 {
		fields.take(4)
	}
	if flags&trunSize == 0 {
		return m.within(from), m.within(int64(count) * int64(size)), nil
	}
	for range count {
		if len(fields.rest) == 0 {
			break
		}
		if flags&trunDuration != 0 {
			fields.take(4)
		}
		length += fields.take(4)
		if flags&trunFlags != 0 {
			fields.take(4)
		}
		if flags&trunTimeOffset != 0 {
			fields.take(4)
		}
	}
	return m.within(from), m.within(length), nil
}

// within limits a number to the size of the file.
func (m *mp4Scanner) within(n int64) int64 { return max(0, min(n, m.size)) }

// reader reads numbers from the beginning of bytes; missing ones are zero.
type reader struct{ rest []byte }

func (r *reader) take(width int) (value int64) {
	for i := range width {
		value <<= 8
		if i < len(r.rest) {
			value |= int64(r.rest[i])
		}
	}
	r.rest = r.rest[min(width, len(r.rest)):]
	return value
}
