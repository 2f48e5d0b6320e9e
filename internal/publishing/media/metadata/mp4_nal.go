package metadata

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// nalFormat says how the units of a coded picture are stored in samples (ISO/IEC 14496-15, 5.3.3.1 and 8.3.3.1).
type nalFormat struct {
	lengthSize int64 // of the number before each unit; 0: no such units
	isHEVC     bool
}

// isInformation reports whether a unit has supplemental information, by its first byte, and how long its header is
// (ITU-T H.264, 7.3.1, and H.265, 7.3.1.2).
func (f nalFormat) isInformation(first byte) (header int, ok bool) {
	if f.isHEVC {
		kind := first >> 1 & 0x3F
		return 2, kind == 39 || kind == 40
	}
	return 1, first&0x1F == 6
}

// configuration reads avcC or hvcC, and clears user data in the units that hvcC has itself.
func (m *mp4Scanner) configuration(t *mp4Track, b box) error {
	p, err := m.read(b.start, b.end-b.start)
	if err != nil {
		return err
	}
	switch {
	case b.kind == "avcC" && len(p) > 4:
		t.units = nalFormat{lengthSize: int64(p[4]&3) + 1}
	case b.kind == "hvcC" && len(p) > 22:
		t.units = nalFormat{lengthSize: int64(p[21]&3) + 1, isHEVC: true}
		rest := p[23:]
		for arrays := p[22]; arrays > 0 && len(rest) >= 3; arrays-- {
			count := binary.BigEndian.Uint16(rest[1:])
			for rest = rest[3:]; count > 0 && len(rest) >= 2; count-- {
				length := min(int(binary.BigEndian.Uint16(rest)), len(rest)-2)
				m.clearUserData(t.units, rest[2:2+length], b.start+int64(len(p)-len(rest)+2))
				rest = rest[2+length:]
			}
		}
	}
	return nil
}

// clearPictureData clears what cameras and encoders write between the pictures of a video: user data of a form of their
// own, among them the position and time of every frame (AVCHD's "MDPM").
func (m *mp4Scanner) clearPictureData() error {
	for _, t := range m.tracks {
		if t.dropped || t.units.lengthSize == 0 {
			continue
		}
		if err := m.eachSample(t, func(at, length int64) error {
			return m.units(t.units, at, min(at+length, m.size))
		}); err != nil {
			return err
		}
	}
	return nil
}

// units walks the units of a sample. Those with information come first, so that little is read of the picture.
func (m *mp4Scanner) units(f nalFormat, at, end int64) error {
	const ahead = 1 << 10
	var window []byte
	for start := at; at+f.lengthSize+1 < end; {
		if within := at - start; window == nil || within+f.lengthSize+1 > int64(len(window)) {
			var err error
			if window, err = m.read(at, min(end-at, ahead)); err != nil || int64(len(window)) <= f.lengthSize {
				return err
			}
			start = at
		}
		length := int64(0)
		for _, digit := range window[at-start:][:f.lengthSize] {
			length = length<<8 | int64(digit)
		}
		first := window[at-start+f.lengthSize]
		at += f.lengthSize
		if length > end-at { // not a sample of this form
			return nil
		}
		if _, ok := f.isInformation(first); ok {
			if len(m.plan.edits) > maxParts || length > maxBlock {
				return malformed("its pictures have too much user data")
			}
			unit, err := m.read(at, length)
			if err != nil {
				return err
			}
			m.clearUserData(f, unit, at)
		}
		at += length
	}
	return nil
}

const userDataUnregistered = 5 // a type of supplemental information: an identifier of 16 bytes, and anything

// clearUserData overwrites unregistered user data in a unit (ITU-T H.264, D.1.7, and H.265, D.2.7). All lengths stay.
func (m *mp4Scanner) clearUserData(f nalFormat, unit []byte, at int64) {
	if len(unit) == 0 {
		return
	}
	header, ok := f.isInformation(unit[0])
	if !ok || len(unit) <= header {
		return
	}
	payload, places, fixed := unescape(unit, header)
	cleared := slices.Clone(unit)
	number := func(i int) (value, next int) { // 7.3.2.3.1: bytes of 255 continue it
		for ; i < len(payload) && payload[i] == 0xFF; i++ {
			value += 0xFF
		}
		if i < len(payload) {
			value += int(payload[i])
		}
		return value, i + 1
	}
	for i := 0; i+2 < len(payload); {
		kind, next := number(i)
		length, from := number(next)
		i = from + length
		if kind != userDataUnregistered || from >= len(payload) {
			continue
		}
		end := min(i, len(payload))
		data := payload[from:end]
		if isNeededByDecoders(data) {
			continue
		}
		for _, place := range places[from:end] {
			if !fixed[place] {
				cleared[place] = 0xFF
			}
		}
		if !bytes.Equal(cleared, unit) {
			m.sawUserData(data)
		}
	}
	if !bytes.Equal(cleared, unit) {
		m.plan.overwrite(at, cleared)
	}
}

// unescape returns the content of a unit without the bytes that prevent start codes in it (ITU-T H.264, 7.4.1), where
// each byte is, and which bytes must stay so that the others remain content.
func unescape(unit []byte, header int) (payload []byte, places []int, fixed map[int]bool) {
	fixed = map[int]bool{}
	zeros := 0
	for i := header; i < len(unit); i++ {
		if zeros >= 2 && unit[i] == 3 {
			fixed[i-1], fixed[i-2] = true, true
			zeros = 0
			continue
		}
		zeros++
		if unit[i] != 0 {
			zeros = 0
		}
		payload, places = append(payload, unit[i]), append(places, i)
	}
	return payload, places, fixed
}

// isNeededByDecoders reports whether it is the version of x264, by which FFmpeg decodes what old versions did otherwise
// (x264_build in libavcodec/h264*.c).
func isNeededByDecoders(data []byte) bool {
	return len(data) > 16 && bytes.HasPrefix(data[16:], []byte("x264 - core ")) && !hasPosition(data[16:])
}

func (m *mp4Scanner) sawUserData(data []byte) {
	const identifier = 16
	if len(data) <= identifier {
		m.saw(Other)
		return
	}
	data = data[identifier:]
	rest, isCamera := bytes.CutPrefix(data, []byte("MDPM"))
	if !isCamera || len(rest) == 0 {
		m.saw(Software)
		m.seePlaces(data)
		return
	}
	m.saw(Camera, Date)
	// Fields of five bytes, each with a number; those of EXIF's GPS directory begin at 0xB0.
	for field := rest[1:]; len(field) >= 5; field = field[5:] {
		if field[0] >= 0xB0 && field[0] <= 0xCF {
			m.saw(Location)
		}
	}
}
