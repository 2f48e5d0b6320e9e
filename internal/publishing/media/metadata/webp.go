package metadata

import (
	"bytes"
	"encoding/binary"
	"slices"
)

const (
	webpHasEXIF = 0x08
	webpHasXMP  = 0x04
)

// webp keeps pictures, animation and color profile. Preserved metadata is written at
// the end, where EXIF and XMP belong.
// https://developers.google.com/speed/webp/docs/riff_container
func (s *scanner) webp() error {
	head, err := s.read(0, 12)
	if err != nil {
		return err
	}
	if len(head) < 12 || string(head[:4]) != "RIFF" || string(head[8:]) != "WEBP" {
		return malformed("it does not begin like a WebP")
	}
	end := min(s.size, 8+int64(binary.LittleEndian.Uint32(head[4:])))
	if end < 12 {
		return malformed("it is empty")
	}
	length := int64(4) // of the RIFF chunk afterwards
	flagsAt, flags := int64(0), byte(0)
	for at, parts := int64(12), 0; at+8 <= end; parts++ {
		if parts >= maxParts {
			return malformed("it has too many chunks")
		}
		head, err := s.read(at, 12)
		if err != nil {
			return err
		}
		kind, size := string(head[:4]), int64(binary.LittleEndian.Uint32(head[4:]))
		next := min(at+8+size+size&1, end)
		isPreserved := slices.Contains([]string{"VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"}, kind)
		switch {
		case kind == "VP8X" && len(head) > 8 && flagsAt == 0:
			flagsAt, flags = at+8, head[8]
		case kind == "ANMF":
			if err := s.webpFrame(at+8+16, min(at+8+size, end)); err != nil {
				return err
			}
		case !isPreserved:
			body, err := s.read(at+8, min(size, end-at-8))
			if err != nil {
				return err
			}
			s.webpChunk(kind, body)
			s.plan.cut(at, next)
		}
		if isPreserved {
			length += next - at
		}
		at = next
	}
	if end < s.size {
		s.saw(Other)
	}
	s.plan.cut(end, s.size)
	var extra []byte
	now := flags &^ (webpHasEXIF | webpHasXMP)
	if flagsAt > 0 && s.options.KeepOrientation && s.plan.Orientation > 1 {
		extra = append(extra, riffChunk("EXIF", orientationOnly(s.plan.Orientation))...)
		now |= webpHasEXIF
	}
	if flagsAt > 0 && s.options.KeepCredit && !s.credit.empty() {
		extra = append(extra, riffChunk("XMP ", s.credit.xmp())...)
		now |= webpHasXMP
	}
	if now != flags {
		s.plan.overwrite(flagsAt, []byte{now})
	}
	if length += int64(len(extra)); len(s.plan.edits) > 0 || len(extra) > 0 {
		s.plan.overwrite(4, binary.LittleEndian.AppendUint32(nil, uint32(length))) //nolint:gosec // no longer than a RIFF chunk was, and a little
	}
	s.plan.insert(end, extra)
	return nil
}

// webpFrame clears the chunks of an animation's frame that are not pictures; they stay
// in place, so that the frame keeps its length.
func (s *scanner) webpFrame(at, end int64) error {
	for parts := 0; at+8 <= end; parts++ {
		if parts >= 1000 {
			return malformed("a frame has too many chunks")
		}
		head, err := s.read(at, 8)
		if err != nil {
			return err
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		next := min(at+8+size+size&1, end)
		if kind := string(head[:4]); kind != "VP8 " && kind != "VP8L" && kind != "ALPH" {
			s.saw(Other)
			s.plan.zero(at+8, next)
		}
		at = next
	}
	return nil
}

func riffChunk(kind string, body []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(body))) //nolint:gosec // callers bound it
	out = append(out, body...)
	return append(out, make([]byte, len(body)&1)...)
}

func (s *scanner) webpChunk(kind string, body []byte) {
	switch kind {
	case "EXIF":
		s.exif(bytes.TrimPrefix(body, []byte(exifHead)))
	case "XMP ":
		s.xmp(body)
	default:
		s.saw(Other)
	}
}
