package media

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// probeTimeout limits one run of ffprobe.
const probeTimeout = 20 * time.Second

// errNoFFprobe means that ffprobe is not installed.
var errNoFFprobe = errors.New("ffprobe is not installed")

// ffprobe runs ffprobe on a video of a known type. ffprobe may open only that file,
// because containers can refer to other files and URLs.
// https://ffmpeg.org/ffprobe.html, https://ffmpeg.org/ffmpeg-protocols.html
func ffprobe(ctx context.Context, path, mimeType string) (Facts, error) {
	program, err := exec.LookPath("ffprobe")
	if err != nil {
		return Facts{}, errNoFFprobe
	}
	demuxer := "mov"
	if mimeType == typeWebM {
		demuxer = "matroska"
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-v", "error", "-protocol_whitelist", "file,pipe", "-f", demuxer,
		"-print_format", "json", "-show_format", "-show_streams", "-i", "file:"+path)
	cmd.Env = []string{"LC_ALL=C"}
	cmd.WaitDelay = time.Second
	var out, problem cappedBuffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if err := cmd.Run(); err != nil {
		return Facts{}, fmt.Errorf("ffprobe: %w", err)
	}
	return readProbe(out.Bytes())
}

// cappedBuffer keeps the first megabyte of a program's output.
type cappedBuffer struct{ bytes.Buffer }

func (c *cappedBuffer) Write(p []byte) (int, error) {
	if room := 1<<20 - c.Len(); room > 0 {
		c.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

func readProbe(raw []byte) (Facts, error) {
	var said struct {
		Streams []struct {
			CodecType   string `json:"codec_type"`
			CodecName   string `json:"codec_name"`
			Width       int    `json:"width"`
			Height      int    `json:"height"`
			AverageRate string `json:"avg_frame_rate"`
			SampleRate  string `json:"sample_rate"`
			PixelFormat string `json:"pix_fmt"`
			Disposition struct {
				Cover int `json:"attached_pic"`
			} `json:"disposition"`
			SideData []struct {
				Rotation float64 `json:"rotation"`
			} `json:"side_data_list"`
		} `json:"streams"`
		Format struct {
			Duration string `json:"duration"`
			BitRate  string `json:"bit_rate"`
		} `json:"format"`
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		return Facts{}, fmt.Errorf("ffprobe: %w", err)
	}
	var f Facts
	for _, s := range said.Streams {
		switch {
		case s.CodecType == "video" && s.Disposition.Cover == 0 && f.VideoCodec == "":
			f.VideoCodec, f.Width, f.Height, f.PixelFormat = s.CodecName, s.Width, s.Height, s.PixelFormat
			f.FrameRate = math.Round(fraction(s.AverageRate)*1000) / 1000
			for _, side := range s.SideData {
				if side.Rotation != 0 { // counter-clockwise there
					f.Rotation = ((-int(math.Round(side.Rotation/90))*90)%360 + 360) % 360
				}
			}
		case s.CodecType == "audio" && f.AudioCodec == "":
			f.AudioCodec = s.CodecName
			f.AudioRate, _ = strconv.Atoi(s.SampleRate)
		}
	}
	if f.VideoCodec == "" {
		return Facts{}, errors.New("ffprobe: there is no picture")
	}
	if s, err := strconv.ParseFloat(said.Format.Duration, 64); err == nil && s > 0 && s < (1000*time.Hour).Seconds() {
		f.Duration = time.Duration(s * float64(time.Second)).Round(time.Millisecond)
	}
	f.BitRate, _ = strconv.ParseInt(said.Format.BitRate, 10, 64)
	return f, nil
}

func fraction(text string) float64 {
	above, below, ok := strings.Cut(text, "/")
	n, err := strconv.ParseFloat(above, 64)
	d, errBelow := strconv.ParseFloat(below, 64)
	if !ok || err != nil || errBelow != nil || d == 0 {
		return 0
	}
	return n / d
}

// inspectFile is Inspect for a file on disk. It asks ffprobe about videos, and falls
// back to the container's headers when ffprobe is missing or fails.
func inspectFile(ctx context.Context, r interface {
	ReadAt(p []byte, at int64) (int, error)
	Name() string
}, size int64,
) (Facts, error) {
	f, err := Inspect(r, size)
	if err != nil || f.Kind != Video {
		return f, err
	}
	probed, err := ffprobe(ctx, r.Name(), f.MIMEType)
	if err != nil {
		return f, nil //nolint:nilerr // see above
	}
	if probed.Width > 0 && probed.Height > 0 {
		f.Width, f.Height, f.Rotation = probed.Width, probed.Height, probed.Rotation
		if f.Rotation%180 != 0 {
			f.Width, f.Height = f.Height, f.Width
		}
	}
	f.VideoCodec, f.AudioCodec = probed.VideoCodec, probed.AudioCodec
	f.AudioRate, f.PixelFormat = probed.AudioRate, probed.PixelFormat
	if probed.Duration > 0 {
		f.Duration = probed.Duration
	}
	if probed.FrameRate > 0 {
		f.FrameRate = probed.FrameRate
	}
	if probed.BitRate > 0 {
		f.BitRate = probed.BitRate
	}
	return f, nil
}
