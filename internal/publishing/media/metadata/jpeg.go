package metadata

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// Markers of a JPEG. ITU-T T.81, table B.1
const (
	markSOI  = 0xD8
	markEOI  = 0xD9
	markSOS  = 0xDA
	markAPP0 = 0xE0
	markCOM  = 0xFE
)

const (
	exifHead  = "Exif\x00\x00"
	xmpHead   = "http://ns.adobe.com/xap/1.0/\x00"
	xmpMore   = "http://ns.adobe.com/xmp/extension/\x00"
	photoshop = "Photoshop 3.0\x00"
	iccHead   = "ICC_PROFILE\x00"
)

// jpeg keeps what a decoder needs: tables, frames, scans, the size from JFIF, the color
// transform from Adobe's segment, and the color profile. The file ends with its end
// marker.
func (s *scanner) jpeg() error {
	j := &jpegScanner{scanner: s, in: bufio.NewReaderSize(io.NewSectionReader(s.r, 0, s.size), 64<<10)}
	head := make([]byte, 2)
	if _, err := io.ReadFull(j.in, head); err != nil || head[0] != 0xFF || head[1] != markSOI {
		return malformed("it does not begin like a JPEG")
	}
	j.at, j.head = 2, 2
	var blocks [][]byte
	if err := j.walk(); err != nil {
		return err
	}
	if s.options.KeepOrientation && s.plan.Orientation > 1 {
		blocks = append(blocks, segment(0xE1, append([]byte(exifHead), orientationOnly(s.plan.Orientation)...)))
	}
	if s.options.KeepCredit && !s.credit.empty() {
		s.plan.Credit = slices.Concat(segment(0xED, s.credit.photoshop()),
			segment(0xE1, append([]byte(xmpHead), s.credit.xmp()...)))
		blocks = append(blocks, s.plan.Credit)
	}
	s.plan.insert(j.head, slices.Concat(blocks...))
	return nil
}

// CreditOffset is where Plan.Credit belongs in a new file of the type.
func CreditOffset(mimeType string) int {
	if mimeType == "image/png" {
		return pngHeader
	}
	return 2
}

// segment is a marker segment.
func segment(marker byte, body []byte) []byte {
	out := binary.BigEndian.AppendUint16([]byte{0xFF, marker}, uint16(len(body)+2)) //nolint:gosec // callers bound it
	return append(out, body...)
}

type jpegScanner struct {
	*scanner
	in   *bufio.Reader
	at   int64 // of in
	head int64 // after the header of JFIF, which comes first
}

func (j *jpegScanner) byte() (byte, error) {
	b, err := j.in.ReadByte()
	if err == nil {
		j.at++
	}
	return b, err
}

// marker advances to the next marker, as libjpeg does: past bytes that belong to no
// segment, which are removed unless they are image data.
func (j *jpegScanner) marker(data bool) (marker byte, at int64, err error) {
	from := j.at
	for {
		chunk, err := j.in.ReadSlice(0xFF)
		j.at += int64(len(chunk))
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			return 0, j.at, err
		}
		next := byte(0xFF)
		for next == 0xFF { // fill bytes (B.1.1.2)
			if next, err = j.byte(); err != nil {
				return 0, j.at, err
			}
		}
		// Stuffed bytes and restart markers belong to the data (B.1.1.5, F.1.2.3).
		if next == 0 || data && next >= 0xD0 && next <= 0xD7 {
			continue
		}
		at = j.at - 2
		if !data && at > from {
			j.plan.cut(from, at)
		}
		return next, at, nil
	}
}

func (j *jpegScanner) walk() error {
	data := false
	for range maxParts {
		from := j.at
		marker, at, err := j.marker(data)
		if errors.Is(err, io.EOF) { // truncated; viewers show the rest
			if !data {
				j.plan.cut(from, j.size)
			}
			return nil
		}
		if err != nil {
			return err
		}
		data = false
		switch {
		case marker == markEOI:
			return j.tail()
		case marker == markSOI, marker == 0x01, marker >= 0xD0 && marker <= 0xD7: // without a length
			j.plan.cut(at, j.at)
			continue
		}
		var length [2]byte
		if _, err := io.ReadFull(j.in, length[:]); err != nil {
			return j.cutShort(at, err)
		}
		j.at += 2
		rest := int64(binary.BigEndian.Uint16(length[:])) - 2
		if rest < 0 {
			return j.cutShort(at, io.ErrUnexpectedEOF)
		}
		body := make([]byte, rest)
		if _, err := io.ReadFull(j.in, body); err != nil {
			return j.cutShort(at, err)
		}
		j.at += rest
		j.segment(marker, body, at)
		data = marker == markSOS
	}
	return malformed("it has too many segments")
}

// cutShort ends the file before an incomplete segment.
func (j *jpegScanner) cutShort(at int64, err error) error {
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	j.plan.replace(at, j.size, []byte{0xFF, markEOI})
	return nil
}

// tail removes everything after the end marker: further pictures (CIPA DC-007, MPF),
// the video of a motion photo, or anything else.
func (j *jpegScanner) tail() error {
	if j.at >= j.size {
		return nil
	}
	head, err := j.read(j.at, 64<<10)
	if err != nil {
		return err
	}
	if bytes.Contains(head, []byte{0xFF, markSOI, 0xFF}) {
		j.saw(Thumbnail)
	} else {
		j.saw(Other)
	}
	j.plan.cut(j.at, j.size)
	return nil
}

// segment cuts a segment that no decoder needs, or the part of it that none
// needs.
func (j *jpegScanner) segment(marker byte, body []byte, at int64) {
	isAPP := marker&0xF0 == markAPP0
	switch {
	case marker == markAPP0 && bytes.HasPrefix(body, []byte("JFIF\x00")) && len(body) >= 14:
		if at == j.head {
			j.head = j.at
		}
		if len(body) > 14 || body[12] != 0 || body[13] != 0 {
			j.saw(Thumbnail)
			j.plan.replace(at, j.at, segment(marker, append(body[:12:12], 0, 0)))
		}
		return
	case marker == 0xE2 && bytes.HasPrefix(body, []byte(iccHead)):
		return
	case marker == 0xEE && bytes.HasPrefix(body, []byte("Adobe")) && len(body) >= 12:
		if len(body) > 12 {
			j.saw(Other)
			j.plan.replace(at, j.at, segment(marker, body[:12]))
		}
		return
	case !isAPP && marker >= 0xC0 && marker <= 0xDF: // frames, tables, scans
		return
	}
	j.plan.cut(at, j.at)
	if rest, ok := bytes.CutPrefix(body, []byte(exifHead)); marker == 0xE1 && ok {
		j.exif(rest)
		return
	}
	if rest, ok := bytes.CutPrefix(body, []byte(xmpHead)); marker == 0xE1 && ok {
		j.xmp(rest)
		return
	}
	if rest, ok := bytes.CutPrefix(body, []byte(xmpMore)); marker == 0xE1 && ok {
		j.classify(rest, xmpClues())
		return
	}
	if rest, ok := bytes.CutPrefix(body, []byte(photoshop)); marker == 0xED && ok {
		j.photoshop(rest)
		return
	}
	switch {
	case marker == markCOM:
		j.saw(Description)
	case marker == 0xE2 && bytes.HasPrefix(body, []byte("MPF\x00")), marker == markAPP0 &&
		bytes.HasPrefix(body, []byte("JFXX\x00")):
		j.saw(Thumbnail)
	default:
		j.saw(Other)
	}
}
