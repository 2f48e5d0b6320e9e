package media_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image/png"
	"io"
	"math"
	"testing"

	"dateline/internal/publishing/media"
	"dateline/internal/testing/mediatest"
	"dateline/internal/testing/newsroomtest"
)

// A converted PNG keeps its colors, whichever chunk defines them: the rendition has a
// profile with the same primaries and curve.
func TestRender_KeepsTheColorsOfPNG(t *testing.T) {
	n := newsroomtest.Open(t)
	adobe := mediatest.BE32(31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000)
	srgb := mediatest.BE32(31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000)
	// Colorants of profiles that are in use: red, X and Y; sRGB has 0.4361 and 0.2225.
	for name, c := range map[string]struct {
		chunks    []byte
		x, y      float64
		curve     string
		noProfile bool
	}{
		"Display P3": {
			chunks: mediatest.Chunk("cICP", []byte{12, 13, 0, 1}), x: 0.5151, y: 0.2412,
			curve: "para",
		},
		"BT.2020, PQ":  {chunks: mediatest.Chunk("cICP", []byte{9, 16, 0, 1}), x: 0.6735, y: 0.2790, curve: "curv"},
		"BT.2020, HLG": {chunks: mediatest.Chunk("cICP", []byte{9, 18, 0, 1}), x: 0.6735, y: 0.2790, curve: "curv"},
		"Adobe RGB": {
			chunks: append(mediatest.Chunk("cHRM", adobe), mediatest.Chunk("gAMA", mediatest.BE32(45470))...),
			x:      0.6097, y: 0.3111, curve: "para",
		},
		"linear": {
			chunks: mediatest.Chunk("gAMA", mediatest.BE32(100_000)), x: 0.4361, y: 0.2225,
			curve: "para",
		},
		"sRGB": {chunks: mediatest.Chunk("cICP", []byte{1, 13, 0, 1}), noProfile: true},
		"sRGB, in numbers": {
			chunks:    append(mediatest.Chunk("cHRM", srgb), mediatest.Chunk("gAMA", mediatest.BE32(45455))...),
			noProfile: true,
		},
		"none": {noProfile: true},
		"precedence": {
			chunks: append(mediatest.Chunk("sRGB", []byte{0}),
				mediatest.Chunk("cICP", []byte{12, 13, 0, 1})...),
			x: 0.5151, y: 0.2412, curve: "para",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var plain bytes.Buffer
			n.Must(png.Encode(&plain, mediatest.Picture(64, 48)))
			content := append(append(plain.Bytes()[:33:33], c.chunks...), plain.Bytes()[33:]...)
			item, err := n.Media.Upload(t.Context(), n.Owner, "a.png", "", bytes.NewReader(content))
			n.Must(err)
			for _, mimeType := range []string{"image/png", "image/jpeg"} {
				made, err := n.Media.Render(t.Context(), item, media.Spec{MIMEType: mimeType, Width: 32, Height: 24})
				n.Must(err)
				profile := embedded(t, read(t, n, made), mimeType)
				if c.noProfile != (profile == nil) {
					t.Fatalf("%s: a profile of %d bytes", mimeType, len(profile))
				}
				if profile == nil {
					continue
				}
				if red := tag(t, profile, "rXYZ"); math.Abs(fixed(red[8:])-c.x) > 0.002 ||
					math.Abs(fixed(red[12:])-c.y) > 0.002 {
					t.Errorf("%s: red is %.4f, %.4f; want %.4f, %.4f", mimeType, fixed(red[8:]), fixed(red[12:]), c.x,
						c.y)
				}
				if curve := tag(t, profile, "gTRC"); string(curve[:4]) != c.curve {
					t.Errorf("%s: the curve is a %q, want %q", mimeType, curve[:4], c.curve)
				}
			}
		})
	}
}

func fixed(p []byte) float64 { return float64(int32(binary.BigEndian.Uint32(p))) / 65536 }

// tag returns a tag of a profile. ICC.1:2022, 7.3
func tag(t *testing.T, profile []byte, name string) []byte {
	t.Helper()
	if int(binary.BigEndian.Uint32(profile)) != len(profile) {
		t.Fatalf("the profile has %d bytes, and says %d", len(profile), binary.BigEndian.Uint32(profile))
	}
	for at := 132; at < 132+12*int(binary.BigEndian.Uint32(profile[128:])); at += 12 {
		if string(profile[at:at+4]) == name {
			from := binary.BigEndian.Uint32(profile[at+4:])
			return profile[from : from+binary.BigEndian.Uint32(profile[at+8:])]
		}
	}
	t.Fatalf("the profile has no %s", name)
	return nil
}

// embedded returns the profile of a rendition.
func embedded(t *testing.T, content []byte, mimeType string) []byte {
	t.Helper()
	mark := []byte("ICC_PROFILE\x00\x01\x01")
	if mimeType == "image/png" {
		mark = []byte("iCCPICC\x00\x00")
	}
	at := bytes.Index(content, mark)
	if at < 0 {
		return nil
	}
	body := content[at+len(mark):]
	if mimeType == "image/jpeg" {
		return body[:int(binary.BigEndian.Uint16(content[at-2:]))-2-len(mark)]
	}
	z, err := zlib.NewReader(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	profile, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return profile
}
