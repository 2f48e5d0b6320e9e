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

// sampleSize reads the size that samples of fragments have by default (8.8.3).
func (m *mp4Scanner) sampleSize(trex box) error {
	p, err := m.read(trex.start, 24)
	if err == nil && len(p) >= 20 {
		m.defaults[binary.BigEndian.Uint32(p[4:])] = binary.BigEndian.Uint32(p[16:])
	}
	return err
}

// fragment is the part of a fragment that belongs to one track.
type fragment struct {
	traf, head box // head: tfhd
	moof       int64
	track      uint32
	base       int64 // of data offsets
	implied    bool  // base follows from the fragments before
	size       uint32
	flags      uint32
}

// fragmentSamples yields all samples of fragments.
func (m *mp4Scanner) fragmentSamples(yield func(f fragment, at, length int64) error) error {
	return m.eachFragment(func(f fragment) (int64, error) {
		return m.runs(f, func(_ box, at, length int64) error { return yield(f, at, length) })
	})
}

// eachFragment yields the parts of fragments, which yield the end of their data.
func (m *mp4Scanner) eachFragment(yield func(fragment) (end int64, err error)) error {
	for _, moof := range m.moofs {
		end, first := moof.at, true // of the data of the track before
		err := m.each(moof, func(b box) error {
			if b.kind != "traf" {
				return nil
			}
			f, ok, err := m.fragment(moof, b, end)
			if err != nil || !ok {
				return err
			}
			f.implied = f.implied && !first
			first = false
			end, err = yield(f)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fragment reads the header of a track in a fragment (8.8.7).
func (m *mp4Scanner) fragment(moof, traf box, before int64) (f fragment, ok bool, err error) {
	f = fragment{traf: traf, moof: moof.at, base: before}
	if f.head, ok, err = m.find(traf, "tfhd"); err != nil || !ok {
		return f, false, err
	}
	p, err := m.read(f.head.start, 40)
	if err != nil || len(p) < 8 {
		return f, false, err
	}
	f.flags, f.track = binary.BigEndian.Uint32(p)&0xFFFFFF, binary.BigEndian.Uint32(p[4:])
	fields := reader{p[8:]}
	f.size = m.defaults[f.track]
	switch {
	case f.flags&tfhdBase != 0:
		f.base = fields.take(8)
	case f.flags&tfhdBaseIsMoof != 0:
		f.base = moof.at
	default:
		f.implied = true
	}
	if f.flags&tfhdDescription != 0 {
		fields.take(4)
	}
	if f.flags&tfhdDuration != 0 {
		fields.take(4)
	}
	if f.flags&tfhdSize != 0 {
		f.size = uint32(fields.take(4)) //nolint:gosec // of four bytes
	}
	return f, true, nil
}

// runs yields the samples of a track in a fragment, and returns the end of their data.
func (m *mp4Scanner) runs(f fragment, yield func(trun box, at, length int64) error) (end int64, err error) {
	end = f.base
	runs := 0
	err = m.each(f.traf, func(b box) error {
		if b.kind != "trun" {
			return nil
		}
		if runs++; runs > maxRunsInTrack {
			return malformed("a fragment has too many runs")
		}
		end, err = m.run(b, f, end, yield)
		return err
	})
	return end, err
}

// run yields the samples of a run (8.8.8).
func (m *mp4Scanner) run(
	trun box, f fragment, at int64, yield func(trun box, at, length int64) error,
) (end int64, err error) {
	rows, err := m.table(trun, 0, 1)
	if err != nil || len(rows) < fragmentOverhead {
		return at, err
	}
	flags, count := binary.BigEndian.Uint32(rows)&0xFFFFFF, binary.BigEndian.Uint32(rows[4:])
	fields := reader{rows[8:]}
	if flags&trunOffset != 0 {
		at = f.base + int64(int32(fields.take(4))) //nolint:gosec // signed, of four bytes
	}
	at = m.within(at)
	if flags&trunFirstFlags != 0 {
		fields.take(4)
	}
	width := 0
	for _, field := range []uint32{trunDuration, trunSize, trunFlags, trunTimeOffset} {
		if flags&field != 0 {
			width += 4
		}
	}
	for range count {
		if at >= m.size || width > 0 && len(fields.rest) == 0 || width == 0 && f.size == 0 {
			break
		}
		length := int64(f.size)
		row := reader{fields.rest[:min(width, len(fields.rest))]}
		fields.rest = fields.rest[len(row.rest):]
		if flags&trunSize != 0 {
			if flags&trunDuration != 0 {
				row.take(4)
			}
			length = row.take(4)
		}
		if err := yield(trun, at, length); err != nil {
			return at, err
		}
		at = m.within(at + length)
	}
	return at, nil
}

// clearFragments frees the parts of fragments that belong to dropped tracks. Data of the
// next track may begin where the data of such a part ends (8.8.7); its place is then
// written relative to the fragment.
func (m *mp4Scanner) clearFragments() error {
	moof, isGap := int64(-1), false
	return m.eachFragment(func(f fragment) (int64, error) {
		if moof != f.moof {
			moof, isGap = f.moof, false
		}
		if m.isDropped(f.track) {
			m.plan.overwrite(f.traf.at+4, []byte("free"))
			m.plan.zero(f.traf.start, f.traf.end)
			isGap = true
			return m.runs(f, func(box, int64, int64) error { return nil })
		}
		if !f.implied || !isGap {
			isGap = false
			return m.runs(f, func(_ box, at, length int64) error { return m.keep(at, length) })
		}
		isGap = false
		m.plan.overwrite(f.head.start+1, []byte{byte((f.flags | tfhdBaseIsMoof) >> 16)}) //nolint:gosec // one of three bytes
		seen := int64(-1)
		return m.runs(f, func(trun box, at, length int64) error {
			if trun.at == seen {
				return m.keep(at, length)
			}
			first := seen < 0
			seen = trun.at
			p, err := m.read(trun.start, 8)
			if err != nil {
				return err
			}
			if binary.BigEndian.Uint32(p)&trunOffset != 0 {
				m.plan.overwrite(trun.start+8, binary.BigEndian.AppendUint32(nil, uint32(at-f.moof))) //nolint:gosec // as large as it was
			} else if first {
				return malformed("the place of a fragment's data depends on a track that is removed")
			}
			return m.keep(at, length)
		})
	})
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
