package media_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/jpeg"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dateline/internal/infra/apperr"
	"dateline/internal/publishing/media"

	"dateline/internal/testing/mediatest"
)

// fixCRC recomputes the checksum of a PNG's header.
func fixCRC(content []byte) {
	binary.BigEndian.PutUint32(content[29:], crc32.ChecksumIEEE(content[12:29]))
}

func inspect(content []byte) (media.Facts, error) {
	return media.Inspect(bytes.NewReader(content), int64(len(content)))
}

func problemOf(err error) apperr.FieldError {
	var e *apperr.Error
	if !errors.As(err, &e) || len(e.Fields) != 1 {
		return apperr.FieldError{}
	}
	return e.Fields[0]
}

func TestInspect_ReadsVideoContainers(t *testing.T) {
	const one = uint32(1 << 16)
	minus := uint32(math.MaxUint32 - (1<<16 - 1))
	base := media.Facts{
		MIMEType: "video/mp4", Kind: media.Video, Width: 640, Height: 360, Orientation: 1,
		Duration: 4 * time.Second, FrameRate: 25, VideoCodec: "h264", AudioCodec: "aac",
	}
	with := func(change func(*media.Facts)) media.Facts {
		f := base
		change(&f)
		return f
	}
	for name, c := range map[string]struct {
		content []byte
		want    media.Facts
	}{
		"index at the end": {mediatest.Movie{Width: 640, Height: 360, Seconds: 4, Frames: 5000}.Bytes(), base},
		"index first": {
			mediatest.Movie{Width: 640, Height: 360, Seconds: 4, Frames: 5000, MoovFirst: true}.Bytes(), base,
		},
		"silent": {
			mediatest.Movie{Width: 640, Height: 360, Seconds: 4, Silent: true}.Bytes(),
			with(func(f *media.Facts) { f.AudioCodec = "" }),
		},
		"brand without mp4": {mediatest.Movie{Brand: "iso5", Width: 640, Height: 360, Seconds: 4}.Bytes(), base},
		"QuickTime": {
			mediatest.Movie{Brand: "qt  ", Width: 640, Height: 360, Seconds: 4}.Bytes(),
			with(func(f *media.Facts) { f.MIMEType = "video/quicktime" }),
		},
		"held upright": {
			mediatest.Movie{Width: 640, Height: 360, Seconds: 4, Turn: [4]uint32{0, one, minus, 0}}.Bytes(),
			with(func(f *media.Facts) { f.Width, f.Height, f.Rotation = 360, 640, 90 }),
		},
		"held upside down": {
			mediatest.Movie{Width: 640, Height: 360, Seconds: 4, Turn: [4]uint32{minus, 0, 0, minus}}.Bytes(),
			with(func(f *media.Facts) { f.Rotation = 180 }),
		},
		"turned to the left": {
			mediatest.Movie{Width: 640, Height: 360, Seconds: 4, Turn: [4]uint32{0, minus, one, 0}}.Bytes(),
			with(func(f *media.Facts) { f.Width, f.Height, f.Rotation = 360, 640, 270 }),
		},
		"WebM": {
			webm("webm", 640, 360, 4000),
			with(func(f *media.Facts) { f.MIMEType, f.VideoCodec, f.AudioCodec = "video/webm", "vp9", "opus" }),
		},
	} {
		got, err := inspect(c.content)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		c.want.BitRate = int64(len(c.content)) * 8 / 4
		if got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, c.want)
		}
	}
}

func TestProbe_DistinguishesAnimationsFromStills(t *testing.T) {
	still := slices.Concat([]byte("RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f"), []byte{
		0x1d, 0xc0, 0x04, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	})
	apng := pngOf(t)
	control := []byte("acTL\x00\x00\x00\x03\x00\x00\x00\x00")
	apng = slices.Concat(apng[:33], mediatest.BE32(8), control, mediatest.BE32(crc32.ChecksumIEEE(control)), apng[33:])
	for name, c := range map[string]struct {
		content  []byte
		kind     media.Kind
		frames   int
		duration time.Duration
	}{
		"still GIF":       {moving(t, 1), media.Image, 1, 0},
		"animated GIF":    {moving(t, 7), media.Animation, 7, 1050 * time.Millisecond},
		"unfinished GIF":  {bytes.TrimRight(moving(t, 3), ";"), media.Animation, 3, 450 * time.Millisecond},
		"still WebP":      {still, media.Image, 1, 0},
		"animated WebP":   {movingWebP(4), media.Animation, 4, 400 * time.Millisecond},
		"still PNG":       {pngOf(t), media.Image, 1, 0},
		"animated PNG":    {apng, media.Animation, 3, 0},
		"JPEG":            {photo(t, 30, 20, 1), media.Image, 1, 0},
		"JPEG, a quarter": {photo(t, 20, 30, 6), media.Image, 1, 0},
	} {
		got, err := inspect(c.content)
		require.NoError(t, err, "%s: %+v %v", name, got, err)
		require.Equal(t, c.kind, got.Kind, "%s: %+v %v", name, got, err)
		require.Equal(t, c.frames, got.Frames, "%s: %+v %v", name, got, err)
		require.Equal(t, c.duration, got.Duration, "%s: %+v %v", name, got, err)
		require.Equal(t, 30, got.Width, "%s: %+v %v", name, got, err)
		require.Equal(t, 20, got.Height, "%s: %+v %v", name, got, err)
	}
}

func TestInspect_AppliesEXIFOrientation(t *testing.T) {
	for orientation := range 10 {
		got, err := inspect(photo(t, 40, 20, orientation))
		turned := orientation >= 5 && orientation <= 8
		require.NoError(t, err, "orientation %d: %+v %v", orientation, got, err)
		require.Equal(t, turned, (got.Width == 20), "orientation %d: %+v %v", orientation, got, err)
		require.Equal(t, turned, (got.Height == 40), "orientation %d: %+v %v", orientation, got, err)
		require.False(t, got.Orientation < 1, "orientation %d: %+v %v", orientation, got, err)
		require.False(t, got.Orientation > 8, "orientation %d: %+v %v", orientation, got, err)
	}
}

func TestInspect_ExplainsRejectedFiles(t *testing.T) {
	heic := slices.Concat(mediatest.BE32(24), []byte("ftypheic"), mediatest.BE32(0), []byte("mif1heic"))
	for name, c := range map[string]struct {
		content []byte
		code    string
		message string
	}{
		"wide bomb":   {bomb(t, 60_000, 10), "too_many_pixels", "60000 × 10"},
		"square bomb": {bomb(t, 29_000, 29_000), "too_many_pixels", "29000 × 29000"},
		"HEIC":        {heic, "unsupported_type", "as JPEG"},
		"sound":       {mediatest.Movie{Brand: "M4A "}.Bytes(), "unsupported_type", "only audio"},
		"Matroska":    {webm("matroska", 10, 10, 10), "unsupported_type", "Matroska"},
		"no index": {
			mediatest.Box("ftyp", []byte("isom"), mediatest.BE32(0), []byte("mp42")), "damaged",
			"no index",
		},
		"cut index": {mediatest.Movie{Width: 10, Height: 10, Seconds: 1}.Bytes()[:200], "damaged", "too early"},
		"cut WebM":  {webm("webm", 10, 10, 10)[:60], "damaged", ""},
		"cut GIF":   {moving(t, 3)[:70], "damaged", ""},
		"endless nesting": {
			slices.Concat(mediatest.Box("ftyp", []byte("isom"), mediatest.BE32(0)), nested(40)),
			"damaged", "nested",
		},
		"a million parts": {
			slices.Concat(mediatest.Box("ftyp", []byte("isom"), mediatest.BE32(0)),
				mediatest.Box("moov", bytes.Repeat(mediatest.Box("free"), 20_000))), "damaged", "too many",
		},
	} {
		_, err := inspect(c.content)
		if p := problemOf(err); p.Code != c.code || !strings.Contains(p.Message, c.message) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func nested(depth int) []byte {
	inner := mediatest.Box("mdia")
	for range depth {
		inner = mediatest.Box("mdia", inner)
	}
	return mediatest.Box("moov", mediatest.Box("trak", inner))
}

// counting counts the bytes read.
type counting struct {
	io.ReaderAt
	read int
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.read += n
	return n, err
}

func TestInspect_ReadsOnlyHeadersOfVideos(t *testing.T) {
	content := mediatest.Movie{Width: 640, Height: 360, Seconds: 9, Frames: 8 << 20}.Bytes()
	r := &counting{ReaderAt: bytes.NewReader(content)}
	if _, err := media.Inspect(r, int64(len(content))); err != nil || r.read > 8<<10 {
		t.Errorf("%d bytes are read, %v", r.read, err)
	}
}

func TestInspect_ReturnsReaderErrors(t *testing.T) {
	whole := mediatest.Movie{Width: 640, Height: 360, Seconds: 9}.Bytes()
	away := errors.New("the bucket is unavailable")
	for limit := range int64(len(whole)) {
		_, err := media.Inspect(failing{bytes.NewReader(whole), limit, away}, int64(len(whole)))
		if err != nil && !errors.Is(err, away) {
			t.Fatalf("at %d: %v", limit, err)
		}
	}
}

type failing struct {
	io.ReaderAt
	from int64
	err  error
}

func (f failing) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > f.from {
		return 0, f.err
	}
	return f.ReaderAt.ReadAt(p, at)
}

// For any file, inspection returns properties within limits or a refusal, and reads a
// bounded number of bytes.
func FuzzMP4(f *testing.F) {
	f.Add(mediatest.Movie{Width: 640, Height: 360, Seconds: 4, Frames: 10}.Bytes())
	f.Add(mediatest.Movie{Brand: "qt  ", Width: 640, Height: 360, Seconds: 4, MoovFirst: true, Silent: true}.Bytes())
	f.Add(nested(3))
	f.Add(slices.Concat(mediatest.Box("ftyp", []byte("isom"), mediatest.BE32(0)), mediatest.BE32(1), []byte("moov"),
		mediatest.BE32(0, 24), mediatest.Box("mvhd", mediatest.BE32(1<<24))))
	fuzzInspect(f)
}

func FuzzWebM(f *testing.F) {
	f.Add(webm("webm", 640, 360, 4000))
	f.Add(webm("webm", 640, 360, math.Inf(1)))
	f.Add([]byte("\x1a\x45\xdf\xa3\x80webm\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff"))
	fuzzInspect(f)
}

func FuzzImage(f *testing.F) {
	f.Add(moving(f, 3))
	f.Add(movingWebP(2))
	f.Add(photo(f, 8, 8, 6))
	f.Add(withSegment(photo(f, 8, 8, 6), 0xE2, append([]byte("ICC_PROFILE\x00\x01\x01"), profile()...)))
	f.Add(bomb(f, 1, 1))
	fuzzInspect(f)
}

func fuzzInspect(f *testing.F) {
	f.Helper()
	f.Fuzz(func(t *testing.T, content []byte) {
		got, err := inspect(content)
		if err != nil {
			if problemOf(err).Message == "" {
				t.Fatalf("refused without a reason: %v", err)
			}
			return
		}
		require.False(t, got.Width < 0, "%+v", got)
		require.False(t, got.Height < 0, "%+v", got)
		require.False(t, got.Duration < 0, "%+v", got)
		require.False(t, got.Frames < 0, "%+v", got)
		require.False(t, got.FrameRate < 0, "%+v", got)
		require.False(t, math.IsInf(got.FrameRate, 0))
		require.False(t, math.IsNaN(got.FrameRate))
		require.False(t, got.BitRate < 0, "%+v", got)
		if got.Kind == "" || !slices.Contains(media.Accepted(), got.MIMEType) {
			t.Fatalf("%+v", got)
		}
	})
}

// Progressive JPEGs and those with many segments are accepted.
func TestInspect_UnusualJPEGs(t *testing.T) {
	content := photo(t, 16, 16, 3)
	for range 30 {
		content = withSegment(content, 0xED, make([]byte, 60_000))
	}
	got, err := inspect(content)
	if err != nil || got.Orientation != 3 {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := jpeg.Decode(bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := image.DecodeConfig(bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
}
