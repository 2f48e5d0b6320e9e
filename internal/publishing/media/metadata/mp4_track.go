package metadata

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
)

// maxSamples limits the number of samples of a telemetry track: ten hours at 200 a
// second.
const maxSamples = 8_000_000

func containsAny(block []byte, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(block, []byte(word)) })
}

// isTelemetry reports whether a track is neither picture nor sound nor text: the
// positions and settings that cameras record (Apple's timed metadata, GoPro's gpmd,
// Google's camm, Sony's rtmd), and time codes, which are the time of day. DJI's drones
// write theirs as subtitles.
func (m *mp4Scanner) isTelemetry() (bool, error) {
	switch t := m.track; t.handler {
	case "vide", "auxv", "soun", "pict":
		return false, nil
	case "text", "sbtl", "subt", "clcp":
		blob, err := m.firstSamples(t.samples)
		if err != nil {
			return false, err
		}
		if containsAny(lowerASCII([]byte(t.name)), "dji") || containsAny(lowerASCII(blob), "gps(", "gps (", "gps:", "latitude") {
			m.saw(Location, Camera)
			return true, nil
		}
		return false, nil
	case "tmcd":
		m.saw(Date)
		return true, nil
	case "":
		return false, malformed("a track has no type")
	case "hint", "odsm", "sdsm":
		m.saw(Other)
		return true, nil
	default:
		m.saw(Camera)
		entry, err := m.read(t.samples.start, min(t.samples.end-t.samples.start, 4<<10))
		// Apple's tracks name their content; others usually have positions.
		if entry = lowerASCII(entry); !containsAny(entry, "mebx") || containsAny(entry, "location") {
			m.saw(Location)
		}
		return true, err
	}
}

// firstSamples reads where the samples of a track begin.
func (m *mp4Scanner) firstSamples(table box) ([]byte, error) {
	b, found, err := m.find(table, "stco", "co64")
	if err != nil || !found {
		return nil, err
	}
	p, err := m.read(b.start, 16)
	if err != nil {
		return nil, err
	}
	var at int64
	switch {
	case b.kind == "stco" && len(p) >= 12:
		at = int64(binary.BigEndian.Uint32(p[8:]))
	case b.kind == "co64" && len(p) >= 16:
		at = int64(min(binary.BigEndian.Uint64(p[8:]), uint64(m.size))) //nolint:gosec // at most the size
	default:
		return nil, nil
	}
	return m.read(at, 4<<10)
}

// find finds a box inside of another one.
func (m *mp4Scanner) find(parent box, kinds ...string) (box, bool, error) {
	for at := parent.start; at+8 <= parent.end; {
		b, err := m.box(at, parent.end)
		if err != nil || b.kind == "" {
			return box{}, false, err
		}
		if slices.Contains(kinds, b.kind) {
			return b, true, nil
		}
		at = b.end
	}
	return box{}, false, nil
}

// entries clears the vendor in descriptions of samples, and the name of the
// encoder in those of pictures (12.1.3; QuickTime File Format, "Video sample
// description").
func (m *mp4Scanner) entries(table box) error {
	b, found, err := m.find(table, "stsd")
	if err != nil || !found || m.track.handler != "vide" && m.track.handler != "soun" {
		return err
	}
	list := box{start: b.start + 8, end: b.end}
	for at := list.start; at+8 <= list.end; {
		entry, err := m.box(at, list.end)
		if err != nil || entry.kind == "" {
			return err
		}
		fields := map[int64]int64{12: 4} // after eight bytes of every entry
		if m.track.handler == "vide" {
			fields[42] = 32
		}
		for from, length := range fields {
			value, err := m.read(entry.start+from, min(length, entry.end-entry.start-from))
			if err != nil {
				return err
			}
			if !isZero(value) {
				m.saw(Software)
				m.plan.zero(entry.start+from, entry.start+from+int64(len(value)))
			}
		}
		at = entry.end
	}
	return nil
}

// clearSamples overwrites the samples of removed tracks with zeros, wherever they are
// between pictures and sound.
func (m *mp4Scanner) clearSamples() error {
	for _, table := range m.tables {
		if err := m.clearTable(table); err != nil {
			return err
		}
	}
	return m.clearFragments()
}

// clear overwrites a range with zeros, as far as it is media.
func (m *mp4Scanner) clear(from, length int64) error {
	first := sort.Search(len(m.media), func(i int) bool { return m.media[i].end > from })
	for _, b := range m.media[first:] {
		if b.start >= from+length {
			break
		}
		m.plan.zero(max(from, b.start), min(from+length, b.end))
	}
	if len(m.plan.edits) > maxParts {
		return malformed("its telemetry is in too many pieces")
	}
	return nil
}

// table reads a table of fixed-width entries after a header.
func (m *mp4Scanner) table(b box, header, width int64) (rows []byte, err error) {
	length := b.end - b.start - header
	if length <= 0 {
		return nil, nil
	}
	if length > maxSamples*4 {
		return nil, malformed("a table is too long")
	}
	rows = make([]byte, length-length%width)
	n, err := m.r.ReadAt(rows, b.start+header)
	if n < len(rows) {
		return nil, err
	}
	return rows, nil
}

// clearTable follows the tables with the offsets of samples (8.7).
func (m *mp4Scanner) clearTable(stbl box) error {
	sizes, err := m.sizes(stbl)
	if err != nil {
		return err
	}
	b, found, err := m.find(stbl, "stsc")
	if err != nil || !found {
		return err
	}
	runs, err := m.table(b, 8, 12)
	if err != nil {
		return err
	}
	if b, found, err = m.find(stbl, "stco", "co64"); err != nil || !found {
		return err
	}
	width := int64(4)
	if b.kind == "co64" {
		width = 8
	}
	chunks, err := m.table(b, 8, width)
	if err != nil {
		return err
	}
	sample, perChunk := 0, uint32(0)
	for i := 0; int64(i) < int64(len(chunks))/width && sample < sizes.count; i++ {
		for len(runs) >= 12 && binary.BigEndian.Uint32(runs) <= uint32(i)+1 { //nolint:gosec // bounded by maxSamples
			perChunk, runs = binary.BigEndian.Uint32(runs[4:]), runs[12:]
		}
		length := int64(0)
		for n := uint32(0); n < perChunk && sample < sizes.count; n++ {
			length += sizes.of(sample)
			sample++
		}
		offset := uint64(0)
		for _, digit := range chunks[int64(i)*width:][:width] {
			offset = offset<<8 | uint64(digit)
		}
		if offset < uint64(m.size) { //nolint:gosec // sizes are not negative
			if err := m.clear(int64(offset), min(length, m.size)); err != nil { //nolint:gosec // below the size
				return err
			}
		}
	}
	return nil
}

// sampleSizes are the sizes of a track's samples.
type sampleSizes struct {
	count int
	all   int64  // of every sample; 0: rows say
	rows  []byte // packed
	bits  int
}

func (z sampleSizes) of(i int) int64 {
	if z.all > 0 {
		return z.all
	}
	switch z.bits {
	case 4:
		return int64(z.rows[i/2] >> (4 - 4*(i%2)) & 15)
	case 8:
		return int64(z.rows[i])
	case 16:
		return int64(binary.BigEndian.Uint16(z.rows[2*i:]))
	default:
		return int64(binary.BigEndian.Uint32(z.rows[4*i:]))
	}
}

// sizes reads stsz or stz2 (8.7.3).
func (m *mp4Scanner) sizes(stbl box) (z sampleSizes, err error) {
	b, found, err := m.find(stbl, "stsz", "stz2")
	if err != nil || !found {
		return z, err
	}
	p, err := m.read(b.start, 12)
	if err != nil || len(p) < 12 {
		return z, err
	}
	z.bits = 32
	if b.kind == "stz2" {
		z.bits = int(p[7])
	} else {
		z.all = int64(binary.BigEndian.Uint32(p[4:]))
	}
	count := binary.BigEndian.Uint32(p[8:])
	if count > maxSamples || !slices.Contains([]int{4, 8, 16, 32}, z.bits) {
		return z, malformed("a track has too many samples")
	}
	z.count = int(count)
	if z.all > 0 {
		return z, nil
	}
	if z.rows, err = m.table(b, 12, 1); err != nil {
		return z, err
	}
	z.count = min(z.count, len(z.rows)*8/z.bits)
	return z, nil
}
