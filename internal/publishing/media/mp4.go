package media

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"time"
)

const (
	// mp4TopBoxes limits the boxes read until the movie box, which may be the last one.
	mp4TopBoxes = 1000
	// mp4Boxes limits the boxes read inside it, mp4Depth their nesting.
	mp4Boxes = 10_000
	mp4Depth = 8
)

// inspectMP4 reads the movie box of an MP4 or MOV with few short reads. Clause numbers
// below refer to ISO/IEC 14496-12 (ISO base media file format); QuickTime has the same
// structure.
func inspectMP4(r io.ReaderAt, size int64) (Facts, error) {
	w := &mp4Walker{r: r, left: mp4Boxes}
	at := int64(0)
	for range mp4TopBoxes {
		if at+8 > size {
			break
		}
		box, err := w.box(at, size)
		if err != nil {
			return Facts{}, err
		}
		if box.kind == "moov" {
			if err := w.children(box, 1); err != nil {
				return Facts{}, err
			}
			return w.facts()
		}
		at = box.end
	}
	return Facts{}, errors.New("it has no index (moov)")
}

type mp4Box struct {
	kind       string
	start, end int64 // of its content
}

// mp4Track describes one stream.
type mp4Track struct {
	handler       string // vide, soun, …
	codec         string
	width, height int // of the sample entry, or else of the track header
	rotation      int
	scale         uint32
	duration      uint64
	samples       uint32
	rate          int // of sound
}

type mp4Walker struct {
	r          io.ReaderAt
	left       int
	scale      uint32
	duration   uint64 // in units of scale
	fragmented uint64 // duration that a fragmented movie announces
	tracks     []mp4Track
}

// box reads the header of a box that ends at limit or before (4.2).
func (w *mp4Walker) box(at, limit int64) (mp4Box, error) {
	if w.left--; w.left < 0 {
		return mp4Box{}, errors.New("it has too many parts")
	}
	var head [16]byte
	if _, err := w.r.ReadAt(head[:8], at); err != nil {
		return mp4Box{}, errTruncated
	}
	b := mp4Box{kind: string(head[4:8]), start: at + 8}
	switch length := int64(binary.BigEndian.Uint32(head[:4])); length {
	case 0: // extends to the end
		b.end = limit
	case 1: // 64 bits follow
		if _, err := w.r.ReadAt(head[8:], at+8); err != nil {
			return mp4Box{}, errTruncated
		}
		b.start = at + 16
		large := binary.BigEndian.Uint64(head[8:])
		if large > math.MaxInt64 || int64(large) > limit-at {
			return mp4Box{}, errTruncated
		}
		b.end = at + int64(large)
	default:
		b.end = at + length
	}
	if b.end < b.start || b.end > limit {
		return mp4Box{}, errTruncated
	}
	return b, nil
}

// children calls see for every box inside a box.
func (w *mp4Walker) children(parent mp4Box, depth int) error {
	if depth > mp4Depth {
		return errors.New("its parts are nested too deeply")
	}
	for at := parent.start; at+8 <= parent.end; {
		box, err := w.box(at, parent.end)
		if err != nil {
			return err
		}
		switch box.kind {
		case "trak":
			w.tracks = append(w.tracks, mp4Track{})
			err = w.children(box, depth+1)
		case "mdia", "minf", "stbl", "mvex":
			err = w.children(box, depth+1)
		default:
			err = w.leaf(box)
		}
		if err != nil {
			return err
		}
		at = box.end
	}
	return nil
}

// head reads the first bytes of a box; missing bytes are zero.
func (w *mp4Walker) head(b mp4Box, n int64) ([]byte, error) {
	p := make([]byte, n)
	if have := min(n, b.end-b.start); have > 0 {
		if got, err := w.r.ReadAt(p[:have], b.start); int64(got) < have {
			return p, errors.Join(errTruncated, err)
		}
	}
	return p, nil
}

func (w *mp4Walker) leaf(b mp4Box) error {
	if b.kind == "mvhd" || b.kind == "mehd" {
		return w.movie(b)
	}
	if len(w.tracks) == 0 {
		return nil
	}
	t := &w.tracks[len(w.tracks)-1]
	switch b.kind {
	case "tkhd":
		return w.trackHeader(b, t)
	case "mdhd":
		p, err := w.head(b, 32)
		t.scale, t.duration = timing(p)
		return err
	case "hdlr": // 8.4.3
		p, err := w.head(b, 12)
		if t.handler == "" { // QuickTime has a second one, for the data
			t.handler = string(p[8:12])
		}
		return err
	case "stsd": // 8.5.2: version, count, and the first entry
		p, err := w.head(b, 8+36)
		if t.codec = codecName(string(p[12:16])); t.handler == "vide" {
			if width, height := int(binary.BigEndian.Uint16(p[40:])), int(binary.BigEndian.Uint16(p[42:])); width > 0 &&
				height > 0 {
				t.width, t.height = width, height
			}
		} else if t.handler == "soun" {
			t.rate = int(binary.BigEndian.Uint16(p[40:]))
		}
		return err
	case "stsz", "stz2": // 8.7.3
		p, err := w.head(b, 12)
		t.samples = binary.BigEndian.Uint32(p[8:])
		return err
	}
	return nil
}

// movie reads the header of the movie (8.2.2), or of its fragments (8.8.2).
func (w *mp4Walker) movie(b mp4Box) error {
	p, err := w.head(b, 32)
	if b.kind == "mvhd" {
		w.scale, w.duration = timing(p)
		return err
	}
	if w.fragmented = uint64(binary.BigEndian.Uint32(p[4:])); p[0] == 1 {
		w.fragmented = binary.BigEndian.Uint64(p[4:])
	}
	return err
}

// timing reads the time scale and duration, which have the same layout in mvhd and mdhd.
func timing(p []byte) (scale uint32, duration uint64) {
	if p[0] == 1 {
		return binary.BigEndian.Uint32(p[20:]), durationOrZero(binary.BigEndian.Uint64(p[24:]), math.MaxUint64)
	}
	return binary.BigEndian.Uint32(p[12:]), durationOrZero(uint64(binary.BigEndian.Uint32(p[16:])), math.MaxUint32)
}

// durationOrZero returns 0 for a duration of all one bits, which means unknown.
func durationOrZero(duration, unknown uint64) uint64 {
	if duration == unknown {
		return 0
	}
	return duration
}

// trackHeader reads the size and rotation of a track (8.3.2).
func (w *mp4Walker) trackHeader(b mp4Box, t *mp4Track) error {
	p, err := w.head(b, 96)
	matrix := p[40:]
	if p[0] == 1 {
		matrix = p[52:]
	}
	t.width = int(binary.BigEndian.Uint32(matrix[36:]) >> 16)
	t.height = int(binary.BigEndian.Uint32(matrix[40:]) >> 16)
	a, c := int32(binary.BigEndian.Uint32(matrix)), int32(binary.BigEndian.Uint32(matrix[4:])) //nolint:gosec // 16.16, signed
	turn := math.Atan2(float64(c), float64(a)) * 180 / math.Pi
	t.rotation = (int(math.Round(turn/90))*90 + 360) % 360
	return err
}

func (w *mp4Walker) facts() (Facts, error) {
	var f Facts
	maxDuration := time.Duration(0)
	for _, t := range w.tracks {
		length := seconds(t.duration, t.scale)
		maxDuration = max(maxDuration, length)
		switch {
		case t.handler == "vide" && f.VideoCodec == "":
			f.VideoCodec, f.Width, f.Height, f.Rotation = t.codec, t.width, t.height, t.rotation
			if length > 0 {
				f.FrameRate = math.Round(float64(t.samples)/length.Seconds()*1000) / 1000
			}
		case t.handler == "soun" && f.AudioCodec == "":
			f.AudioCodec, f.AudioRate = t.codec, t.rate
		}
	}
	f.Duration = seconds(w.duration, w.scale)
	if f.Duration == 0 {
		f.Duration = seconds(w.fragmented, w.scale)
	}
	if f.Duration == 0 {
		f.Duration = maxDuration
	}
	return f, nil
}

// seconds converts units of a time scale to a duration; invalid values are 0.
func seconds(units uint64, scale uint32) time.Duration {
	if scale == 0 {
		return 0
	}
	s := float64(units) / float64(scale)
	if s > (1000 * time.Hour).Seconds() {
		return 0
	}
	return time.Duration(s * float64(time.Second)).Round(time.Millisecond)
}
