package metadata_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"dateline/internal/publishing/media/metadata"
	"dateline/internal/publishing/media/verify"
	"dateline/internal/testing/mediatest"
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

// FuzzScan_AgreesWithVerify puts text into each place of a video. What the independent
// reader finds before is reported, and afterwards it finds nothing.
func FuzzScan_AgreesWithVerify(f *testing.F) {
	for i, line := range []string{
		"The commission has little latitude here.", "21.0285, 105.8542", "lat: 21.0285", "+21.0285+105.8542/",
		"$GPRMC,101112.00,A,2101.7100,N,10551.2520,E,0.02,,221126,,,A*7B", "21°01'42\"N 105°51'15\"E",
		"1.0842,1.0845 200.1234",
	} {
		f.Add(uint8(i), line, "")
		f.Add(uint8(i), line[:len(line)/2], line[len(line)/2:])
	}
	f.Fuzz(func(t *testing.T, place uint8, line, next string) {
		both := line + next
		if len(both) > 1000 || bytes.ContainsAny([]byte(both), "\x00\x1C") ||
			slices.ContainsFunc([]string{"GPS", "loci", "\xA9xyz", "II*", "MM"},
				func(s string) bool { return strings.Contains(both, s) }) {
			t.Skip("names of formats are no text")
		}
		mimeType := "video/mp4"
		var content []byte
		switch place % 7 {
		case 0:
			content = film{tracks: []filmTrack{text("sbtl", line, next)}}.bytes()
		case 1:
			content = film{tracks: []filmTrack{text("text", line), text("text", next)}, large: true}.bytes()
		case 2:
			content = film{lost: []byte(both)}.bytes()
		case 3:
			content = fragments(both)
		case 4:
			content = film{moov: mediatest.Box("udta", mediatest.Box("name", []byte(both)))}.bytes()
		case 5:
			mimeType, content = "video/webm", webm(both)
		default:
			mimeType, content = "video/webm", webm("", chapters(both))
		}
		before, err := verify.HasPosition(bytes.NewReader(content), int64(len(content)), mimeType)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := metadata.Scan(bytes.NewReader(content), int64(len(content)), mimeType, metadata.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, err := io.ReadAll(plan.NewReader(bytes.NewReader(content)))
		if err != nil {
			t.Fatal(err)
		}
		if before && !slices.Contains(plan.Removed, metadata.Location) {
			t.Errorf("%q: removed %v, want the location", both, plan.Removed)
		}
		if after, err := verify.HasPosition(bytes.NewReader(out), int64(len(out)), mimeType); after || err != nil {
			t.Errorf("%q: a position is left, %v", both, err)
		}
	})
}
