package metadata_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"

	"dateline/internal/publishing/media/metadata"
)

// fuzz checks for any content that a plan can be executed, returns as many bytes as
// announced, and leaves nothing for a second one to remove.
func fuzz(f *testing.F, mimeType string) {
	f.Helper()
	for _, s := range samples() {
		if s.mimeType == mimeType {
			f.Add(s.content, false, false)
			f.Add(s.content, true, true)
			f.Add(s.content[:len(s.content)/2], true, false)
		}
	}
	f.Fuzz(func(t *testing.T, content []byte, credit, orientation bool) {
		o := metadata.Options{KeepCredit: credit, KeepOrientation: orientation}
		src := bytes.NewReader(content)
		plan, err := metadata.Scan(src, src.Size(), mimeType, o)
		if err != nil {
			if !errors.Is(err, metadata.ErrMalformed) {
				t.Fatalf("got %v, want ErrMalformed: the reader does not fail", err)
			}
			return
		}
		out, err := io.ReadAll(plan.NewReader(src))
		if err != nil || int64(len(out)) != plan.Size() {
			t.Fatalf("got %d bytes and %v, want %d", len(out), err, plan.Size())
		}
		again, err := metadata.Scan(bytes.NewReader(out), int64(len(out)), mimeType, o)
		if err != nil {
			t.Fatalf("the file without its metadata is refused: %v", err)
		}
		if slices.Contains(again.Removed, metadata.Location) {
			t.Fatalf("the second time %v is removed", again.Removed)
		}
	})
}

func FuzzScanJPEG(f *testing.F) { fuzz(f, "image/jpeg") }
func FuzzScanPNG(f *testing.F)  { fuzz(f, "image/png") }
func FuzzScanWebP(f *testing.F) { fuzz(f, "image/webp") }
func FuzzScanGIF(f *testing.F)  { fuzz(f, "image/gif") }
func FuzzScanMP4(f *testing.F)  { fuzz(f, "video/mp4") }
func FuzzScanWebM(f *testing.F) { fuzz(f, "video/webm") }
