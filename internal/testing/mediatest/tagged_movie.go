package mediatest

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// Telemetry is the content of a track of positions, chunk by chunk.
func Telemetry() []byte { return []byte("SECRET GPS5 " + Position + " ") }

// TaggedMovie is a movie like those of phones and action cameras: with a position in
// its user data and its metadata, the name of the camera, times, XMP, a track of
// positions interleaved with the pictures, and trailing notes.
func TaggedMovie(largeOffsets bool) []byte {
	telemetry := Telemetry()
	picture := bytes.Repeat([]byte{7}, 17*60) // of 50 frames
	mdat := Box("mdat", picture, telemetry, picture, telemetry, telemetry, picture[:16*60])
	ftyp := Box("ftyp", []byte("mp42"), BE32(512), []byte("mp42avc1"))
	free := Box("free", []byte("freeGPS SECRET"))
	at := len(ftyp) + len(free) + 8
	chunks := []int{at + len(picture), at + 2*len(picture) + len(telemetry)} // one sample, then two
	offsets := Box("stco", BE32(0, 2, uint32(chunks[0]), uint32(chunks[1]))) //nolint:gosec // small
	if largeOffsets {
		offsets = Box("co64", BE32(0, 2, 0, uint32(chunks[0]), 0, uint32(chunks[1]))) //nolint:gosec // small
	}
	matrix := BE32(1<<16, 0, 0, 0, 1<<16, 0, 0, 0, 1<<30)
	positions := Box("trak",
		Box("tkhd", BE32(7, 1, 2, 3, 0, 1000, 0, 0, 0, 0), matrix, BE32(0, 0)),
		Box("mdia",
			Box("mdhd", BE32(0, 1, 2, 1000, 1000, 0)),
			Box("hdlr", BE32(0, 0), []byte("meta"), BE32(0, 0, 0), []byte("SECRET MET\x00")),
			Box("minf", Box("stbl",
				Box("stsd", BE32(0, 1), Box("gpmd", BE32(0, 1))),
				Box("stsz", BE32(0, uint32(len(telemetry)), 3)), //nolint:gosec // small
				Box("stsc", BE32(0, 2, 1, 1, 1, 2, 2, 1)),
				offsets))))
	user := Box("udta", Box("\xA9xyz", []byte{0, byte(len(Position)), 0x15, 0xC7}, []byte(Position)),
		Box("\xA9mod", []byte(Camera)), Box("XMP_", XMP()))
	keys := Box("meta", Box("hdlr", BE32(0, 0), []byte("mdta"), BE32(0, 0, 0)),
		Box("keys", BE32(0, 1), Box("mdta", []byte("com.apple.quicktime.location.ISO6709"))),
		Box("ilst", Box("\x00\x00\x00\x01", Box("data", BE32(1, 0), []byte(Position)))))
	next := uint32(len(picture) + //nolint:gosec // small
		len(telemetry))
	moov := Movie{Width: 640, Height: 360, Seconds: 2, Frames: 3000}.moov(uint32(at), uint32(at)+next, //nolint:gosec // small
		uint32(at)+2*next+uint32(len(telemetry))) //nolint:gosec // small
	binary.BigEndian.PutUint32(moov[8+8+4:], 3_900_000_000) // mvhd: creation time
	// The first track's description names the encoder.
	entry := bytes.Index(moov, []byte("avc1")) + 4
	copy(moov[entry+42:], "\x0ESECRET encoder")
	moov = Box("moov", moov[8:], positions, user, keys)
	uuid := Box("uuid", []byte("\xBE\x7A\xCF\xCB\x97\xA9\x42\xE8\x9C\x71\x99\x94\x91\xE3\xAF\xAC"), XMP())
	return slices.Concat(ftyp, free, mdat, moov, uuid, []byte("SECRET notes of a 360 camera"))
}

// FragmentedMovie has its pictures and positions in a fragment.
func FragmentedMovie() []byte {
	telemetry, picture := Telemetry(), bytes.Repeat([]byte{7}, 500)
	head := Movie{Width: 640, Height: 360, Seconds: 2, Silent: true}.moov()
	binary.BigEndian.PutUint32(head[bytes.Index(head, []byte("tkhd"))+16:], 1)
	positions := Box("trak",
		Box("tkhd", BE32(7, 0, 0, 2, 0, 0, 0, 0, 0, 0), make([]byte, 36), BE32(0, 0)),
		Box("mdia", Box("mdhd", BE32(0, 0, 0, 1000, 0, 0)), Box("hdlr", BE32(0, 0), []byte("camm"), BE32(0, 0, 0)),
			Box("minf", Box("stbl", Box("stsd", BE32(0, 1), Box("camm", BE32(0, 1)))))))
	extends := Box("mvex", Box("trex", BE32(0, 1, 1, 0, 500, 0)),
		Box("trex", BE32(0, 2, 1, 0, uint32(len(telemetry)), 0))) //nolint:gosec // small
	moov := Box("moov", head[8:], positions, extends)
	fragment := func(offset uint32) []byte {
		return Box("moof", Box("mfhd", BE32(0, 1)),
			Box("traf", Box("tfhd", BE32(0x020000, 1)), Box("trun", BE32(0x01, 1, offset))),
			Box("traf", Box("tfhd", BE32(0x020000, 2)),
				Box("trun", BE32(0x201, 2, offset+500, uint32(len(telemetry)), uint32(len(telemetry)))))) //nolint:gosec // small
	}
	moof := fragment(uint32(len(fragment(0)) + 8)) //nolint:gosec // small
	return slices.Concat(Box("ftyp", []byte("iso5"), BE32(0), []byte("iso5")), moov, moof,
		Box("mdat", picture, telemetry, telemetry))
}

// Element is an EBML element (RFC 8794, 6).
func Element(id uint32, content ...[]byte) []byte {
	body := slices.Concat(content...)
	out := bytes.TrimLeft(BE32(id), "\x00")
	out = binary.BigEndian.AppendUint64(out, 1<<56|uint64(len(body)))
	return append(out, body...)
}

// TaggedWebM is a WebM with a title, a date, tags, and an attachment. A live one has
// segments and clusters of unknown length.
func TaggedWebM(live bool) []byte {
	text := func(id uint32, s string) []byte { return Element(id, []byte(s)) }
	video := Element(0xE0, Element(0xB0, []byte{2, 128}), Element(0xBA, []byte{1, 104}))
	info := Element(0x1549A966, []byte{0xBF, 0x84, 1, 2, 3, 4}, Element(0x2AD7B1, []byte{0x0F, 0x42, 0x40}),
		text(0x4D80, "SECRET muxer"), text(0x5741, "SECRET writer"),
		text(0x7BA9, Note), Element(0x4461, BE32(1, 2)),
		Element(0x4489, binary.BigEndian.AppendUint64(nil, math.Float64bits(2000))))
	tracks := Element(0x1654AE6B, Element(0xAE, Element(0x83, []byte{1}), text(0x86, "V_VP9"), text(0x536E, Camera),
		video))
	frames := slices.Concat(Element(0xE7, []byte{0}), Element(0xA3, []byte("frames")))
	cluster := Element(0x1F43B675, frames)
	if live {
		cluster = slices.Concat([]byte{0x1F, 0x43, 0xB6, 0x75, 0x01, 255, 255, 255, 255, 255, 255, 255}, frames)
	}
	tags := Element(0x1254C367, Element(0x7373, Element(0x67C8, text(0x45A3, "LOCATION"), text(0x4487, Position))))
	attached := Element(0x1941A469, Element(0x61A7, text(0x466E, "SECRET.jpg")))
	head := Element(0x1A45DFA3, text(0x4282, "webm"))
	if live {
		return slices.Concat(head, []byte{0x18, 0x53, 0x80, 0x67, 0x01, 255, 255, 255, 255, 255, 255, 255}, info,
			tracks, cluster, tags)
	}
	return slices.Concat(head, Element(0x18538067, info, tracks, cluster, attached, tags))
}
