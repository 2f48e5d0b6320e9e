package metadata

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// Tags of EXIF. CIPA DC-008 (Exif 2.32), 4.6
const (
	tagOrientation = 0x0112
	tagArtist      = 0x013B
	tagCopyright   = 0x8298
	tagExif        = 0x8769
	tagGPS         = 0x8825
	tagInterop     = 0xA005
)

const (
	maxDirectories = 16
	maxEntries     = 1000 // of a directory
)

// exif classifies the content of a TIFF structure. An unreadable one is Other.
func (s *scanner) exif(tiff []byte) {
	t := &tiffWalker{tiff: tiff, order: binary.BigEndian, seen: map[uint32]bool{}}
	switch {
	case bytes.HasPrefix(tiff, []byte("II*\x00")):
		t.order = binary.LittleEndian
	case !bytes.HasPrefix(tiff, []byte("MM\x00*")):
		s.saw(Other)
		return
	}
	if len(tiff) < 8 {
		s.saw(Other)
		return
	}
	first, entries := true, 0
	next := t.order.Uint32(tiff[4:])
	for next != 0 {
		second := !first
		first = false
		next = t.directory(next, func(tag uint16, value []byte) {
			entries++
			if second { // of the thumbnail
				s.saw(Thumbnail)
				return
			}
			s.exifTag(t, tag, value)
		})
	}
	if entries == 0 {
		s.saw(Other)
	}
}

func (s *scanner) exifTag(t *tiffWalker, tag uint16, value []byte) {
	switch tag {
	case tagOrientation:
		if len(value) >= 2 {
			s.oriented(int(t.order.Uint16(value)))
		}
	case tagGPS:
		t.inside(value, func(uint16, []byte) { s.saw(Location) })
	case tagExif, tagInterop:
		t.inside(value, func(tag uint16, value []byte) { s.exifTag(t, tag, value) })
	case tagArtist:
		s.saw(Author)
		s.credit.creators(sourceEXIF, strings.Split(text(value), ";")...)
	case tagCopyright:
		s.saw(Author)
		s.credit.copyright(sourceEXIF, strings.ReplaceAll(text(value), "\x00", " "))
	// ImageDescription, UserComment, XPTitle, XPComment, XPKeywords, XPSubject
	case 0x010E, 0x9286, 0x9C9B, 0x9C9C, 0x9C9E, 0x9C9F:
		s.saw(Description)
	case 0x9C9D, 0xA430: // XPAuthor, CameraOwnerName
		s.saw(Author)
	case 0x0132, 0x9003, 0x9004, 0x9010, 0x9011, 0x9012, 0x9290, 0x9291, 0x9292: // DateTime and its relatives
		s.saw(Date)
	case 0x000B, 0x0131, 0x013C: // ProcessingSoftware, Software, HostComputer
		s.saw(Software)
	case 0x010F, 0x0110, 0x829A, 0x829D, 0x8827, 0x920A, 0x927C, 0xA431, 0xA432, 0xA433, 0xA434, 0xA435:
		// Make, Model, ExposureTime, FNumber, ISO, FocalLength, MakerNote, BodySerialNumber, Lens…
		s.saw(Camera)
	}
}

// tiffWalker walks the directories of a TIFF structure, each once.
type tiffWalker struct {
	tiff  []byte
	order binary.ByteOrder
	seen  map[uint32]bool
}

// directory yields every entry of a directory, and the offset of the next one.
func (t *tiffWalker) directory(offset uint32, see func(tag uint16, value []byte)) (next uint32) {
	if t.seen[offset] || len(t.seen) >= maxDirectories || uint64(offset)+2 > uint64(len(t.tiff)) {
		return 0
	}
	t.seen[offset] = true
	at := uint64(offset)
	count := int(t.order.Uint16(t.tiff[at:]))
	at += 2
	for i := range count {
		if i >= maxEntries || at+12 > uint64(len(t.tiff)) {
			return 0
		}
		entry := t.tiff[at : at+12]
		see(t.order.Uint16(entry), t.value(entry))
		at += 12
	}
	if at+4 > uint64(len(t.tiff)) {
		return 0
	}
	return t.order.Uint32(t.tiff[at:])
}

func (t *tiffWalker) inside(pointer []byte, see func(tag uint16, value []byte)) {
	if len(pointer) >= 4 {
		t.directory(t.order.Uint32(pointer), see)
	}
}

// value returns an entry's value; nil if it is out of bounds. TIFF 6.0, 2
func (t *tiffWalker) value(entry []byte) []byte {
	sizes := [...]uint64{1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4}
	kind := t.order.Uint16(entry[2:])
	if int(kind) >= len(sizes) || sizes[kind] == 0 {
		return nil
	}
	length := sizes[kind] * uint64(t.order.Uint32(entry[4:]))
	if length <= 4 {
		return entry[8 : 8+length]
	}
	from := uint64(t.order.Uint32(entry[8:]))
	if from+length > uint64(len(t.tiff)) {
		return nil
	}
	return t.tiff[from : from+length]
}

// orientationOnly is a TIFF structure with the orientation only.
func orientationOnly(value int) []byte {
	out := []byte("MM\x00*\x00\x00\x00\x08\x00\x01")
	out = binary.BigEndian.AppendUint16(out, tagOrientation)
	out = append(out, 0, 3, 0, 0, 0, 1)                     // one SHORT
	out = binary.BigEndian.AppendUint16(out, uint16(value)) //nolint:gosec // 1 to 8
	return append(out, 0, 0, 0, 0, 0, 0)
}
