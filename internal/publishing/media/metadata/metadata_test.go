package metadata_test

import (
	"bytes"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"testing"
	"testing/iotest"

	"golang.org/x/image/webp"

	"dateline/internal/publishing/media/metadata"
	"dateline/internal/testing/mediatest"
)

// strip returns a file without its metadata.
func strip(t testing.TB, content []byte, mimeType string, o metadata.Options) ([]byte, *metadata.Plan) {
	t.Helper()
	src := bytes.NewReader(content)
	plan, err := metadata.Scan(src, src.Size(), mimeType, o)
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(plan.NewReader(src))
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(out)) != plan.Size() {
		t.Fatalf("got %d bytes, want %d as planned", len(out), plan.Size())
	}
	if err := iotest.TestReader(plan.NewReader(src), out); err != nil {
		t.Error(err)
	}
	return out, plan
}

func absent(t testing.TB, content []byte, secrets ...[]byte) {
	t.Helper()
	for _, secret := range secrets {
		if at := bytes.Index(content, secret); at >= 0 {
			t.Errorf("%q is still in the file, at %d of %d", secret, at, len(content))
		}
	}
}

type sample struct {
	name, mimeType string
	content        []byte
	removed        []metadata.Category
	decode         func(io.Reader) (image.Image, error) // nil: a video
}

func samples() []sample {
	all := metadata.Categories()
	still := slices.DeleteFunc(slices.Clone(all), func(c metadata.Category) bool { return c == metadata.Software })
	return []sample{
		{"JPEG", "image/jpeg", mediatest.JPEG(64, 48, 1), still, jpeg.Decode},
		{"PNG", "image/png", mediatest.PNG(64, 48, 1), still, png.Decode},
		{"WebP", "image/webp", mediatest.WebP(1), still, webp.Decode},
		{
			"GIF", "image/gif", mediatest.GIF(), []metadata.Category{
				metadata.Location, metadata.Author,
				metadata.Description, metadata.Other,
			}, gif.Decode,
		},
		{"MP4", "video/mp4", mediatest.TaggedMovie(false), nil, nil},
		{"MP4 with large offsets", "video/mp4", mediatest.TaggedMovie(true), nil, nil},
		{
			"MP4 in fragments", "video/mp4", mediatest.FragmentedMovie(),
			[]metadata.Category{metadata.Location, metadata.Camera},
			nil,
		},
		{"WebM", "video/webm", mediatest.TaggedWebM(false), nil, nil},
		{"WebM recorded live", "video/webm", mediatest.TaggedWebM(true), nil, nil},
		{"PDF", "application/pdf", mediatest.PDF(2, false), nil, nil},
		{"PDF with compressed objects", "application/pdf", mediatest.PDF(2, true), nil, nil},
	}
}

func TestScan_RemovesEverythingThatIsNoPicture(t *testing.T) {
	for _, s := range samples() {
		t.Run(s.name, func(t *testing.T) {
			out, plan := strip(t, s.content, s.mimeType, metadata.Options{})
			absent(t, out, append(mediatest.Secrets(), mediatest.Credits()...)...)
			if !slices.Contains(plan.Removed, metadata.Location) {
				t.Errorf("removed %v, want the location among them", plan.Removed)
			}
			if s.removed != nil && !slices.Equal(plan.Removed, s.removed) {
				t.Errorf("removed %v, want %v", plan.Removed, s.removed)
			}
			if again, second := strip(t, out, s.mimeType, metadata.Options{}); !bytes.Equal(again, out) ||
				len(second.Removed) > 0 {
				t.Errorf("the second time %v is removed, want nothing", second.Removed)
			}
			if s.decode == nil {
				return
			}
			want, err := s.decode(bytes.NewReader(s.content))
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.decode(bytes.NewReader(out))
			if err != nil {
				t.Fatal(err)
			}
			if !samePixels(got, want) {
				t.Error("the pixels have changed")
			}
		})
	}
}

func samePixels(a, b image.Image) bool {
	if a.Bounds() != b.Bounds() {
		return false
	}
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			if a.At(x, y) != b.At(x, y) {
				return false
			}
		}
	}
	return true
}

func TestScan_KeepsTheColorProfile(t *testing.T) {
	for name, content := range map[string][]byte{
		"image/jpeg": mediatest.JPEG(64, 48, 1),
		"image/webp": mediatest.WebP(1),
	} {
		if out, _ := strip(t, content, name, metadata.Options{}); !bytes.Contains(out, mediatest.Profile()) {
			t.Errorf("%s: the profile is gone", name)
		}
	}
	if out, _ := strip(t, mediatest.PNG(64, 48, 1), "image/png", metadata.Options{}); !bytes.Contains(out,
		[]byte("gAMA")) {
		t.Error("PNG: the gamma is gone")
	}
}

func TestScan_LeavesCleanFilesAlone(t *testing.T) {
	for mimeType, content := range map[string][]byte{
		"image/jpeg": mediatest.PlainJPEG(64, 48),
		"video/mp4":  mediatest.Movie{Width: 640, Height: 360, Seconds: 2, Frames: 100}.Bytes(),
	} {
		src := bytes.NewReader(content)
		plan, err := metadata.Scan(src, src.Size(), mimeType, metadata.Options{KeepCredit: true})
		if err != nil || plan.Changed() || len(plan.Removed) > 0 {
			t.Errorf("%s: %+v %v, want nothing to do", mimeType, plan, err)
		}
	}
}

// Offsets of samples stay valid: everything but metadata keeps its position.
func TestScan_KeepsThePlacesInVideos(t *testing.T) {
	for _, s := range samples() {
		if s.decode != nil {
			continue
		}
		out, _ := strip(t, s.content, s.mimeType, metadata.Options{})
		for _, part := range []string{"mdat", "\x1F\x43\xB6\x75", "\x07\x07\x07\x07"} {
			if want, got := bytes.Index(s.content, []byte(part)), bytes.Index(out, []byte(part)); want != got {
				t.Errorf("%s: %q is at %d, want %d", s.name, part, got, want)
			}
		}
		if want, got := bytes.Count(s.content, []byte{7}), bytes.Count(out, []byte{7}); want-got > 20 {
			t.Errorf("%s: %d bytes of pictures are left, want %d", s.name, got, want)
		}
	}
}

func TestScan_KeepsTheCreditOnRequest(t *testing.T) {
	for _, s := range samples()[:3] {
		t.Run(s.name, func(t *testing.T) {
			out, plan := strip(t, s.content, s.mimeType, metadata.Options{KeepCredit: true})
			absent(t, out, mediatest.Secrets()...)
			for _, credit := range mediatest.Credits() {
				if !bytes.Contains(out, credit) {
					t.Errorf("%q is not in the file", credit)
				}
			}
			if slices.Contains(plan.Removed, metadata.Author) {
				t.Errorf("removed %v, want no author", plan.Removed)
			}
			again, second := strip(t, out, s.mimeType, metadata.Options{KeepCredit: true})
			if !bytes.Equal(again, out) || len(second.Removed) > 0 {
				t.Errorf("the second time %v is removed, want nothing", second.Removed)
			}
			if _, err := s.decode(bytes.NewReader(out)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestScan_KeepsNothingButTheOrientationOnRequest(t *testing.T) {
	for mimeType, content := range map[string][]byte{
		"image/jpeg": mediatest.JPEG(64, 48, 6), "image/png": mediatest.PNG(64, 48, 6), "image/webp": mediatest.WebP(6),
	} {
		out, plan := strip(t, content, mimeType, metadata.Options{KeepOrientation: true})
		absent(t, out, append(mediatest.Secrets(), mediatest.Credits()...)...)
		if _, second := strip(t, out, mimeType, metadata.Options{}); plan.Orientation != 6 || second.Orientation != 6 {
			t.Errorf("%s: orientation %d, then %d, want 6", mimeType, plan.Orientation, second.Orientation)
		}
	}
}

func TestScan_RefusesWhatItCannotFollow(t *testing.T) {
	hidden := mediatest.Movie{Width: 640, Height: 360, Seconds: 2}.Bytes()
	copy(hidden[bytes.Index(hidden, []byte("mdia"))-4:], mediatest.BE32(1<<30)) // exceeds the box around it
	src := bytes.NewReader(hidden)
	if _, err := metadata.Scan(src, src.Size(), "video/mp4", metadata.Options{}); !errors.Is(err,
		metadata.ErrMalformed) {
		t.Errorf("got %v, want ErrMalformed", err)
	}
	failing := iotest.ErrReader(errors.New("the disk is gone"))
	if _, err := metadata.Scan(readerAt{failing}, 1000, "image/webp", metadata.Options{}); err == nil ||
		errors.Is(err, metadata.ErrMalformed) {
		t.Errorf("got %v, want the reader's own error", err)
	}
}

type readerAt struct{ io.Reader }

func (r readerAt) ReadAt(p []byte, _ int64) (int, error) { return r.Read(p) }
