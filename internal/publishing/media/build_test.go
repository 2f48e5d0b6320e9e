package media_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"slices"
	"testing"

	"dateline/internal/testing/mediatest"
)

// element is an EBML element with its content.
func element(id uint32, content ...[]byte) []byte {
	body := slices.Concat(content...)
	out := bytes.TrimLeft(mediatest.BE32(id), "\x00")
	out = binary.BigEndian.AppendUint64(out, 1<<56|uint64(len(body)))
	return append(out, body...)
}

func webm(docType string, width, height uint16, milliseconds float64) []byte {
	video := element(0xE0, element(0xB0, []byte{byte(width >> 8), byte(width)}),
		element(0xBA, []byte{byte(height >> 8), byte(height)}))
	return slices.Concat(
		element(0x1A45DFA3, element(0x4282, []byte(docType))),
		element(0x18538067,
			element(0x1549A966, element(0x2AD7B1, []byte{0x0F, 0x42, 0x40}),
				element(0x4489, binary.BigEndian.AppendUint64(nil, math.Float64bits(milliseconds)))),
			element(0x1654AE6B,
				element(0xAE, element(0x83, []byte{1}), element(0x86, []byte("V_VP9")),
					element(0x23E383, mediatest.BE32(40_000_000)), video),
				element(0xAE, element(0x83, []byte{2}), element(0x86, []byte("A_OPUS")))),
			element(0x1F43B675, []byte("frames"))))
}

// photo is a JPEG with a red corner at the top left, and EXIF data with an orientation
// and a secret location.
func photo(t testing.TB, width, height, orientation int) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA{byte(x * 255 / width), byte(y * 255 / height), 200, 255}
			if x < width/4 && y < height/4 {
				c = color.RGBA{255, 0, 0, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	tiff := slices.Concat([]byte("II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00"),
		[]byte{byte(orientation), 0, 0, 0}, make([]byte, 4), []byte("GPS 10.7769 N 106.7009 E"))
	return withSegment(out.Bytes(), 0xE1, slices.Concat([]byte("Exif\x00\x00"), tiff))
}

// withSegment inserts a segment at the beginning of a JPEG.
func withSegment(content []byte, marker byte, body []byte) []byte {
	head := append([]byte{0xFF, 0xD8, 0xFF, marker}, binary.BigEndian.AppendUint16(nil, uint16(len(body)+2))...)
	return slices.Concat(head, body, content[2:])
}

// profile is a color profile with as much content as the code reads.
func profile() []byte {
	p := make([]byte, 400)
	copy(p[16:], "RGB ")
	copy(p[36:], "acsp")
	copy(p[128:], "a wide gamut")
	return p
}

func moving(t testing.TB, frames int) []byte {
	t.Helper()
	g := &gif.GIF{}
	for i := range frames {
		img := image.NewPaletted(image.Rect(0, 0, 30, 20), color.Palette{color.White, color.Black})
		img.SetColorIndex(i%30, 0, 1)
		g.Image, g.Delay = append(g.Image, img), append(g.Delay, 15)
	}
	var out bytes.Buffer
	if err := gif.EncodeAll(&out, g); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// movingWebP has frames, but no pixels.
func movingWebP(frames int) []byte {
	chunk := func(kind string, body []byte) []byte {
		out := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(body)))
		return append(append(out, body...), make([]byte, len(body)&1)...)
	}
	body := chunk("VP8X", []byte{0x02, 0, 0, 0, 29, 0, 0, 19, 0, 0})
	body = append(body, chunk("ANIM", make([]byte, 6))...)
	for range frames {
		body = append(body, chunk("ANMF", append([]byte{0, 0, 0, 0, 0, 0, 29, 0, 0, 19, 0, 0, 100, 0, 0, 0},
			"frame"...))...)
	}
	return slices.Concat([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(4+len(body))), []byte("WEBP"),
		body)
}

// bomb is a PNG of a few bytes that claims to be huge.
func bomb(t testing.TB, width, height uint32) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		t.Fatal(err)
	}
	content := out.Bytes()
	binary.BigEndian.PutUint32(content[16:], width)
	binary.BigEndian.PutUint32(content[20:], height)
	fixCRC(content)
	return content
}
