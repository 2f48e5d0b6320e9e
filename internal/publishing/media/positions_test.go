package media_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"dateline/internal/publishing/media/verify"
	"dateline/internal/testing/mediatest"
	"dateline/internal/testing/newsroomtest"
)

// The place that the generated files contain, in the forms of programs that write it.
const (
	placeISO  = "+21.0285+105.8542/"
	placePair = "Home (105.8542, 21.0285)"
	placeNMEA = "$GPRMC,101112.00,A,2101.7100,N,10551.2520,E,0.02,,221126,,,A*7B"
	sentence  = "The commission has little latitude here."
)

// hanoi is EXIF with the place: 21° 1′ 42.6″ N, 105° 51′ 15.12″ E.
func hanoi() []byte {
	le := binary.LittleEndian
	entry := func(tag, kind uint16, count, value uint32) []byte {
		return le.AppendUint32(le.AppendUint32(le.AppendUint16(le.AppendUint16(nil, tag), kind), count), value)
	}
	head := slices.Concat([]byte("II*\x00\x08\x00\x00\x00\x01\x00"), entry(0x8825, 4, 1, 26), make([]byte, 4))
	head = slices.Concat(head, []byte{4, 0}, entry(1, 2, 2, 'N'), entry(2, 5, 3, 80), entry(3, 2, 2, 'E'),
		entry(4, 5, 3, 104), make([]byte, 4))
	for _, n := range []uint32{21, 1, 1, 1, 426, 10, 105, 1, 51, 1, 1512, 100} {
		head = le.AppendUint32(head, n)
	}
	return head
}

// picture is a JPEG, with EXIF if there is any.
func picture(t *testing.T, exif []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, image.NewRGBA(image.Rect(0, 0, 64, 64)), nil); err != nil {
		t.Fatal(err)
	}
	if exif == nil {
		return out.Bytes()
	}
	return slices.Concat(out.Bytes()[:2], mediatest.Segment(0xE1, []byte("Exif\x00\x00"), exif), out.Bytes()[2:])
}

// generated is a file made by ffmpeg.
type generated struct {
	name, container, place string
	hasPosition            bool
}

// containers are ways in which ffmpeg writes files.
func containers() map[string][]string {
	return map[string][]string{
		"end.mp4":       nil,
		"start.mp4":     {"-movflags", "+faststart"},
		"pieces.mp4":    {"-movflags", "+frag_keyframe+empty_moov"},
		"dash.mp4":      {"-movflags", "+frag_keyframe+empty_moov+default_base_moof"},
		"relative.mp4":  {"-movflags", "+frag_keyframe+empty_moov+separate_moof+omit_tfhd_offset"},
		"quicktime.mov": nil,
		"web.webm":      nil,
		"live.webm":     {"-live", "1"},
	}
}

func places() []string { return []string{"tags", "text", "chapters", "orphans", "picture"} }

func run(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.Output()
	if err != nil || problem.Len() > 0 {
		return out, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, problem.String())
	}
	return out, nil
}

// isInstalled reports whether a program is installed; in CI it has to be.
func isInstalled(t *testing.T, program string) bool {
	t.Helper()
	_, err := exec.LookPath(program)
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatalf("%s is not installed", program)
	}
	return err == nil
}

// Videos with a position in five places of eight containers: it is gone, that is
// reported, and the video plays. The same videos without a position keep their captions.
func TestIngest_RemovesPositionsFromGeneratedVideos(t *testing.T) {
	if !isInstalled(t, "ffmpeg") {
		t.Skip("ffmpeg is not installed")
	}
	n := newsroomtest.Open(t)
	dir := t.TempDir()
	write := func(name string, content []byte) {
		t.Helper()
		n.Must(os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
	lines := []string{"Recording started", sentence, "The end of 9.58, 9.63 seconds."}
	captions := func(lines []string) []byte {
		out := "WEBVTT\n\n"
		for i, line := range lines {
			out += fmt.Sprintf("00:00:0%d.100 --> 00:00:0%d.900\n%s\n\n", i, i, line)
		}
		return []byte(out)
	}
	write("false.vtt", captions(lines))
	write("true.vtt", captions([]string{lines[0], "GPS(105.8542,21.0285,15)", lines[1]}))
	chapter := ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1\nSTART=0\nEND=1\ntitle=Start\n[CHAPTER]\nTIMEBASE=1/1\n" +
		"START=1\nEND=3\ntitle="
	write("false.txt", []byte(chapter+"Little latitude\n"))
	write("true.txt", []byte(chapter+placePair+"\n"))
	write("false.jpg", picture(t, nil))
	write("true.jpg", picture(t, hanoi()))
	lavfi := []string{
		"-v", "error", "-f", "lavfi", "-i", "testsrc=duration=3:size=64x64:rate=10", "-f", "lavfi", "-i",
		"sine=duration=3", "-g", "10", "-y",
	}
	for name, codecs := range map[string][]string{
		"base.mp4": {
			"-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac",
		},
		"base.webm": {"-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-c:a", "libvorbis"},
	} {
		_, err := run(t.Context(), "ffmpeg", append(slices.Concat(lavfi, codecs), filepath.Join(dir, name))...)
		n.Must(err)
	}
	var files []generated
	for container := range containers() {
		for _, place := range places() {
			for _, hasPosition := range []bool{true, false} {
				files = append(files, generated{
					fmt.Sprintf("%t-%s-%s", hasPosition, place, container), container, place, hasPosition,
				})
			}
		}
	}
	n.Must(os.Mkdir(filepath.Join(dir, "stored"), 0o700))
	var group errgroup.Group
	group.SetLimit(4)
	for _, f := range files {
		group.Go(func() error {
			content, err := f.generate(t.Context(), dir)
			if err != nil {
				return err
			}
			if found, err := verify.HasPosition(bytes.NewReader(content), int64(len(content)),
				mimeOf(f.name)); found != f.hasPosition || err != nil {
				t.Errorf("%s before: position %t, %v, want %t", f.name, found, err, f.hasPosition)
			}
			item, err := n.Media.Upload(t.Context(), n.Owner, f.name, "", bytes.NewReader(content))
			if err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			if item.LocationRemoved() != f.hasPosition {
				t.Errorf("%s: location removed %t, want %t", f.name, item.LocationRemoved(), f.hasPosition)
			}
			stored := read(t, n, item)
			if found, err := verify.HasPosition(bytes.NewReader(stored), int64(len(stored)), item.MIMEType); found ||
				err != nil {
				t.Errorf("%s: the stored file has a position, %v", f.name, err)
			}
			path := filepath.Join(dir, "stored", f.name)
			if err := os.WriteFile(path, stored, 0o600); err != nil {
				return err
			}
			return f.play(t, path)
		})
	}
	n.Must(group.Wait())
	if !isInstalled(t, "exiftool") {
		t.Log("exiftool is not installed; only the independent reader looked at the files")
		return
	}
	out, err := run(t.Context(), "exiftool", "-ee3", "-G1", "-a", "-n", "-api", "largefilesupport=1", "-json", "-r",
		"-q", filepath.Join(dir, "stored"))
	n.Must(err)
	var found []map[string]any
	n.Must(json.Unmarshal(out, &found))
	if len(found) != len(files) {
		t.Errorf("exiftool read %d files, want %d", len(found), len(files))
	}
	for _, tags := range found {
		for tag, value := range tags {
			if text := fmt.Sprint(value); strings.Contains(tag, "GPS") || strings.Contains(text, "21.028") ||
				strings.Contains(text, "105.854") {
				t.Errorf("%s: exiftool finds %s = %s", filepath.Base(fmt.Sprint(tags["SourceFile"])), tag, text)
			}
		}
	}
}

func mimeOf(name string) string {
	return map[string]string{".mp4": "video/mp4", ".mov": "video/quicktime", ".webm": "video/webm"}[filepath.Ext(name)]
}

// generate makes the file: every one has captions, and one place with or without a position.
func (f generated) generate(ctx context.Context, dir string) ([]byte, error) {
	in := func(name string) []string { return []string{"-i", filepath.Join(dir, name)} }
	isWebM := strings.HasSuffix(f.container, ".webm")
	base, text, codec := "base.mp4", "false.vtt", "mov_text"
	if isWebM {
		base, codec = "base.webm", "webvtt"
	}
	if f.place == "text" {
		text = fmt.Sprintf("%t.vtt", f.hasPosition)
	}
	args := slices.Concat([]string{"-v", "fatal"}, in(base), in(text))
	maps := []string{"-map", "0", "-map", "1"}
	switch {
	case f.place == "chapters":
		args = append(args, in(fmt.Sprintf("%t.txt", f.hasPosition))...)
		maps = append(maps, "-map_chapters", "2")
	case f.place == "picture" && !isWebM:
		args = append(args, in(fmt.Sprintf("%t.jpg", f.hasPosition))...)
		maps = append(maps, "-map", "2")
	case f.place == "picture" && f.hasPosition: // WebM has no pictures
		maps = append(maps, "-metadata:s:v", "title="+placePair)
	case f.place == "tags" && f.hasPosition:
		maps = append(maps, "-metadata", "location="+placeISO, "-metadata", "comment="+placePair)
	case f.place == "tags":
		maps = append(maps, "-metadata", "title="+sentence, "-metadata", "comment=Velocity 21.5, 105")
	}
	path := filepath.Join(dir, f.name)
	args = slices.Concat(args, maps, []string{"-c", "copy", "-c:s", codec}, containers()[f.container],
		[]string{"-y", path})
	if _, err := run(ctx, "ffmpeg", args...); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil || f.place != "orphans" {
		return content, err
	}
	notes := make([]byte, 2048)
	if f.hasPosition {
		copy(notes[100:], placeNMEA)
	}
	switch {
	case isWebM:
		return append(content, mediatest.Element(0xEC, notes)...), nil
	case f.container == "start.mp4": // within the media
		at := bytes.LastIndex(content, []byte("mdat")) - 4
		binary.BigEndian.PutUint32(content[at:], binary.BigEndian.Uint32(content[at:])+uint32(len(notes)))
		return append(content, notes...), nil
	}
	return append(content, mediatest.Box("mdat", notes)...), nil
}

// play decodes everything, and compares the captions of a file without a position.
func (f generated) play(t *testing.T, path string) error {
	out, err := run(t.Context(), "ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-map", "0:a", "-f", "null", "-",
		"-map", "0:s?", "-f", "webvtt", "-")
	keepsText := f.place != "text" || !f.hasPosition
	if !keepsText && err != nil && strings.Contains(err.Error(), "does not contain any stream") {
		out, err = run(t.Context(), "ffmpeg", "-v", "error", "-i", path, "-map", "0:v", "-map", "0:a", "-f", "null",
			"-")
	}
	if err != nil {
		t.Errorf("%s does not play: %v", f.name, err)
	}
	if keepsText != bytes.Contains(out, []byte(sentence)) || !f.hasPosition &&
		!bytes.Contains(out, []byte("9.58, 9.63")) {
		t.Errorf("%s: captions are kept: %t, want %t: %s", f.name, !keepsText, keepsText, out)
	}
	if !f.hasPosition {
		return nil
	}
	probed, err := run(t.Context(), "ffprobe", "-v", "error", "-show_streams", "-show_format", "-show_chapters", path)
	if err != nil || bytes.Contains(probed, []byte("21.028")) || bytes.Contains(probed, []byte("105.854")) {
		t.Errorf("%s: ffprobe finds %v %s", f.name, err, probed)
	}
	return nil
}
