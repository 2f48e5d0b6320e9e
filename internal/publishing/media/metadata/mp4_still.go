package metadata

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// maxStill limits the size of a picture file in a video track.
const maxStill = 64 << 20

// stillType returns the type of the picture files that are the samples of a track, for
// codecs that have them. They can have metadata of their own.
func stillType(codec string) string {
	switch codec {
	case "jpeg", "mjpa":
		return "image/jpeg"
	case "png ":
		return "image/png"
	case "mjp2", "jp2 ", "tiff", "gif ":
		return codec
	}
	return ""
}

// choosePictures drops pictures beside a video, such as covers and the pictures of
// chapters, and cleans the frames of a video that consists of picture files.
func (m *mp4Scanner) choosePictures() error {
	isPicture := func(t *mp4Track) bool { return t.handler == "vide" || t.handler == "pict" }
	hasVideo := slices.ContainsFunc(m.tracks, func(t *mp4Track) bool {
		return isPicture(t) && stillType(t.codec) == ""
	})
	isFirst := true
	for _, t := range m.tracks {
		kind := stillType(t.codec)
		if !isPicture(t) || kind == "" {
			continue
		}
		if hasVideo || !isFirst {
			t.dropped = true
			m.saw(Thumbnail)
			if err := m.seePicture(t, kind); err != nil {
				return err
			}
			continue
		}
		isFirst = false
		if err := m.cleanPictures(t, kind); err != nil {
			return err
		}
	}
	return nil
}

// seePicture reports the metadata of a picture that is removed.
func (m *mp4Scanner) seePicture(t *mp4Track, kind string) error {
	if kind != "image/jpeg" && kind != "image/png" {
		return nil
	}
	content, err := m.sampleContent(t, maxBlock)
	if err != nil {
		return err
	}
	plan, err := Scan(bytes.NewReader(content), int64(len(content)), kind, Options{})
	if err != nil {
		return nil //nolint:nilerr // it is removed, whatever it is
	}
	m.saw(plan.Removed...)
	return nil
}

// cleanPictures clears the metadata of every frame in place.
func (m *mp4Scanner) cleanPictures(t *mp4Track, kind string) error {
	whole := int64(0)
	return m.eachSample(t, func(at, length int64) error {
		if whole += length; length > maxStill || whole > 2*m.size || len(m.plan.edits) > maxParts {
			return malformed("its pictures are too large or too many")
		}
		p := make([]byte, max(0, min(length, m.size-at)))
		if n, err := m.r.ReadAt(p, at); n < len(p) {
			return err
		}
		var parts []span
		switch kind {
		case "image/jpeg":
			parts = jpegMetadata(p)
		case "image/png":
			parts = pngMetadata(p)
		default:
			return malformed("it consists of %s pictures, whose metadata cannot be removed", kind)
		}
		isSeen := false
		for _, part := range parts {
			if isZero(p[part.start:part.end]) {
				continue
			}
			if kind == "image/png" && part.end < int64(len(p)) {
				// A chunk without meaning: ancillary, private, safe to copy.
				m.plan.overwrite(at+part.start-4, []byte("noNe"))
				sum := crc32.ChecksumIEEE(append([]byte("noNe"), make([]byte, part.end-part.start)...))
				m.plan.overwrite(at+part.end, binary.BigEndian.AppendUint32(nil, sum))
			}
			m.plan.zero(at+part.start, at+part.end)
			isSeen = true
		}
		if isSeen {
			if plan, err := Scan(bytes.NewReader(p), int64(len(p)), kind, Options{}); err == nil {
				m.saw(plan.Removed...)
			}
			m.saw(Other)
		}
		return nil
	})
}

// jpegMetadata returns the contents of segments that do not change how a frame is shown,
// and what follows its end. A frame may consist of two fields, one after the other
// (QuickTime File Format, "Motion-JPEG").
func jpegMetadata(p []byte) (parts []span) {
	for at := 0; ; {
		if at+2 > len(p) || p[at] != 0xFF || p[at+1] != 0xD8 {
			return append(parts, span{int64(at), int64(len(p))})
		}
		var found []span
		found, at = jpegFieldMetadata(p, at+2)
		parts = append(parts, found...)
		for at < len(p) && (p[at] == 0 || p[at] == 0xFF && at+1 < len(p) && p[at+1] != 0xD8) {
			at++
		}
		if at >= len(p) {
			return parts
		}
	}
}

// jpegFieldMetadata returns the parts in one field and where it ends. ITU-T T.81, B
func jpegFieldMetadata(p []byte, at int) (parts []span, end int) {
	for at+4 <= len(p) {
		if p[at] != 0xFF || p[at+1] == 0 || p[at+1] == 0xFF || p[at+1] >= 0xD0 && p[at+1] <= 0xD7 {
			next := bytes.IndexByte(p[at+1:], 0xFF) // coded data
			if next < 0 {
				return parts, len(p)
			}
			at += 1 + next
			continue
		}
		marker := p[at+1]
		if marker == 0xD9 {
			return parts, at + 2
		}
		from, to := at+4, min(at+2+int(binary.BigEndian.Uint16(p[at+2:])), len(p))
		if to < from {
			return parts, to
		}
		body := p[from:to]
		if !isFrameSegment(marker, body) {
			parts = append(parts, span{int64(from), int64(to)})
		}
		at = to
	}
	return parts, len(p)
}

// isFrameSegment reports whether a segment changes how a frame is shown: JFIF and the header
// of AVI without pictures, Adobe's colors, a profile, and the fields of Motion-JPEG A.
func isFrameSegment(marker byte, body []byte) bool {
	switch marker {
	case 0xE0:
		return len(body) <= 16
	case 0xE1:
		return len(body) > 8 && len(body) <= 40 && string(body[4:8]) == "mjpg"
	case 0xE2:
		return bytes.HasPrefix(body, []byte("ICC_PROFILE\x00"))
	case 0xEE:
		return len(body) <= 12 && bytes.HasPrefix(body, []byte("Adobe"))
	}
	return marker != 0xFE && (marker < 0xE0 || marker > 0xEF)
}

// pngMetadata returns the contents of chunks that do not change how a picture is shown.
func pngMetadata(p []byte) (parts []span) {
	at := 8
	for at+12 <= len(p) {
		end := at + 12 + int(binary.BigEndian.Uint32(p[at:]))
		if end > len(p) || end < at {
			break
		}
		kind := string(p[at+4 : at+8])
		if !isPreservedChunk(kind) && kind != "noNe" {
			parts = append(parts, span{int64(at + 8), int64(end - 4)})
		}
		if at = end; kind == "IEND" && at < len(p) {
			return append(parts, span{int64(at), int64(len(p))})
		}
	}
	return parts
}

// objectType recognizes picture files behind the codec mp4v. ISO/IEC 14496-1, 7.2.6.6;
// https://mp4ra.org/registered-types/object-types
func (m *mp4Scanner) objectType(t *mp4Track, esds box) error {
	p, err := m.read(esds.start, min(esds.end-esds.start, 64))
	if err != nil {
		return err
	}
	fields := reader{p}
	fields.take(4)
	next := func(tag int64) bool {
		if fields.take(1) != tag {
			return false
		}
		for fields.take(1)&0x80 != 0 { // the length
			if len(fields.rest) == 0 {
				return false
			}
		}
		return true
	}
	if !next(3) {
		return nil
	}
	fields.take(2)
	flags := fields.take(1)
	if flags&0x80 != 0 {
		fields.take(2)
	}
	if flags&0x40 != 0 {
		fields.take(int(fields.take(1)))
	}
	if flags&0x20 != 0 {
		fields.take(2)
	}
	if !next(4) {
		return nil
	}
	switch fields.take(1) {
	case 0x6C:
		t.codec = "jpeg"
	case 0x6D:
		t.codec = "png "
	case 0x6E:
		t.codec = "jp2 "
	}
	return nil
}
