package metadata

import (
	"encoding/binary"
	"math"
	"slices"
)

// maxDepth bounds how deep boxes are nested.
const maxDepth = 8

// preservedBoxes lists the boxes that a player needs inside each kind of box; the empty
// name is the file. ISO/IEC 14496-12 (ISO base media file format), 14496-14, and the
// QuickTime File Format. Boxes that are not keys are kept unchanged.
func preservedBoxes(parent string) []string {
	switch parent {
	case "":
		return []string{"ftyp", "styp", "moov", "moof", "mfra", "mdat", "sidx", "ssix", "pdin"}
	case "moov":
		return []string{"mvhd", "iods", "trak", "mvex", "pssh"}
	case "trak":
		return []string{"tkhd", "edts", "mdia", "tref", "trgr", "tapt", "clip", "matt", "load"}
	case "edts":
		return []string{"elst"}
	case "mdia":
		return []string{"mdhd", "hdlr", "elng", "minf"}
	case "minf":
		return []string{"vmhd", "smhd", "hmhd", "nmhd", "sthd", "gmhd", "dinf", "hdlr", "stbl"}
	case "gmhd":
		return []string{"gmin", "text"}
	case "dinf":
		return []string{"dref"}
	case "stbl":
		return []string{
			"stsd", "stts", "ctts", "cslg", "stss", "stsh", "stps", "sdtp", "stsz", "stz2", "stsc", "stco",
			"co64", "sbgp", "sgpd", "csgp", "subs", "saiz", "saio", "padb", "stdp",
		}
	case "mvex":
		return []string{"mehd", "trex", "leva", "trep"}
	case "moof":
		return []string{"mfhd", "traf", "pssh"}
	case "traf":
		return []string{"tfhd", "tfdt", "trun", "sdtp", "sbgp", "sgpd", "csgp", "subs", "saiz", "saio", "senc"}
	case "mfra":
		return []string{"tfra", "mfro"}
	}
	return nil
}

// mp4Clues are the names under which cameras and editors store metadata: user data of
// QuickTime and 3GPP, the keys of QuickTime metadata, iTunes' names, XMP.
// https://developer.apple.com/documentation/quicktime-file-format/user_data_atoms 3GPP
// TS 26.244, 8;
// https://developer.apple.com/documentation/quicktime-file-format/metadata_item_keys_atom
func mp4Clues() []clue {
	clues := xmpClues()
	return append(clues,
		clue{Location, []string{"\xA9xyz", "quicktime.location", "gpmf", "freegps", "ligogps"}},
		clue{Camera, []string{
			"\xA9mak", "\xA9mod", "@mak", "@mod", "manu", "modl", "cinf", "quicktime.make",
			"quicktime.model", "quicktime.camera", "lens", "gpmf", "firm", "muid", "cncv", "smta",
		}},
		clue{
			Author, []string{
				"\xA9ART", "\xA9aut", "\xA9cpy", "\xA9prd", "\xA9dir", "auth", "cprt", "perf",
				"quicktime.author", "quicktime.artist", "quicktime.copyright", "quicktime.creator",
			},
		},
		clue{
			Description, []string{
				"\xA9nam", "\xA9cmt", "\xA9des", "\xA9inf", "titl", "dscp", "keywords",
				"quicktime.title", "quicktime.description", "quicktime.comment",
			},
		},
		clue{Date, []string{"\xA9day", "creationdate", "yrrc"}},
		clue{Software, []string{"\xA9swr", "\xA9too", "\xA9enc", "quicktime.software", "encoder"}},
		clue{Thumbnail, []string{"thmb", "\xFF\xD8\xFF"}},
	)
}

type box struct {
	kind       string
	at         int64 // of the header
	start, end int64 // of the content
}

// mp4 keeps what a player needs. Removed boxes become free boxes of the same length
// filled with zeros, and so does every byte of media that no sample of a kept track
// covers: the tables with the offsets of samples stay valid, and a video is neither read
// nor written as a whole.
func (s *scanner) mp4() error {
	m := &mp4Scanner{scanner: s, defaults: map[uint32]uint32{}, budget: maxLooked}
	for at := int64(0); at < s.size; {
		b, err := m.box(at, s.size)
		if err != nil {
			return err
		}
		if b.kind == "" { // appended by some cameras, or a video that is cut short
			if !m.isCutShort(at) {
				if err := m.orphan(at, s.size); err != nil {
					return err
				}
				s.plan.cut(at, s.size)
			}
			break
		}
		if err := m.visit("", b, 0); err != nil {
			return err
		}
		at = b.end
	}
	if err := m.chooseTracks(); err != nil {
		return err
	}
	if err := m.clearPictureData(); err != nil {
		return err
	}
	return m.clearMedia()
}

const (
	// maxBoxes bounds how many boxes are walked: hours of short fragments have millions.
	maxBoxes = 1 << 22
	// maxLooked bounds how much of data that no track explains is read to classify it.
	// It is removed completely, whatever its length.
	maxLooked = 8 << 20
)

type mp4Scanner struct {
	*scanner
	parts    int
	budget   int64 // of maxLooked
	media    []box // mdat
	moofs    []box
	indexes  []box             // of one track each: tfra, sidx
	covered  []span            // samples of kept tracks
	track    *mp4Track         // that is walked
	tracks   []*mp4Track       // all
	defaults map[uint32]uint32 // sample sizes of fragments, by track
}

// mp4Track is one track.
type mp4Track struct {
	box
	id         uint32
	handler    string
	codec      string // of the first sample description
	unit       int64  // bytes per sample that the description of sound implies
	units      nalFormat
	samples    box   // stbl
	references []box // in tref
	dropped    bool
}

// box reads a header; its kind is empty where none fits before limit.
func (m *mp4Scanner) box(at, limit int64) (box, error) {
	if m.parts++; m.parts > maxBoxes {
		return box{}, malformed("it has too many boxes")
	}
	head, err := m.read(at, 16)
	if err != nil || len(head) < 8 {
		return box{}, err
	}
	b := box{kind: string(head[4:8]), at: at, start: at + 8}
	switch length := int64(binary.BigEndian.Uint32(head)); length {
	case 0: // to the end
		b.end = limit
	case 1: // 64 bits follow
		if len(head) < 16 {
			return box{}, nil
		}
		large := binary.BigEndian.Uint64(head[8:])
		if large > math.MaxInt64 || int64(large) > limit-at {
			return box{}, nil
		}
		b.start, b.end = at+16, at+int64(large)
	default:
		b.end = at + length
	}
	if b.end < b.start || b.end > limit {
		return box{}, nil
	}
	return b, nil
}

// isCutShort reports whether the media of the file begin here and end beyond its end.
func (m *mp4Scanner) isCutShort(at int64) bool {
	head, err := m.read(at, 16)
	if err != nil || len(head) < 16 || string(head[4:8]) != "mdat" {
		return false
	}
	start := at + 8
	if binary.BigEndian.Uint32(head) == 1 {
		start = at + 16
	}
	m.media = append(m.media, box{kind: "mdat", at: at, start: start, end: m.size})
	return true
}

func (m *mp4Scanner) children(parent box, depth int) error {
	if depth > maxDepth {
		return malformed("its boxes are nested too deeply")
	}
	for at := parent.start; at+8 <= parent.end; {
		b, err := m.box(at, parent.end)
		if err != nil {
			return err
		}
		if b.kind == "" {
			return malformed("a box does not fit into the one around it")
		}
		if err := m.visit(parent.kind, b, depth); err != nil {
			return err
		}
		at = b.end
	}
	return nil
}

// visit keeps a box and its content, or frees it.
func (m *mp4Scanner) visit(parent string, b box, depth int) error {
	if preserved := preservedBoxes(parent); preserved != nil && !slices.Contains(preserved, b.kind) {
		return m.free(b)
	}
	switch b.kind {
	case "trak":
		return m.trak(b, depth)
	case "moof":
		m.moofs = append(m.moofs, b)
	case "mdat":
		m.media = append(m.media, b)
	case "trex":
		return m.sampleSize(b)
	case "tfra", "sidx":
		m.indexes = append(m.indexes, b)
	case "mvhd", "mdhd", "tkhd":
		return m.header(b)
	case "hdlr":
		return m.handler(parent, b)
	case "dref":
		return m.dataReferences(b)
	case "tref":
		if m.track != nil {
			return m.each(b, func(list box) error {
				m.track.references = append(m.track.references, list)
				return nil
			})
		}
	case "stbl":
		if m.track != nil {
			m.track.samples = b
		}
	}
	if preservedBoxes(b.kind) != nil {
		return m.children(b, depth+1)
	}
	return nil
}

// free turns a box into a free box filled with zeros.
func (m *mp4Scanner) free(b box) error {
	content, err := m.read(b.start, b.end-b.start)
	if err != nil {
		return err
	}
	switch b.kind {
	case "free", "skip", "wide":
		if isZero(content) {
			if b.end-b.start > maxBlock {
				m.plan.zero(b.start, b.end)
			}
			return nil
		}
		// Some cameras store notes here; others leave random bytes.
		m.saw(Other)
		m.seePlaces(content)
	default:
		content = append([]byte(b.kind), content...)
		m.classify(content, mp4Clues())
		m.seePlaces(content)
		m.plan.overwrite(b.at+4, []byte("free"))
	}
	m.plan.zero(b.start, b.end)
	return nil
}

// header clears the times of creation and change (8.2.2, 8.3.2, 8.4.2): zero
// means that they are not known.
func (m *mp4Scanner) header(b box) error {
	p, err := m.read(b.start, 24)
	if err != nil {
		return err
	}
	if len(p) < 24 {
		return malformed("a header is too short")
	}
	length := int64(8)
	if p[0] == 1 {
		length = 16
	}
	if !isZero(p[4 : 4+length]) {
		m.saw(Date)
		m.plan.zero(b.start+4, b.start+4+length)
	}
	if b.kind == "tkhd" && m.track != nil {
		m.track.id = binary.BigEndian.Uint32(p[4+length:])
	}
	return nil
}

// handler records the type of a track, and clears the name that its creator gave it
// (8.4.3).
func (m *mp4Scanner) handler(parent string, b box) error {
	p, err := m.read(b.start, min(b.end-b.start, 1024))
	if err != nil {
		return err
	}
	if len(p) < 24 {
		return malformed("a handler is too short")
	}
	if parent == "mdia" && m.track != nil {
		m.track.handler = string(p[8:12])
	}
	if !isZero(p[12:16]) || !isZero(p[24:]) {
		m.saw(Software)
		m.plan.zero(b.start+12, b.start+16) // QuickTime's manufacturer
		m.plan.zero(b.start+24, b.end)
	}
	return nil
}

func (m *mp4Scanner) trak(b box, depth int) error {
	t := &mp4Track{box: b}
	m.track = t
	defer func() { m.track = nil }()
	if err := m.children(b, depth+1); err != nil {
		return err
	}
	if t.handler == "" {
		return malformed("a track has no type")
	}
	m.tracks = append(m.tracks, t)
	return m.describe(t)
}

// each yields the boxes in another one, as far as they can be followed.
func (m *mp4Scanner) each(parent box, yield func(box) error) error {
	for at := parent.start; at+8 <= parent.end; {
		b, err := m.box(at, parent.end)
		if err != nil || b.kind == "" {
			return err
		}
		if err := yield(b); err != nil {
			return err
		}
		at = b.end
	}
	return nil
}

// dataReferences clears where media outside of the file would be: names of files and
// volumes (8.7.2; QuickTime's aliases).
func (m *mp4Scanner) dataReferences(b box) error {
	return m.each(box{start: b.start + 8, end: b.end}, func(entry box) error {
		content, err := m.read(entry.start+4, entry.end-entry.start-4)
		if err == nil && !isZero(content) {
			m.saw(Other)
			m.plan.zero(entry.start+4, entry.end)
		}
		return err
	})
}
