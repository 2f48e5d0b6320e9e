package media_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"dateline/internal/publishing/media"
	"dateline/internal/testing/newsroomtest"
)

// For files that ffmpeg created, Inspect reads from the headers what ffprobe reports:
// uploads use ffprobe, Inspect does not.
func TestInspect_AgreesWithFFprobe(t *testing.T) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("ffmpeg is not installed")
		}
		t.Log("ffmpeg is not installed")
		return
	}
	n := newsroomtest.Open(t)
	n.Media.MaxBytes = 10 << 20
	dir := t.TempDir()
	sound := []string{"-f", "lavfi", "-i", "sine=frequency=440:duration=2"}
	for _, c := range []struct {
		name  string
		args  []string
		video string
		audio string
	}{
		{"end.mp4", append(sound, "-c:v", "mpeg4", "-c:a", "aac", "-r", "25"), "mpeg4", "aac"},
		{
			"start.mp4", append(sound, "-c:v", "mpeg4", "-c:a", "aac", "-r", "30000/1001", "-movflags", "+faststart"),
			"mpeg4", "aac",
		},
		{"silent.mov", []string{"-c:v", "mjpeg", "-r", "24", "-pix_fmt", "yuvj420p"}, "mjpeg", ""},
		{"pieces.mp4", []string{"-c:v", "mpeg4", "-r", "25", "-movflags", "+frag_keyframe+empty_moov"}, "mpeg4", ""},
		{"web.webm", append(sound, "-c:v", "libvpx", "-c:a", "libvorbis", "-r", "25", "-deadline", "realtime",
			"-cpu-used", "8"), "vp8", "vorbis"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, c.name)
			args := append([]string{"-v", "error", "-f", "lavfi", "-i", "testsrc=duration=2:size=192x108"}, c.args...)
			if out, err := exec.CommandContext(t.Context(), "ffmpeg", append(args, "-strict", "-2", "-y", path)...).
				CombinedOutput(); err != nil {
				t.Fatalf("ffmpeg: %v: %s", err, out)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			info, err := f.Stat()
			if err != nil {
				t.Fatal(err)
			}
			own, err := media.Inspect(f, info.Size())
			if err != nil {
				t.Fatal(err)
			}
			probed, err := n.Media.Upload(t.Context(), n.Owner, c.name, "", f)
			if err != nil {
				t.Fatal(err)
			}
			if err := same(own, probed.Facts, c.name == "pieces.mp4"); err != nil {
				t.Errorf("%v\n own    %+v\n probed %+v", err, own, probed.Facts)
			}
			if own.VideoCodec != c.video || own.AudioCodec != c.audio || own.Width != 192 || own.Height != 108 {
				t.Errorf("%+v", own)
			}
		})
	}
}

// same compares the two results. Fragmented movies have their length and frame rate
// only in the fragments, which the header reader skips.
func same(own, probed media.Facts, pieces bool) error {
	switch {
	case own.MIMEType != probed.MIMEType, own.Kind != probed.Kind, own.Width != probed.Width,
		own.Height != probed.Height, own.Rotation != probed.Rotation:
		return errors.New("type or size differ")
	case own.VideoCodec != probed.VideoCodec, own.AudioCodec != probed.AudioCodec:
		return errors.New("codecs differ")
	case pieces:
		return nil
	case (own.Duration - probed.Duration).Abs() > 60*time.Millisecond:
		return fmt.Errorf("durations differ by %s", own.Duration-probed.Duration)
	case math.Abs(own.FrameRate-probed.FrameRate) > 0.5:
		return errors.New("frame rates differ")
	case math.Abs(float64(own.BitRate-probed.BitRate)) > float64(probed.BitRate)/10:
		return errors.New("bit rates differ")
	}
	return nil
}
