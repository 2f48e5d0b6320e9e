package media

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strings"
	"time"
)

// Ids of EBML elements. RFC 8794 (EBML), RFC 9559 (Matroska), 5.1
const (
	ebmlSegment        = 0x18538067
	ebmlInfo           = 0x1549A966
	ebmlTimestampScale = 0x2AD7B1
	ebmlDuration       = 0x4489
	ebmlTracks         = 0x1654AE6B
	ebmlTrackEntry     = 0xAE
	ebmlTrackType      = 0x83
	ebmlCodecID        = 0x86
	ebmlDefaultLength  = 0x23E383
	ebmlVideo          = 0xE0
	ebmlPixelWidth     = 0xB0
	ebmlPixelHeight    = 0xBA
	ebmlCluster        = 0x1F43B675
)

// ebmlElements limits the number of elements read.
const ebmlElements = 10_000

// inspectWebM reads the headers of a WebM, which precede the first cluster of frames.
// Live recordings have no duration.
func inspectWebM(r io.ReaderAt, size int64) (Facts, error) {
	w := &webmWalker{r: r, left: ebmlElements, scale: 1_000_000}
	err := w.walk(0, size, 0)
	if err != nil && !errors.Is(err, errDone) {
		return Facts{}, err
	}
	if f := &w.facts; w.duration > 0 {
		f.Duration = time.Duration(w.duration * float64(w.scale)).Round(time.Millisecond)
		if f.Duration < 0 || f.Duration > 1000*time.Hour {
			f.Duration = 0
		}
	}
	if !w.tracks {
		return Facts{}, errors.New("it has no list of tracks")
	}
	return w.facts, nil
}

// errDone ends the reading of elements early.
var errDone = errors.New("enough")

type webmWalker struct {
	r        io.ReaderAt
	left     int
	scale    uint64 // nanoseconds
	duration float64
	tracks   bool
	facts    Facts
	track    struct {
		kind          uint64
		codec         string
		width, height uint64
		frame         uint64 // nanoseconds
	}
}

// vint reads a variable-size integer (RFC 8794, 4); ids keep their length marker.
func (w *webmWalker) vint(at int64, keep bool) (value uint64, length int64, unknown bool, err error) {
	var p [8]byte
	if n, _ := w.r.ReadAt(p[:], at); n == 0 {
		return 0, 0, false, errTruncated
	}
	length = 1
	for mask := byte(0x80); mask > 0 && p[0]&mask == 0; mask >>= 1 {
		length++
	}
	if length > 8 {
		return 0, 0, false, errors.New("it has an invalid number")
	}
	value = uint64(p[0])
	if !keep {
		value &= 1<<(8-length) - 1
	}
	for _, b := range p[1:length] {
		value = value<<8 | uint64(b)
	}
	return value, length, !keep && value == 1<<(7*length)-1, nil
}

func (w *webmWalker) walk(at, end int64, depth int) error {
	for at+2 <= end {
		if w.left--; w.left < 0 {
			return errors.New("it has too many parts")
		}
		id, n, _, err := w.vint(at, true)
		if err != nil {
			return err
		}
		length, m, unknown, err := w.vint(at+n, false)
		if err != nil {
			return err
		}
		start := at + n + m
		stop := end
		if !unknown {
			if length > uint64(max(end-start, 0)) {
				if id != ebmlSegment && id != ebmlCluster {
					return errTruncated
				}
				length = uint64(max(end-start, 0)) // truncated, but its beginning may be complete
			}
			stop = start + int64(length) //nolint:gosec // at most end
		}
		if err := w.element(id, start, stop, depth); err != nil {
			return err
		}
		at = stop
	}
	return nil
}

func (w *webmWalker) element(id uint64, start, end int64, depth int) error {
	switch id {
	case ebmlSegment, ebmlInfo, ebmlVideo:
		return w.inside(start, end, depth)
	case ebmlTracks:
		w.tracks = true
		return w.inside(start, end, depth)
	case ebmlTrackEntry:
		w.track.kind, w.track.codec, w.track.width, w.track.height, w.track.frame = 0, "", 0, 0, 0
		err := w.inside(start, end, depth)
		w.noteTrack()
		return err
	case ebmlCluster:
		return errDone
	case ebmlTimestampScale, ebmlDuration, ebmlTrackType, ebmlCodecID, ebmlDefaultLength, ebmlPixelWidth,
		ebmlPixelHeight:
		p := make([]byte, min(end-start, 64))
		if n, _ := w.r.ReadAt(p, start); n < len(p) {
			return errTruncated
		}
		w.value(id, p)
	}
	return nil
}

func (w *webmWalker) inside(start, end int64, depth int) error {
	if depth > 5 {
		return errors.New("its parts are nested too deeply")
	}
	return w.walk(start, end, depth+1)
}

func (w *webmWalker) value(id uint64, p []byte) {
	number := uint64(0)
	if len(p) <= 8 {
		for _, b := range p {
			number = number<<8 | uint64(b)
		}
	}
	switch id {
	case ebmlTimestampScale:
		w.scale = number
	case ebmlDuration:
		switch len(p) {
		case 4:
			w.duration = float64(math.Float32frombits(binary.BigEndian.Uint32(p)))
		case 8:
			w.duration = math.Float64frombits(number)
		}
	case ebmlTrackType:
		w.track.kind = number
	case ebmlCodecID:
		w.track.codec = strings.TrimRight(strings.ToValidUTF8(string(p), ""), "\x00")
	case ebmlDefaultLength:
		w.track.frame = number
	case ebmlPixelWidth:
		w.track.width = number
	case ebmlPixelHeight:
		w.track.height = number
	}
}

// noteTrack uses the first video and the first audio track (RFC 9559, 5.1.4.1.3).
func (w *webmWalker) noteTrack() {
	// V_VP9 is vp9, A_OPUS opus, and V_MPEG4/ISO/AVC what it is.
	name := strings.ToLower(w.track.codec)
	if len(name) > 2 && name[1] == '_' {
		name = name[2:]
	}
	switch {
	case name == "":
	case w.track.kind == 1 && w.facts.VideoCodec == "":
		w.facts.VideoCodec = name
		w.facts.Width, w.facts.Height = int(min(w.track.width, 1<<16)), int(min(w.track.height, 1<<16)) //nolint:gosec // bounded
		if w.track.frame > 0 {
			w.facts.FrameRate = math.Round(1e12/float64(w.track.frame)) / 1000
		}
	case w.track.kind == 2 && w.facts.AudioCodec == "":
		w.facts.AudioCodec = name
	}
}
