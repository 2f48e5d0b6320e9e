package media

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
)

// maxProfile limits the size of a color profile in bytes; profiles of cameras and
// screens have a few kilobytes.
const maxProfile = 512 << 10

// iccProfile returns the color profile of an image; nil if it has none, which means
// sRGB, or if the profile is not an RGB profile, because the output is RGB.
// ICC.1:2022, 7.2.8 and B
func iccProfile(r io.ReaderAt, size int64, mimeType string) []byte {
	var profile []byte
	switch mimeType {
	case typeJPEG:
		profile = jpegProfile(r, size)
	case typePNG:
		profile = pngProfile(r, size)
	case typeWebP:
		profile = webpProfile(r, size)
	}
	if len(profile) < 128 || len(profile) > maxProfile || string(profile[16:20]) != "RGB " ||
		string(profile[36:40]) != "acsp" {
		return nil
	}
	return profile
}

var jpegProfileMark = []byte("ICC_PROFILE\x00") //nolint:gochecknoglobals // a constant

// jpegProfile assembles the numbered parts of a profile.
func jpegProfile(r io.ReaderAt, size int64) []byte {
	pieces := map[byte][]byte{}
	jpegSegments(r, size, func(marker byte, body []byte) bool {
		if rest, ok := bytes.CutPrefix(body, jpegProfileMark); marker == 0xE2 && ok && len(rest) > 2 {
			pieces[rest[0]] = rest[2:]
		}
		return false
	})
	var profile []byte
	for i := 1; i <= len(pieces); i++ {
		piece, ok := pieces[byte(i)]
		if !ok {
			return nil
		}
		profile = append(profile, piece...)
	}
	return profile
}

// pngProfile returns the profile of a PNG, or makes one of the other chunks that define its
// colors, in their order of precedence. https://www.w3.org/TR/png-3/#color-chunk-precendence
func pngProfile(r io.ReaderAt, size int64) []byte {
	chunks := map[string][]byte{}
	all, err := pngColors(r, size)
	if err != nil {
		return nil
	}
	for len(all) >= 12 {
		end := 12 + int(binary.BigEndian.Uint32(all))
		chunks[string(all[4:8])] = all[8 : end-4]
		all = all[end:]
	}
	if cicp, ok := chunks["cICP"]; ok {
		return profileOfCICP(cicp)
	}
	if body, ok := chunks["iCCP"]; ok {
		_, packed, ok := bytes.Cut(body, []byte{0})
		if !ok || len(packed) < 1 {
			return nil
		}
		z, err := zlib.NewReader(bytes.NewReader(packed[1:]))
		if err != nil {
			return nil
		}
		profile, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
		if err != nil {
			return nil
		}
		return profile
	}
	if _, ok := chunks["sRGB"]; ok {
		return nil
	}
	return profileOfChromaticities(chunks["cHRM"], chunks["gAMA"])
}

func webpProfile(r io.ReaderAt, size int64) []byte {
	var head [8]byte
	for at := int64(12); at+8 <= size; {
		if _, err := r.ReadAt(head[:], at); err != nil {
			return nil
		}
		length := int64(binary.LittleEndian.Uint32(head[4:]))
		if string(head[:4]) == "ICCP" && length <= maxProfile {
			body := make([]byte, length)
			if _, err := r.ReadAt(body, at+8); err != nil {
				return nil
			}
			return body
		}
		at += 8 + length + length&1
	}
	return nil
}

// jpegWithProfile inserts a profile after the first marker of a JPEG.
func jpegWithProfile(content, profile []byte) []byte {
	if len(profile) == 0 || len(content) < 2 {
		return content
	}
	const maxPiece = 65535 - 2 - 14
	pieces := slices.Collect(slices.Chunk(profile, maxPiece))
	out := append([]byte{}, content[:2]...)
	for i, piece := range pieces {
		out = append(out, 0xFF, 0xE2)
		out = binary.BigEndian.AppendUint16(out, uint16(2+14+len(piece))) //nolint:gosec // at most 65,535
		out = append(out, jpegProfileMark...)
		out = append(out, byte(i+1), byte(len(pieces))) //nolint:gosec // a profile has at most nine parts
		out = append(out, piece...)
	}
	return append(out, content[2:]...)
}

// pngWithProfile inserts a profile after the header chunk of a PNG.
func pngWithProfile(content, profile []byte) ([]byte, error) {
	const header = 8 + 12 + 13
	if len(profile) == 0 || len(content) < header {
		return content, nil
	}
	var packed bytes.Buffer
	packed.WriteString("ICC\x00\x00")
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(profile); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	out := append([]byte{}, content[:header]...)
	out = binary.BigEndian.AppendUint32(out, uint32(packed.Len())) //nolint:gosec // little more than maxProfile
	chunk := append([]byte("iCCP"), packed.Bytes()...)
	out = append(out, chunk...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(chunk))
	return append(out, content[header:]...), nil
}
