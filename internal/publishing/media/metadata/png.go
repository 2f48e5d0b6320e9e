package metadata

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"io"
	"slices"
	"strings"
)

// pngHeader is how long the signature and the header chunk are.
const pngHeader = 8 + 12 + 13

// isPreservedChunk reports whether a chunk changes how an image is shown, its resolution
// included. Critical ones have a capital first letter.
// https://www.w3.org/TR/png-3/#4Concepts.FormatTypes
func isPreservedChunk(kind string) bool {
	return kind[0]&0x20 == 0 ||
		slices.Contains([]string{
			"tRNS", "cHRM", "gAMA", "iCCP", "sBIT", "sRGB", "cICP", "mDCV", "cLLI", "bKGD", "hIST",
			"pHYs", "sPLT", "acTL", "fcTL", "fdAT",
		}, kind)
}

func (s *scanner) png() error {
	start, err := s.read(0, pngHeader)
	if err != nil {
		return err
	}
	if len(start) < pngHeader || !bytes.HasPrefix(start, []byte("\x89PNG\r\n\x1A\n\x00\x00\x00\x0DIHDR")) {
		return malformed("it does not begin like a PNG")
	}
	in := bufio.NewReaderSize(io.NewSectionReader(s.r, 8, s.size-8), 64<<10)
	at := int64(8)
	for range maxParts {
		head, err := in.Peek(8)
		if errors.Is(err, io.EOF) { // truncated; viewers show the rest
			s.plan.cut(at, s.size)
			return s.pngExtra()
		}
		if err != nil {
			return err
		}
		length, kind := int64(binary.BigEndian.Uint32(head)), string(head[4:8])
		end := at + 12 + length
		if !isPreservedChunk(kind) {
			body, err := s.read(at+8, min(length, s.size-at-8))
			if err != nil {
				return err
			}
			s.pngChunk(kind, body)
			s.plan.cut(at, end)
		}
		if kind == "IEND" {
			if end < s.size {
				s.saw(Other)
				s.plan.cut(end, s.size)
			}
			return s.pngExtra()
		}
		if end >= s.size {
			return s.pngExtra()
		}
		if err := skip(in, end-at); err != nil {
			return err
		}
		at = end
	}
	return malformed("it has too many chunks")
}

// skip discards bytes of a buffered reader, however many.
func skip(in *bufio.Reader, n int64) error {
	for n > 0 {
		step := min(n, 1<<30)
		if _, err := in.Discard(int(step)); err != nil {
			return err
		}
		n -= step
	}
	return nil
}

// pngExtra writes the preserved metadata back.
func (s *scanner) pngExtra() error {
	var out []byte
	if s.options.KeepOrientation && s.plan.Orientation > 1 {
		out = append(out, chunk("eXIf", orientationOnly(s.plan.Orientation))...)
	}
	if s.options.KeepCredit && !s.credit.empty() {
		s.plan.Credit = chunk("iTXt", append([]byte(xmpKeyword+"\x00\x00\x00\x00\x00"), s.credit.xmp()...))
		out = append(out, s.plan.Credit...)
	}
	s.plan.insert(pngHeader, out)
	return nil
}

func chunk(kind string, body []byte) []byte {
	out := binary.BigEndian.AppendUint32(nil, uint32(len(body))) //nolint:gosec // callers bound it
	out = append(append(out, kind...), body...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[4:]))
}

// xmpKeyword names the chunk with XMP. ISO 16684-3, 1.1.5
const xmpKeyword = "XML:com.adobe.xmp"

func (s *scanner) pngChunk(kind string, body []byte) {
	switch kind {
	case "eXIf":
		s.exif(bytes.TrimPrefix(body, []byte(exifHead)))
	case "tIME":
		s.saw(Date)
	case "tEXt", "zTXt", "iTXt":
		keyword, value, ok := pngText(kind, body)
		if !ok {
			s.saw(Other)
			return
		}
		s.pngKeyword(keyword, value)
	default:
		s.saw(Other)
	}
}

// pngText splits a text chunk. https://www.w3.org/TR/png-3/#11textinfo
func pngText(kind string, body []byte) (keyword string, value []byte, ok bool) {
	name, value, ok := bytes.Cut(body, []byte{0})
	compressed := kind == "zTXt"
	if kind == "iTXt" && ok {
		if len(value) < 2 {
			return "", nil, false
		}
		compressed = value[0] == 1
		rest := value[2:]
		for range 2 { // language, translated keyword
			if _, rest, ok = bytes.Cut(rest, []byte{0}); !ok {
				return "", nil, false
			}
		}
		value = rest
	} else if compressed && len(value) > 0 {
		value = value[1:] // method
	}
	if ok && compressed {
		z, err := zlib.NewReader(bytes.NewReader(value))
		if err != nil {
			return string(name), nil, true
		}
		// If it cannot be decompressed completely, the decompressed part is classified.
		value, _ = io.ReadAll(io.LimitReader(z, maxBlock))
	}
	return string(name), value, ok
}

func (s *scanner) pngKeyword(keyword string, value []byte) {
	if profile, ok := strings.CutPrefix(keyword, "Raw profile type "); ok { // ImageMagick's
		s.rawProfile(profile, value)
		return
	}
	switch name := strings.ToLower(keyword); {
	case keyword == xmpKeyword:
		s.xmp(value)
	case name == "author" || name == "artist":
		s.saw(Author)
		s.credit.creators(sourceEXIF, text(value))
	case name == "copyright":
		s.saw(Author)
		s.credit.copyright(sourceEXIF, text(value))
	case name == "title" || name == "description" || name == "comment":
		s.saw(Description)
	case strings.Contains(name, "time") || strings.HasPrefix(name, "date"):
		s.saw(Date)
	case name == "software":
		s.saw(Software)
	case name == "source":
		s.saw(Camera)
	case strings.Contains(name, "gps") || strings.Contains(name, "location"):
		s.saw(Location)
	default:
		s.saw(Other)
	}
}

// rawProfile reads a profile that is written as lines: its name, its length,
// and hexadecimal digits.
func (s *scanner) rawProfile(name string, value []byte) {
	lines := bytes.SplitN(bytes.TrimLeft(value, "\n"), []byte("\n"), 3)
	if len(lines) < 3 {
		s.saw(Other)
		return
	}
	raw, err := hex.DecodeString(string(bytes.Join(bytes.Fields(lines[2]), nil)))
	if err != nil {
		s.saw(Other)
		return
	}
	switch {
	case bytes.HasPrefix(raw, []byte(exifHead)):
		s.exif(raw[len(exifHead):])
	case bytes.HasPrefix(raw, []byte(xmpHead)):
		s.xmp(raw[len(xmpHead):])
	case name == "xmp":
		s.xmp(raw)
	case name == "iptc":
		s.photoshop(raw)
	default:
		s.saw(Other)
	}
}
