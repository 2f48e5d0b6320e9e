package metadata_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"slices"
	"testing"

	"dateline/internal/publishing/media/metadata"
	"dateline/internal/publishing/media/verify"
	"dateline/internal/testing/mediatest"
)

// film builds an MP4 of one picture of sevens and further tracks of one chunk each.
type film struct {
	tracks []filmTrack
	lost   []byte // in the media, of no track
	large  bool   // co64, and a media box for each track
	moov   []byte // more boxes
}

type filmTrack struct {
	handler, entry string
	samples        [][]byte
}

func text(handler string, lines ...string) filmTrack {
	t := filmTrack{handler: handler, entry: "tx3g"}
	for _, line := range lines {
		t.samples = append(t.samples, append(binary.BigEndian.AppendUint16(nil, uint16(len(line))), line...))
	}
	return t
}

func (f film) bytes() []byte {
	tracks := append([]filmTrack{{"vide", "avc1", [][]byte{bytes.Repeat([]byte{7}, 500)}}}, f.tracks...)
	out := mediatest.Box("ftyp", []byte("isom"), mediatest.BE32(512), []byte("isomavc1"))
	offsets := make([]uint32, len(tracks))
	var media []byte
	for i, t := range tracks {
		offsets[i] = uint32(len(out) + 8 + len(media))
		media = append(media, slices.Concat(t.samples...)...)
		media = append(media, f.lost...)
		if f.large {
			out = append(out, mediatest.Box("mdat", media)...)
			media = nil
		}
	}
	if !f.large {
		out = append(out, mediatest.Box("mdat", media)...)
	}
	moov := [][]byte{mediatest.Box("mvhd", mediatest.BE32(0, 0, 0, 1000, 1000, 1<<16), make([]byte, 76))}
	for i, t := range tracks {
		moov = append(moov, t.box(uint32(i+1), offsets[i], f.large))
	}
	return append(out, mediatest.Box("moov", append(moov, f.moov)...)...)
}

func (t filmTrack) box(id, offset uint32, large bool) []byte {
	sizes := mediatest.BE32(0, 0, uint32(len(t.samples)))
	for _, s := range t.samples {
		sizes = append(sizes, mediatest.BE32(uint32(len(s)))...)
	}
	places := mediatest.Box("stco", mediatest.BE32(0, 1, offset))
	if large {
		places = mediatest.Box("co64", mediatest.BE32(0, 1, 0, offset))
	}
	return mediatest.Box("trak",
		mediatest.Box("tkhd", mediatest.BE32(7, 0, 0, id, 0, 1000), make([]byte, 60)),
		mediatest.Box("mdia", mediatest.Box("mdhd", mediatest.BE32(0, 0, 0, 1000, 1000, 0)),
			mediatest.Box("hdlr", mediatest.BE32(0, 0), []byte(t.handler), mediatest.BE32(0, 0, 0), []byte{0}),
			mediatest.Box("minf", mediatest.Box("stbl",
				mediatest.Box("stsd", mediatest.BE32(0, 1), mediatest.Box(t.entry, make([]byte, 78))),
				mediatest.Box("stts", mediatest.BE32(0, 1, uint32(len(t.samples)), 1)),
				mediatest.Box("stsc", mediatest.BE32(0, 1, 1, uint32(len(t.samples)), 1)),
				mediatest.Box("stsz", sizes), places))))
}

// fragments has its text in a fragment, after the picture. The place of the text follows
// from the end of the picture.
func fragments(line string) []byte {
	movie := film{tracks: []filmTrack{text("sbtl")}}.bytes()
	at := bytes.Index(movie, []byte("moov")) - 4
	moov := append(movie[at+8:], mediatest.Box("mvex", mediatest.Box("trex", mediatest.BE32(0, 1, 1, 0, 0, 0)),
		mediatest.Box("trex", mediatest.BE32(0, 2, 1, 0, 0, 0)))...)
	size := uint32(len(line))
	piece := func(offset uint32) []byte {
		return mediatest.Box("moof", mediatest.Box("mfhd", mediatest.BE32(0, 1)),
			mediatest.Box("traf", mediatest.Box("tfhd", mediatest.BE32(0, 2)),
				mediatest.Box("trun", mediatest.BE32(0x201, 1, offset, size))),
			mediatest.Box("traf", mediatest.Box("tfhd", mediatest.BE32(0, 1)),
				mediatest.Box("trun", mediatest.BE32(0x201, 1, 0, 300))))
	}
	moof := piece(uint32(len(piece(0)) + 8))
	return slices.Concat(mediatest.Box("ftyp", []byte("iso5"), mediatest.BE32(0), []byte("iso5")),
		mediatest.Box("moov", moov), moof,
		mediatest.Box("mdat", []byte(line), bytes.Repeat([]byte{7}, 300)))
}

// webm builds a WebM of a picture and a text, with more elements in its segment.
func webm(line string, more ...[]byte) []byte {
	e := mediatest.Element
	track := func(number, kind byte, codec string) []byte {
		return e(0xAE, e(0xD7, []byte{number}), e(0x73C5, []byte{number}), e(0x83, []byte{kind}),
			e(0x86, []byte(codec)))
	}
	return slices.Concat(e(0x1A45DFA3, e(0x4282, []byte("webm"))), e(0x18538067,
		e(0x1549A966, e(0x2AD7B1, []byte{0x0F, 0x42, 0x40})),
		e(0x1654AE6B, track(1, 1, "V_VP9"), track(2, 0x11, "D_WEBVTT/SUBTITLES")),
		slices.Concat(more...),
		e(0x1F43B675, e(0xE7, []byte{0}), e(0xA3, []byte("\x81\x00\x00\x80"), bytes.Repeat([]byte{7}, 300)),
			e(0xA0, e(0xA1, []byte("\x82\x00\x00\x00"), []byte(line)), e(0x9B, []byte{100})))))
}

func chapters(title string) []byte {
	e := mediatest.Element
	return e(0x1043A770, e(0x45B9,
		e(0xB6, e(0x73C4, []byte{1}), e(0x91, []byte{0}), e(0x80, e(0x85, []byte(title)), e(0x437C, []byte("und"))))))
}

func withEXIF(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		t.Fatal(err)
	}
	return slices.Concat(out.Bytes()[:2], mediatest.Segment(0xE1, []byte("Exif\x00\x00"), mediatest.EXIF(1)),
		out.Bytes()[2:])
}

func TestScan_RemovesPositionsFromVideos(t *testing.T) {
	const (
		nmea   = "$GPRMC,101112.00,A,2101.7100,N,10551.2520,E,0.02,,221126,,,A*7B"
		home   = "HOME(105.8542,21.0285) 2026.11.22"
		label  = "lat: 21.0285 lon: 105.8542"
		phrase = "The commission has little latitude here."
	)
	photo := withEXIF(t)
	free := slices.Concat([]byte("\x00\x00\x80\x00freeGPS \x98\x00\x00\x00"), make([]byte, 64),
		[]byte("A2101.7100N10551.2520"))
	for name, c := range map[string]struct {
		content []byte
		secret  string // gone
		stays   string
		place   bool
	}{
		"dashcam, blocks of no track": {
			film{lost: free, moov: mediatest.Box("gps ", mediatest.BE32(0, 1, 0, 44))}.bytes(), "freeGPS", "", true,
		},
		"blocks beside several media": {
			film{lost: free, large: true, tracks: []filmTrack{text("sbtl", phrase)}}.bytes(), "2101.71", phrase, true,
		},
		"blocks of another maker":  {film{lost: []byte("\x01\x02 21.0285,105.8542 \x03")}.bytes(), "21.0285", "", true},
		"bytes without a position": {film{lost: []byte("left over from an edit")}.bytes(), "left over", "", false},
		"sound of no track": {
			film{tracks: []filmTrack{{"meta", "mett", [][]byte{[]byte("text/plain temperature 21.5")}}}}.bytes(),
			"temperature", "", false,
		},

		"NMEA":       {film{tracks: []filmTrack{text("text", nmea)}}.bytes(), "GPRMC", "", true},
		"home point": {film{tracks: []filmTrack{text("sbtl", home)}}.bytes(), "HOME", "", true},
		"labels":     {film{tracks: []filmTrack{text("subt", label)}}.bytes(), "105.8542", "", true},
		"hemispheres": {
			film{tracks: []filmTrack{text("text", "N21.0285 E105.8542")}}.bytes(), "105.8542", "",
			true,
		},
		"one per sample": {
			film{tracks: []filmTrack{text("sbtl", "LAT 21.02851", "LON 105.85421")}}.bytes(),
			"21.0285", "", true,
		},
		"second sample": {
			film{tracks: []filmTrack{text("sbtl", "Recording started", "GPS(105.8542,21.0285,15)")}}.bytes(), "GPS(",
			"", true,
		},
		"sample after 64 KB": {
			film{tracks: []filmTrack{text("sbtl", string(bytes.Repeat([]byte("word "), 13_000)), "y", home)}}.bytes(),
			"HOME", "", true,
		},
		"fragments":          {fragments(home), "HOME", "", true},
		"words in fragments": {fragments(phrase), "", phrase, false},
		"sentence": {
			film{tracks: []filmTrack{text("sbtl", phrase, "GPS: how it works")}}.bytes(), "", phrase,
			false,
		},
		"two texts": {
			film{tracks: []filmTrack{text("sbtl", phrase), text("sbtl", label)}}.bytes(), label, phrase,
			true,
		},

		"WebM":                  {webm(home), "HOME", "", true},
		"WebM, sentence":        {webm(phrase, chapters("Start")), "", phrase, false},
		"WebM, chapter":         {webm(phrase, chapters("Home 21.0285, 105.8542")), "21.0285", phrase, true},
		"WebM, unknown element": {webm(phrase, mediatest.Element(0x4FFF, []byte(label))), label, phrase, true},
		"WebM, tag": {
			webm(phrase, mediatest.Element(0x1254C367, mediatest.Element(0x7373, mediatest.Element(0x67C8,
				mediatest.Element(0x45A3, []byte("COMMENT")),
				mediatest.Element(0x4487, []byte("+21.0285+105.8542/")))))),
			"21.0285", phrase, true,
		},

		"second video track": {
			film{tracks: []filmTrack{{"vide", "jpeg", [][]byte{photo}}}}.bytes(), mediatest.Camera,
			"", true,
		},
		"cover in user data": {
			film{moov: mediatest.Box("udta", mediatest.Box("meta", mediatest.BE32(0), photo))}.bytes(),
			mediatest.Camera, "", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			mimeType := "video/mp4"
			if c.content[0] == 0x1A {
				mimeType = "video/webm"
			}
			out, plan := strip(t, c.content, mimeType, metadata.Options{})
			if c.secret != "" {
				absent(t, out, []byte(c.secret))
			}
			if c.stays != "" && !bytes.Contains(out, []byte(c.stays)) {
				t.Errorf("%q is gone", c.stays)
			}
			if got := slices.Contains(plan.Removed, metadata.Location); got != c.place {
				t.Errorf("location removed %t, want %t: %v", got, c.place, plan.Removed)
			}
			if found, err := verify.HasPosition(bytes.NewReader(out), int64(len(out)), mimeType); found || err != nil {
				t.Errorf("the independent reader finds a position: %t, %v", found, err)
			}
			if want, got := bytes.Count(c.content, []byte{7, 7, 7, 7}), bytes.Count(out,
				[]byte{7, 7, 7, 7}); got != want {
				t.Errorf("%d bytes of pictures are left, want %d", 4*got, 4*want)
			}
			if again, second := strip(t, out, mimeType, metadata.Options{}); !bytes.Equal(again, out) ||
				len(second.Removed) > 0 {
				t.Errorf("the second time %v is removed, want nothing", second.Removed)
			}
		})
	}
}

// A film of pictures keeps them without their metadata.
func TestScan_CleansFramesThatArePictureFiles(t *testing.T) {
	frame := withEXIF(t)
	track := filmTrack{"vide", "jpeg", [][]byte{frame, frame}}
	out := mediatest.Box("ftyp", []byte("qt  "), mediatest.BE32(512), []byte("qt  "))
	at := uint32(len(out) + 8)
	out = slices.Concat(out, mediatest.Box("mdat", frame, frame),
		mediatest.Box("moov", mediatest.Box("mvhd", mediatest.BE32(0, 0, 0, 1000, 1000, 1<<16), make([]byte, 76)),
			track.box(1, at, false)))
	cleaned, plan := strip(t, out, "video/quicktime", metadata.Options{})
	absent(t, cleaned, mediatest.Secrets()...)
	if !slices.Contains(plan.Removed, metadata.Location) {
		t.Errorf("removed %v, want the location", plan.Removed)
	}
	for i := range 2 {
		if _, err := jpeg.Decode(bytes.NewReader(cleaned[int(at)+i*len(frame):][:len(frame)])); err != nil {
			t.Errorf("frame %d: %v", i, err)
		}
	}
}
