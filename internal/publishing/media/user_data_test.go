package media_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dateline/internal/publishing/media/metadata"
	"dateline/internal/testing/newsroomtest"
)

// mdpm is the position that AVCHD cameras write into a frame: fields of five bytes, whose numbers are those of EXIF's
// GPS directory from 0xB0 on.
func mdpm() []byte {
	return slices.Concat([]byte("MDPM\x09"), []byte("\xB0\x02\x02\x01\x01"),
		[]byte("\xB1N   "), []byte("\xB2\x00\x15\x00\x01"), []byte("\xB3\x00\x01\x00\x01"), []byte("\xB4\x01\xAA\x00\x0A"),
		[]byte("\xB5E   "), []byte("\xB6\x00\x69\x00\x01"), []byte("\xB7\x00\x33\x00\x01"), []byte("\xB8\x00\x97\x00\x0A"))
}

// Cameras write positions between the pictures of H.264, encoders of H.265 their settings. Both are gone, and every
// picture is the one from before.
func TestIngest_RemovesUserDataBetweenPictures(t *testing.T) {
	if !isInstalled(t, "ffmpeg") || !isInstalled(t, "exiftool") {
		t.Skip("ffmpeg or exiftool is not installed")
	}
	n := newsroomtest.Open(t)
	dir := t.TempDir()
	film := func(name string, options ...string) []byte {
		t.Helper()
		path := filepath.Join(dir, name)
		_, err := run(t.Context(), "ffmpeg", slices.Concat(
			[]string{"-v", "fatal", "-f", "lavfi", "-i", "testsrc=duration=2:size=64x64:rate=10", "-g", "5", "-y"},
			options, containers()[name], []string{path})...)
		n.Must(err)
		content, err := os.ReadFile(path)
		n.Must(err)
		return content
	}
	pictures := func(path string) string {
		t.Helper()
		out, err := run(t.Context(), "ffmpeg", "-v", "error", "-i", path, "-f", "framemd5", "-")
		n.Must(err)
		return string(out)
	}
	blank := strings.Repeat("A", len(mdpm()))
	text := []byte(placePair + strings.Repeat(" ", len(blank)-len(placePair)))
	x264 := []string{
		"-c:v", "libx264", "-preset", "ultrafast", "-bsf:v",
		"h264_metadata=sei_user_data=17ee8c60f84d11d98cd60800200c9a66+" + blank,
	}
	x265 := []string{"-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "log-level=none", "-tag:v"}
	for _, c := range []struct {
		name     string
		options  []string
		data     []byte // instead of the blank
		position bool
		secret   string
		stays    string
	}{
		{"end.mp4", x264, mdpm(), true, "MDPM", "x264 - core"},
		{"dash.mp4", x264, mdpm(), true, "MDPM", "x264 - core"},
		{"quicktime.mov", x264, text, true, "Home", "x264 - core"},
		{"start.mp4", append(slices.Clone(x265), "hvc1"), nil, false, "x265 (build", ""},
		{"pieces.mp4", append(slices.Clone(x265), "hev1"), nil, false, "x265 (build", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			content := bytes.ReplaceAll(film(c.name, c.options...), []byte(blank), c.data)
			if !bytes.Contains(content, []byte(c.secret)) {
				t.Fatalf("the file has no %q", c.secret)
			}
			before := filepath.Join(dir, c.name)
			n.Must(os.WriteFile(before, content, 0o600))
			item, err := n.Media.Upload(t.Context(), n.Owner, c.name, "", bytes.NewReader(content))
			n.Must(err)
			if item.LocationRemoved() != c.position {
				t.Errorf("location removed %t, want %t", item.LocationRemoved(), c.position)
			}
			stored := read(t, n, item)
			if len(stored) != len(content) || bytes.Contains(stored, []byte(c.secret)) ||
				!bytes.Contains(stored, []byte(c.stays)) {
				t.Errorf("%d bytes of %d, with %q %t, with %q %t", len(stored), len(content), c.secret,
					bytes.Contains(stored, []byte(c.secret)), c.stays, bytes.Contains(stored, []byte(c.stays)))
			}
			after := filepath.Join(dir, "stored-"+c.name)
			n.Must(os.WriteFile(after, stored, 0o600))
			if pictures(before) != pictures(after) {
				t.Error("the pictures changed")
			}
			out, err := run(t.Context(), "exiftool", "-ee3", "-G1", "-a", after)
			n.Must(err)
			if bytes.Contains(out, []byte("GPS")) {
				t.Errorf("exiftool finds a position:\n%s", out)
			}
			plan, err := metadata.Scan(bytes.NewReader(stored), int64(len(stored)), mimeOf(c.name), metadata.Options{})
			if err != nil || plan.Changed() {
				t.Errorf("a second time it is changed: %v, %v", plan, err)
			}
		})
	}
}
