package metadata

import (
	"cmp"
	"slices"
)

// span is a range of bytes of the file.
type span struct{ start, end int64 }

// maxSpans bounds the memory for the places of samples.
const maxSpans = 4 << 20

// addSpan adds a range, which often continues the last one.
func addSpan(spans []span, at, length int64) ([]span, error) {
	if n := len(spans); n > 0 && spans[n-1].end == at {
		spans[n-1].end += length
		return spans, nil
	}
	if length <= 0 {
		return spans, nil
	}
	if len(spans) >= maxSpans {
		return spans, malformed("its samples are in too many pieces")
	}
	return append(spans, span{at, at + length}), nil
}

// mergeSpans sorts ranges and joins those that touch.
func mergeSpans(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, s.end)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// gaps yields the parts of a range that no span covers. The spans are merged.
func gaps(from, to int64, spans []span, yield func(from, to int64) error) error {
	first, _ := slices.BinarySearchFunc(spans, from, func(s span, at int64) int { return cmp.Compare(s.end, at) })
	for _, s := range spans[first:] {
		if s.start >= to {
			break
		}
		if s.start > from {
			if err := yield(from, s.start); err != nil {
				return err
			}
		}
		from = max(from, s.end)
	}
	if from < to {
		return yield(from, to)
	}
	return nil
}

// keep notes that a range of the file belongs to a sample of a kept track.
func (m *mp4Scanner) keep(at, length int64) (err error) {
	m.covered, err = addSpan(m.covered, at, length)
	return err
}

// clearMedia overwrites all media with zeros that belong to no sample of a kept track:
// those of removed tracks, and those of no track at all, as dashcams write positions.
func (m *mp4Scanner) clearMedia() error {
	var dropped []span
	for _, t := range m.tracks {
		err := m.tableSamples(t, false, func(at, length int64) (err error) {
			if t.dropped {
				dropped, err = addSpan(dropped, at, length)
				return err
			}
			return m.keep(at, length)
		})
		if err != nil {
			return err
		}
	}
	if err := m.fragmentSamples(func(f fragment, at, length int64) (err error) {
		if m.isDropped(f.track) {
			dropped, err = addSpan(dropped, at, length)
		}
		return err
	}); err != nil {
		return err
	}
	if err := m.clearFragments(); err != nil {
		return err
	}
	m.covered = mergeSpans(m.covered)
	dropped = mergeSpans(dropped)
	for _, b := range m.media {
		err := gaps(b.start, b.end, m.covered, func(from, to int64) error {
			if len(m.plan.edits) > maxParts {
				return malformed("its media are in too many pieces")
			}
			// What no track explains is reported; that of a track is reported with it.
			if err := gaps(from, to, dropped, m.orphan); err != nil {
				return err
			}
			isClear, err := m.isClear(from, to)
			if err == nil && !isClear {
				m.plan.zero(from, to)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// orphan reports what bytes contain that belong to nothing.
func (m *mp4Scanner) orphan(from, to int64) error {
	isClear, err := m.isClear(from, to)
	if err != nil || isClear {
		return err
	}
	length := min(to-from, m.budget, maxBlock)
	m.budget -= length
	content, err := m.read(from, length)
	if err != nil {
		return err
	}
	m.classify(content, mp4Clues())
	m.seePlaces(content)
	return nil
}

// isClear reports whether a range has only zeros.
func (m *mp4Scanner) isClear(from, to int64) (bool, error) {
	for from < to {
		part, err := m.read(from, min(to-from, 64<<10))
		if err != nil || len(part) == 0 {
			return err == nil, err
		}
		if !isZero(part) {
			return false, nil
		}
		from += int64(len(part))
	}
	return true, nil
}
