package metadata

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// maxSamples limits the number of samples of a track whose sizes differ: ten hours at 200
// a second.
const maxSamples = 8_000_000

// maxText limits the text of a track that is kept: a day of captions has a megabyte.
const maxText = 16 << 20

func containsAny(block []byte, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(block, []byte(word)) })
}

// chooseTracks drops tracks that are neither picture nor sound nor text without
// positions.
func (m *mp4Scanner) chooseTracks() error {
	if err := m.choosePictures(); err != nil {
		return err
	}
	for _, t := range m.tracks {
		if err := m.chooseTrack(t); err != nil {
			return err
		}
	}
	for _, t := range m.tracks {
		if t.dropped {
			m.plan.overwrite(t.at+4, []byte("free"))
			m.plan.zero(t.start, t.end)
		} else if err := m.clearReferences(t); err != nil {
			return err
		}
	}
	return m.clearIndexes()
}

// chooseTrack decides about a track that is no picture. Dropped are the positions and
// settings that cameras record (Apple's timed metadata, GoPro's gpmd, Google's camm,
// Sony's rtmd), whatever its handler is called; time codes, which are the time of day; and
// texts with positions, which drones and dashcams write as subtitles.
func (m *mp4Scanner) chooseTrack(t *mp4Track) error {
	switch t.handler {
	case "vide", "auxv", "soun", "pict":
		return nil // see choosePictures
	case "text", "sbtl", "subt", "clcp":
		text, err := m.content(t, maxText+1)
		if err != nil {
			return err
		}
		if t.handler == "clcp" { // CEA-608 has a parity bit in every byte
			plain := slices.Clone(text)
			for i := range plain {
				plain[i] &= 0x7F
			}
			text = append(text, plain...)
		}
		switch {
		case hasPosition(text):
			m.saw(Location)
			t.dropped = true
		case len(text) > maxText:
			m.saw(Other)
			t.dropped = true
		}
		return nil
	case "tmcd":
		m.saw(Date)
	case "hint", "odsm", "sdsm", "subp":
		m.saw(Other)
	default:
		m.saw(Camera)
		isPlace, err := m.isPositionData(t)
		if err != nil {
			return err
		}
		if isPlace {
			m.saw(Location)
		}
	}
	t.dropped = true
	return nil
}

// isPositionData reports whether a data track contains positions. Apple's tracks name
// their content; text shows it; other data usually have positions.
func (m *mp4Scanner) isPositionData(t *mp4Track) (bool, error) {
	content, err := m.content(t, maxBlock)
	if err != nil {
		return false, err
	}
	if t.codec == "mebx" {
		return bytes.Contains(lowerASCII(content), []byte("location")), nil
	}
	if hasPosition(content) {
		return true, nil
	}
	samples, err := m.sampleContent(t, maxBlock)
	return !isText(samples) || slices.Contains([]string{"gpmd", "camm", "rtmd"}, t.codec), err
}

// isText reports whether bytes are printable, apart from zeros and line breaks.
func isText(content []byte) bool {
	return !slices.ContainsFunc(content, func(b byte) bool {
		return b != 0 && b < ' ' && (b < '\t' || b > '\r') || b == 0x7F
	})
}

// content returns the descriptions and all samples of a track, as far as they fit.
func (m *mp4Scanner) content(t *mp4Track, limit int64) ([]byte, error) {
	b, found, err := m.find(t.samples, "stsd")
	if err != nil {
		return nil, err
	}
	var out []byte
	if found {
		if out, err = m.read(b.start, min(b.end-b.start, limit)); err != nil {
			return nil, err
		}
	}
	samples, err := m.sampleContent(t, limit-int64(len(out)))
	return append(append(out, '\n'), samples...), err
}

// sampleContent returns the samples of a track, one per line, as far as they fit.
func (m *mp4Scanner) sampleContent(t *mp4Track, limit int64) (out []byte, err error) {
	err = m.eachSample(t, func(at, length int64) error {
		for length > 0 && int64(len(out)) < limit {
			part, err := m.read(at, min(length, limit-int64(len(out))))
			if err != nil || len(part) == 0 {
				return err
			}
			out = append(out, part...)
			at, length = at+int64(len(part)), length-int64(len(part))
		}
		out = append(out, '\n')
		return nil
	})
	return out, err
}

// eachSample yields every sample of a track, those in fragments included.
func (m *mp4Scanner) eachSample(t *mp4Track, yield func(at, length int64) error) error {
	if err := m.tableSamples(t, true, yield); err != nil || len(m.moofs) == 0 {
		return err
	}
	return m.fragmentSamples(func(f fragment, at, length int64) error {
		if f.track != t.id {
			return nil
		}
		return yield(at, length)
	})
}

// clearReferences removes references to dropped tracks (8.3.3): players look for them.
func (m *mp4Scanner) clearReferences(t *mp4Track) error {
	for _, list := range t.references {
		ids, err := m.table(list, 0, 4)
		if err != nil {
			return err
		}
		remaining := uint32(0)
		for i := 0; i < len(ids); i += 4 {
			if id := binary.BigEndian.Uint32(ids[i:]); !m.isDropped(id) {
				remaining = id
			}
		}
		if remaining == 0 {
			m.plan.overwrite(list.at+4, []byte("free"))
			m.plan.zero(list.start, list.end)
			continue
		}
		for i := 0; i < len(ids); i += 4 {
			if m.isDropped(binary.BigEndian.Uint32(ids[i:])) {
				m.plan.overwrite(list.start+int64(i), binary.BigEndian.AppendUint32(nil, remaining))
			}
		}
	}
	return nil
}

// isDropped reports whether no track with an id is kept.
func (m *mp4Scanner) isDropped(id uint32) bool {
	return !slices.ContainsFunc(m.tracks, func(t *mp4Track) bool { return t.id == id && !t.dropped })
}

// clearIndexes removes indexes of dropped tracks: both kinds name their track first
// (8.8.10, 8.16.3).
func (m *mp4Scanner) clearIndexes() error {
	for _, b := range m.indexes {
		p, err := m.read(b.start, 8)
		if err != nil {
			return err
		}
		if len(p) == 8 && m.isDropped(binary.BigEndian.Uint32(p[4:])) {
			m.plan.overwrite(b.at+4, []byte("free"))
			m.plan.zero(b.start, b.end)
		}
	}
	return nil
}

// find finds a box inside of another one.
func (m *mp4Scanner) find(parent box, kinds ...string) (found box, ok bool, err error) {
	err = m.each(parent, func(b box) error {
		if !ok && slices.Contains(kinds, b.kind) {
			found, ok = b, true
		}
		return nil
	})
	return found, ok, err
}

// Lengths of the fixed fields of sample descriptions, after the header of the box
// (8.5.2, 12.1.3, 12.2.3; QuickTime File Format, "Sound sample description").
const (
	videoEntry = 78
	soundEntry = 28
)

// preservedExtensions lists the boxes of sample descriptions that configure decoders and
// presentation. https://mp4ra.org/registered-types/boxes
func preservedExtensions() []string {
	return []string{
		"avcC", "avcE", "hvcC", "hvcE", "lhvC", "vvcC", "vvnC", "evcC", "lvcC", "av1C", "vpcC", "dvcC", "dvvC", "dvwC",
		"esds", "m4ds", "glbl", "d263", "bitr", "jp2h", "jp2p", "jp2x", "jsub", "jxpl", "mjht", "fiel", "jhdr", "dvc1",
		"svcC", "mvcC", "vexu", "hfov", "eyes", "must", "hero", "colr", "pasp", "clap", "gama", "mdcv", "clli", "SmDm",
		"CoLL", "cclv", "amve", "ndwt", "reve", "st3d", "sv3d", "btrt", "sinf", "rinf", "wave", "frma", "chan", "chnl",
		"srat", "damr", "dac3", "dec3", "dac4", "dOps", "alac", "ddts", "udts", "dmlp", "mhaC", "mhaP", "pcmC", "SA3D",
		"ARES", "APRG", "ACLR",
	}
}

// describe reads the descriptions of a track's samples. In those of pictures and sound it
// clears the vendor, the name of the encoder, and boxes that no decoder needs.
func (m *mp4Scanner) describe(t *mp4Track) error {
	b, found, err := m.find(t.samples, "stsd")
	if err != nil || !found {
		return err
	}
	return m.each(box{start: b.start + 8, end: b.end}, func(entry box) error {
		fields, err := m.read(entry.start, min(entry.end-entry.start, 96))
		if err != nil {
			return err
		}
		if t.codec == "" {
			t.codec = entry.kind
		}
		var extensions int64
		switch t.handler {
		case "vide", "auxv", "pict":
			m.clearName(entry, fields, 42, 32)
			// A table of colors follows
			if extensions = videoEntry; len(fields) >= videoEntry && isZero(fields[76:78]) {
				extensions = entry.end - entry.start
			}
		case "soun":
			extensions = soundEntry + t.sound(entry.kind, fields)
		default:
			return nil
		}
		m.clearName(entry, fields, 12, 4)
		return m.each(box{start: entry.start + extensions, end: entry.end}, func(b box) error {
			if b.kind == "esds" && t.codec == "mp4v" {
				return m.objectType(t, b)
			}
			switch b.kind {
			case "dfLa":
				return m.flacBlocks(b)
			case "avcC", "hvcC":
				return m.configuration(t, b)
			}
			if slices.Contains(preservedExtensions(), b.kind) || b.end == entry.end && isZero([]byte(b.kind)) {
				return nil
			}
			return m.free(b)
		})
	})
}

// flacBlocks turns the comments, pictures and other notes of a FLAC stream into padding; a
// decoder needs the first block. RFC 9639, 8; https://github.com/xiph/flac/blob/master/doc/isoflac.txt
func (m *mp4Scanner) flacBlocks(b box) error {
	const padding, isLast = 1, 0x80
	for at := b.start + 4; at+4 <= b.end; {
		head, err := m.read(at, 4)
		if err != nil || len(head) < 4 {
			return err
		}
		kind, end := head[0]&^isLast, min(b.end, at+4+int64(binary.BigEndian.Uint32(head)&0xFFFFFF))
		if kind > padding && kind != 3 { // 3: the table for seeking
			content, err := m.read(at+4, end-at-4)
			if err != nil {
				return err
			}
			m.saw(Other)
			m.seePlaces(content)
			m.plan.overwrite(at, []byte{head[0]&isLast | padding})
			m.plan.zero(at+4, end)
		}
		at = end
	}
	return nil
}

func (m *mp4Scanner) clearName(entry box, fields []byte, from, length int) {
	if len(fields) >= from+length && !isZero(fields[from:from+length]) {
		m.saw(Software)
		m.plan.zero(entry.start+int64(from), entry.start+int64(from+length))
	}
}

// sound reads how many bytes a sample has, and returns by how much QuickTime's versions
// of the description are longer. QuickTime gives samples of sound the size 1 in tables;
// their true size follows from their description.
func (t *mp4Track) sound(codec string, p []byte) (more int64) {
	p = append(slices.Clone(p), make([]byte, 96)...)
	channels, bits := int64(binary.BigEndian.Uint16(p[16:])), int64(binary.BigEndian.Uint16(p[18:]))
	switch codec {
	case "in24":
		bits = 24
	case "in32", "fl32":
		bits = 32
	case "fl64":
		bits = 64
	}
	t.unit = max(t.unit, channels*((bits+7)/8))
	if slices.Contains(preservedExtensions(), string(p[soundEntry+4:soundEntry+8])) { // as in MP4, whatever the version
		return 0
	}
	switch binary.BigEndian.Uint16(p[8:]) {
	case 1:
		if packet := int64(binary.BigEndian.Uint32(p[28:])); packet > 0 {
			t.unit = max(t.unit, (int64(binary.BigEndian.Uint32(p[36:]))+packet-1)/packet)
		}
		return 16
	case 2:
		t.unit = max(t.unit, int64(binary.BigEndian.Uint32(p[56:])))
		return 36
	}
	return 0
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

// tableSamples follows the tables with the offsets of samples (8.7). Unless single is
// set, it may yield several samples at once.
func (m *mp4Scanner) tableSamples(t *mp4Track, single bool, yield func(at, length int64) error) error {
	sizes, err := m.sizes(t.samples)
	if err != nil {
		return err
	}
	if t.handler == "soun" && sizes.all > 0 {
		sizes.all = max(sizes.all, t.unit)
	}
	b, found, err := m.find(t.samples, "stsc")
	if err != nil || !found {
		return err
	}
	runs, err := m.table(b, 8, 12)
	if err != nil {
		return err
	}
	if b, found, err = m.find(t.samples, "stco", "co64"); err != nil || !found {
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
	if single && sizes.count > maxSamples {
		return malformed("a track has too many samples")
	}
	sample, perChunk := int64(0), int64(0)
	for i := int64(0); i < int64(len(chunks))/width && sample < sizes.count; i++ {
		for len(runs) >= 12 && int64(binary.BigEndian.Uint32(runs)) <= i+1 {
			perChunk, runs = int64(binary.BigEndian.Uint32(runs[4:])), runs[12:]
		}
		offset := uint64(0)
		for _, digit := range chunks[i*width:][:width] {
			offset = offset<<8 | uint64(digit)
		}
		at := int64(min(offset, uint64(m.size))) //nolint:gosec // at most the size
		count := min(perChunk, sizes.count-sample)
		if sizes.all > 0 && !single {
			if err := yield(at, min(count*sizes.all, m.size)); err != nil {
				return err
			}
			sample += count
			continue
		}
		for ; count > 0; count-- {
			length := sizes.of(sample)
			if err := yield(at, length); err != nil {
				return err
			}
			at = min(at+length, m.size)
			sample++
		}
	}
	return nil
}

// sampleSizes are the sizes of a track's samples.
type sampleSizes struct {
	count int64
	all   int64  // of every sample; 0: rows say
	rows  []byte // packed
	bits  int64
}

func (z sampleSizes) of(i int64) int64 {
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
		z.bits = int64(p[7])
	} else {
		z.all = int64(binary.BigEndian.Uint32(p[4:]))
	}
	z.count = int64(binary.BigEndian.Uint32(p[8:]))
	if z.all > 0 {
		return z, nil
	}
	if z.count > maxSamples || !slices.Contains([]int64{4, 8, 16, 32}, z.bits) {
		return z, malformed("a track has too many samples")
	}
	if z.rows, err = m.table(b, 12, 1); err != nil {
		return z, err
	}
	z.count = min(z.count, int64(len(z.rows))*8/z.bits)
	return z, nil
}
