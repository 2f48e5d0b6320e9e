package media_test

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/publishing/media"
	"dateline/internal/testing/newsroomtest"
)

func TestPlans(t *testing.T) {
	strict := media.Rules{
		By: "pix.example", Types: []string{"image/jpeg", "image/png", "image/gif", "video/mp4"},
		MaxImageBytes: 1_000_000, MaxVideoBytes: 50_000_000,
		MaxPixels: 4_000_000, MaxWidth: 1440, MaxHeight: 3000, MinRatio: 0.8, MaxRatio: 1.91,
		MinDuration: 3 * time.Second, MaxDuration: time.Minute,
	}
	onlyJPEG := media.Rules{By: "pix.example", Types: []string{"image/jpeg"}}
	still := func(mimeType string, width, height int, bytes int64) media.Item {
		return media.Item{
			Facts: media.Facts{MIMEType: mimeType, Kind: media.Image, Width: width, Height: height, Frames: 1},
			Bytes: bytes,
		}
	}
	film := func(mimeType string, length time.Duration, bytes int64) media.Item {
		return media.Item{Facts: media.Facts{MIMEType: mimeType, Kind: media.Video, Duration: length}, Bytes: bytes}
	}
	paper := func(pages int, bytes int64) media.Item {
		return media.Item{
			Facts: media.Facts{MIMEType: "application/pdf", Kind: media.Document, Pages: pages},
			Bytes: bytes,
		}
	}
	gif := media.Item{
		Facts: media.Facts{MIMEType: "image/gif", Kind: media.Animation, Width: 3000, Height: 3000, Frames: 9},
		Bytes: 2_000_000,
	}
	for name, c := range map[string]struct {
		item     media.Item
		rules    media.Rules
		spec     *media.Spec
		problems []string
	}{
		"as it is": {still("image/jpeg", 1440, 1080, 900_000), strict, nil, nil},
		"no rules": {still("image/webp", 20_000, 9_000, 90_000_000), media.Rules{}, nil, nil},
		"too wide a picture": {
			still("image/jpeg", 4000, 3000, 900_000), strict,
			&media.Spec{MIMEType: "image/jpeg", Width: 1440, Height: 1080, MaxBytes: 1_000_000}, nil,
		},
		"too many bytes": {
			still("image/jpeg", 1000, 1000, 1_000_001), strict,
			&media.Spec{MIMEType: "image/jpeg", Width: 1000, Height: 1000, MaxBytes: 1_000_000}, nil,
		},
		"a drawing": {
			still("image/png", 2880, 2160, 900_000), strict,
			&media.Spec{MIMEType: "image/png", OrJPEG: true, Width: 1440, Height: 1080, MaxBytes: 1_000_000}, nil,
		},
		"another type": {
			still("image/png", 100, 100, 900), onlyJPEG, &media.Spec{MIMEType: "image/jpeg", Width: 100, Height: 100},
			nil,
		},
		"WebP": {
			still("image/webp", 100, 100, 900), strict, &media.Spec{
				MIMEType: "image/jpeg", Width: 100, Height: 100,
				MaxBytes: 1_000_000,
			}, nil,
		},
		"too many pixels": {
			still("image/jpeg", 4000, 4000, 900),
			media.Rules{MaxPixels: 4_000_000},
			&media.Spec{MIMEType: "image/jpeg", Width: 2000, Height: 2000}, nil,
		},
		"too tall": {still("image/jpeg", 700, 1000, 900), strict, nil, []string{"too_tall"}},
		"too flat": {still("image/jpeg", 2000, 1000, 900), strict, nil, []string{"too_wide"}},
		"exactly flat": {
			still("image/jpeg", 1910, 1000, 900), strict, &media.Spec{
				MIMEType: "image/jpeg", Width: 1438, Height: 753,
				MaxBytes: 1_000_000,
			}, nil,
		},
		"neither type": {
			still("image/webp", 100, 100, 900),
			media.Rules{Types: []string{"image/avif"}},
			nil,
			[]string{"no_type_fits"},
		},
		"too large to render": {still("image/jpeg", 12_000, 9_000, 900), strict, nil, []string{"not_convertible"}},
		"an animation":        {gif, strict, nil, []string{"animation_too_large", "animation_too_wide"}},
		"an animation, JPEG":  {gif, onlyJPEG, nil, []string{"unfit_animation"}},
		"a film":              {film("video/mp4", 30*time.Second, 1000), strict, nil, nil},
		"unknown length":      {film("video/mp4", 0, 1000), strict, nil, nil},
		"a long film": {
			film("video/mp4", 61*time.Second, 60_000_000), strict, nil, []string{"video_too_large", "video_too_long"},
		},
		"a short film": {film("video/mp4", 2*time.Second, 1000), strict, nil, []string{"video_too_short"}},
		"a document": {
			paper(3, 1000), media.Rules{
				Types: []string{"application/pdf"}, MaxDocumentBytes: 5000,
				MaxDocumentPages: 300,
			}, nil, nil,
		},
		"a long document": {paper(301, 6000), media.Rules{
			Types: []string{"application/pdf"}, MaxDocumentBytes: 5000,
			MaxDocumentPages: 300,
		}, nil, []string{"document_too_large", "too_many_pages"}},
		"no documents": {paper(3, 1000), strict, nil, []string{"unfit_type"}},
		"a WebM film":  {film("video/webm", 30*time.Second, 1000), strict, nil, []string{"unfit_type"}},
	} {
		plan := media.Fit(c.item, c.rules)
		var codes []string
		for _, p := range plan.Problems {
			codes = append(codes, p.Code)
			if !strings.HasSuffix(p.Message, ".") || strings.Contains(p.Message, "%!") {
				t.Errorf("%s: got %q", name, p.Message)
			}
		}
		if !slices.Equal(codes, c.problems) || plan.Fits() != (len(c.problems) == 0) {
			t.Errorf("%s: problems %q", name, plan.Problems)
		}
		if (plan.Convert == nil) != (c.spec == nil) || c.spec != nil && *plan.Convert != *c.spec {
			t.Errorf("%s: %+v, want %+v", name, plan.Convert, c.spec)
		}
		if (len(plan.Changes) > 0) != (c.spec != nil) {
			t.Errorf("%s: it changes %q", name, plan.Changes)
		}
	}
}

// noise is an image that compresses badly, transparent at its edge.
func noise(t *testing.T, width, height int) []byte {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range img.Pix {
		img.Pix[i] = byte(random.Uint32())
	}
	for x := range width {
		img.SetNRGBA(x, 0, color.NRGBA{})
		for y := 1; y < height; y++ {
			img.Pix[img.PixOffset(x, y)+3] = 255
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestRender_FitsLimits(t *testing.T) {
	n := newsroomtest.Open(t)
	n.Media.MaxBytes = 8 << 20
	held := photo(t, 800, 600, 6) // displayed as 600 × 800, with the red corner at the top right
	colourful := withSegment(photo(t, 800, 600, 1), 0xE2, append([]byte("ICC_PROFILE\x00\x01\x01"), profile()...))
	for name, c := range map[string]struct {
		content []byte
		rules   media.Rules
		check   func(t *testing.T, item media.Item, content []byte, img image.Image)
	}{
		"smaller, upright, without the location": {
			held,
			media.Rules{MaxWidth: 300},
			func(t *testing.T, item media.Item, content []byte, img image.Image) {
				if item.Width != 300 || item.Height != 400 || item.FileName != "photo.jpg" {
					t.Errorf("%+v", item)
				}
				if bytes.Contains(content, []byte("GPS")) || bytes.Contains(content, []byte("Exif")) {
					t.Error("the metadata was not removed")
				}
				if !red(img, 290, 10) || red(img, 10, 10) || red(img, 10, 390) {
					t.Error("it is not upright")
				}
			},
		},
		"few bytes": {
			held,
			media.Rules{MaxImageBytes: 6000},
			func(t *testing.T, item media.Item, _ []byte, img image.Image) {
				if item.Bytes > 6000 || item.Bytes < 3000 || !red(img, img.Bounds().Dx()-5, 5) {
					t.Errorf("%+v", item)
				}
			},
		},
		"the color profile is kept": {
			colourful,
			media.Rules{MaxWidth: 300},
			func(t *testing.T, _ media.Item, content []byte, _ image.Image) {
				if !bytes.Contains(content, profile()) {
					t.Error("the color profile is gone")
				}
			},
		},
		"transparent pixels become white": {
			noise(t, 60, 40),
			media.Rules{Types: []string{"image/jpeg"}},
			func(t *testing.T, item media.Item, _ []byte, img image.Image) {
				r, g, b, _ := img.At(30, 0).RGBA()
				if item.MIMEType != "image/jpeg" || r < 0xB000 || g < 0xB000 || b < 0xB000 {
					t.Errorf("%s with %d %d %d", item.MIMEType, r>>8, g>>8, b>>8)
				}
			},
		},
		"a drawing stays one": {
			noise(t, 60, 40),
			media.Rules{MaxWidth: 30},
			func(t *testing.T, item media.Item, _ []byte, img image.Image) {
				if _, _, _, a := img.At(15, 0).RGBA(); item.MIMEType != "image/png" || item.Width != 30 ||
					item.Height != 20 || a > 0xC000 {
					t.Errorf("%+v, %d", item, a)
				}
			},
		},
		"a drawing of too many bytes": {
			noise(t, 300, 200),
			media.Rules{MaxImageBytes: 60_000},
			func(t *testing.T, item media.Item, _ []byte, _ image.Image) {
				if item.MIMEType != "image/jpeg" || item.Bytes > 60_000 || item.FileName != "photo.jpg" {
					t.Errorf("%+v", item)
				}
			},
		},
		"a drawing that has to stay one": {
			noise(t, 300, 200),
			media.Rules{Types: []string{"image/png"}, MaxImageBytes: 60_000},
			func(t *testing.T, item media.Item, _ []byte, _ image.Image) {
				if item.MIMEType != "image/png" || item.Bytes > 60_000 || item.Width >= 300 {
					t.Errorf("%+v", item)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			item, err := n.Media.Upload(t.Context(), n.Owner, "photo.png", "A photo", bytes.NewReader(c.content))
			n.Must(err)
			plan := media.Fit(item, c.rules)
			if plan.Convert == nil {
				t.Fatalf("no conversion: %+v", plan)
			}
			made, err := n.Media.Render(t.Context(), item, *plan.Convert)
			n.Must(err)
			content := read(t, n, made)
			img, _, err := image.Decode(bytes.NewReader(content))
			n.Must(err)
			require.Equal(t, "A photo", made.AltText)
			require.Equal(t, item.ID, made.ID)
			require.Equal(t, made.Bytes, int64(len(content)))
			require.Equal(t, made.Width, img.Bounds().Dx())
			require.Equal(t, made.Height, img.Bounds().Dy())
			if again := media.Fit(made, c.rules); !again.Fits() || again.Convert != nil {
				t.Errorf("it still does not fit: %+v", again)
			}
			c.check(t, made, content, img)

			// Rendered once; rendering again returns the same object.
			rows := n.Count("select count(*) from media_renditions")
			second, err := n.Media.Render(t.Context(), item, *plan.Convert)
			n.Must(err)
			if second.ObjectKey != made.ObjectKey || n.Count("select count(*) from media_renditions") != rows {
				t.Error("it was rendered twice")
			}
			n.Exec("delete from media_renditions")
			if third, err := n.Media.Render(t.Context(), item, *plan.Convert); err != nil ||
				third.ObjectKey != made.ObjectKey {
				t.Errorf("rendering again returned another object: %v", err)
			}
		})
	}
}

func red(img image.Image, x, y int) bool {
	r, g, b, _ := img.At(x, y).RGBA()
	return r > 0xC000 && g < 0x5000 && b < 0x5000
}

// The eight orientations of one picture all render the same.
func TestRender_AppliesEveryOrientation(t *testing.T) {
	n := newsroomtest.Open(t)
	for orientation, corner := range map[int][2]int{
		1: {5, 5}, 2: {194, 5}, 3: {194, 145}, 4: {5, 145}, 5: {5, 5},
		6: {145, 5}, 7: {145, 194}, 8: {5, 194},
	} {
		item, err := n.Media.Upload(t.Context(), n.Owner, "a.jpg", "", bytes.NewReader(photo(t, 400, 300, orientation)))
		n.Must(err)
		made, err := n.Media.Render(t.Context(), item, media.Spec{
			MIMEType: "image/jpeg", Width: item.Width / 2, Height: item.Height / 2,
		})
		n.Must(err)
		img, err := jpeg.Decode(bytes.NewReader(read(t, n, made)))
		n.Must(err)
		if !red(img, corner[0], corner[1]) {
			t.Errorf("orientation %d: the red corner is not at %v of %v", orientation, corner, img.Bounds())
		}
	}
}

func TestRender_RejectsADamagedImage(t *testing.T) {
	n := newsroomtest.Open(t)
	item, err := n.Media.Upload(t.Context(), n.Owner, "a.jpg", "", bytes.NewReader(photo(t, 400, 300, 1)[:2000]))
	n.Must(err)
	if _, err := n.Media.Render(t.Context(), item,
		media.Spec{MIMEType: "image/jpeg", Width: 100, Height: 75}); !errors.Is(err, media.ErrCannotRender) {
		t.Errorf("got %v", err)
	}
	n.StopObjects()
	if _, err := n.Media.Render(t.Context(), item,
		media.Spec{MIMEType: "image/jpeg", Width: 100, Height: 75}); err == nil ||
		errors.Is(err, media.ErrCannotRender) {
		t.Errorf("the store is down: %v", err)
	}
}
