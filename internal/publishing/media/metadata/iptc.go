package metadata

import (
	"bytes"
	"encoding/binary"
)

// Datasets of record 2 of IPTC-IIM 4.2.
const (
	iptcCreator   = 80
	iptcCredit    = 110
	iptcCopyright = 116
)

// photoshop reads image resources. Adobe Photoshop File Formats Specification,
// "Image Resource Blocks"
func (s *scanner) photoshop(body []byte) {
	any := false
	for len(body) >= 12 && bytes.HasPrefix(body, []byte("8BIM")) {
		id := binary.BigEndian.Uint16(body[4:])
		name := int(body[6]) + 1
		name += name % 2
		if len(body) < 6+name+4 {
			break
		}
		size := uint64(binary.BigEndian.Uint32(body[6+name:]))
		body = body[6+name+4:]
		if size > uint64(len(body)) {
			break
		}
		s.resource(id, body[:size])
		any = true
		body = body[min(size+size%2, uint64(len(body))):]
	}
	if !any {
		s.saw(Other)
	}
}

func (s *scanner) resource(id uint16, data []byte) {
	switch id {
	case 0x0404:
		s.iptc(data)
	case 0x0409, 0x040C:
		s.saw(Thumbnail)
	case 0x0422, 0x0423:
		s.exif(bytes.TrimPrefix(data, []byte(exifHead)))
	case 0x0424:
		s.xmp(data)
	case 0x03ED, 0x0406, 0x040A, 0x0425: // resolution, JPEG quality, copyright flag, digest: harmless alone
	default:
		s.saw(Other)
	}
}

// iptc reads datasets of IPTC-IIM 4.2, 1.5.
func (s *scanner) iptc(data []byte) {
	for len(data) >= 5 && data[0] == 0x1C {
		record, dataset := data[1], data[2]
		size := int(binary.BigEndian.Uint16(data[3:]))
		data = data[5:]
		if size > len(data) { // also the extended form, which is of no text
			s.saw(Other)
			return
		}
		if record == 2 {
			s.iptcField(dataset, data[:size])
		}
		data = data[size:]
	}
}

func (s *scanner) iptcField(dataset byte, value []byte) {
	switch dataset {
	case iptcCreator:
		s.saw(Author)
		s.credit.creators(sourceIPTC, text(value))
	case iptcCredit:
		s.saw(Author)
		s.credit.line(sourceIPTC, text(value))
	case iptcCopyright:
		s.saw(Author)
		s.credit.copyright(sourceIPTC, text(value))
	case 26, 27, 90, 92, 95, 100, 101: // content location, city, sublocation, state, country
		s.saw(Location)
	case 85, 115, 118, 122: // byline title, source, contact, writer
		s.saw(Author)
	case 5, 15, 20, 25, 40, 105, 120: // object name, category, keywords, instructions, headline, caption
		s.saw(Description)
	case 30, 35, 55, 60, 62, 63: // dates and times
		s.saw(Date)
	case 65, 70: // program
		s.saw(Software)
	}
}
