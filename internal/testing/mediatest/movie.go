// Package mediatest creates videos for tests: small ones of any shape, and large ones
// that need little memory.
package mediatest

import (
	"bytes"
	"encoding/binary"
	"io"
	"slices"
)

// Box is a box of an MP4 with its content (ISO/IEC 14496-12, 4.2).
func Box(kind string, content ...[]byte) []byte {
	body := slices.Concat(content...)
	out := BE32(uint32(8 + len(body))) //nolint:gosec // tests make small boxes
	return append(append(out, kind...), body...)
}

// BE32 encodes numbers as 32 bits, big-endian, as boxes do.
func BE32(values ...uint32) (out []byte) {
	for _, v := range values {
		out = binary.BigEndian.AppendUint32(out, v)
	}
	return out
}

// Movie is an MP4 of 25 samples a second, with sound.
type Movie struct {
	Brand         string // empty: isom
	Width, Height uint32
	Seconds       uint32
	Turn          [4]uint32 // of the matrix: a, b, c, d as 16.16
	Silent        bool
	MoovFirst     bool
	Frames        int // bytes of mdat
}

// Bytes makes the whole movie.
func (m Movie) Bytes() []byte {
	if m.Brand == "" {
		m.Brand = "isom"
	}
	out := Box("ftyp", []byte(m.Brand), BE32(512), []byte(m.Brand), []byte("avc1"))
	mdat := Box("mdat", make([]byte, m.Frames))
	if m.MoovFirst {
		at := len(out) + len(m.moov(0)) + 8
		return slices.Concat(out, m.moov(uint32(at)), mdat) //nolint:gosec // small
	}
	out = slices.Concat(out, Box("free"), mdat)
	return slices.Concat(out, m.moov(uint32(len(out)-m.Frames))) //nolint:gosec // tests stay below 4 GiB
}

// moov has tracks whose samples share the media, which begin at the given places.
func (m Movie) moov(chunks ...uint32) []byte {
	if m.Turn == [4]uint32{} {
		m.Turn = [4]uint32{1 << 16, 0, 0, 1 << 16}
	}
	matrix := BE32(m.Turn[0], m.Turn[1], 0, m.Turn[2], m.Turn[3], 0, 0, 0, 1<<30)
	if m.Frames == 0 {
		chunks = nil
	}
	track := func(handler, codec string, scale, samples, size uint32, entry []byte) []byte {
		return Box("trak",
			Box("tkhd", BE32(7, 0, 0, 1, 0, m.Seconds*1000, 0, 0, 0, 0), matrix, BE32(m.Width<<16, m.Height<<16)),
			Box("mdia",
				Box("mdhd", BE32(0, 0, 0, scale, m.Seconds*scale, 0)),
				Box("hdlr", BE32(0, 0), []byte(handler), BE32(0, 0, 0), []byte("\x00")),
				Box("minf", Box("stbl",
					Box("stsd", BE32(0, 1), Box(codec, make([]byte, 8), entry)),
					Box("stsz", BE32(0, size, samples)),
					Box("stsc", BE32(0, 1, 1, (samples-1)/max(uint32(len(chunks)), 1)+1, 1)), //nolint:gosec // few
					Box("stco", BE32(0, uint32(len(chunks))), BE32(chunks...))))))            //nolint:gosec // few
	}
	picture := append(make([]byte, 16), byte(m.Width>>8), byte(m.Width), byte(m.Height>>8), byte(m.Height)) //nolint:gosec // low bytes are meant
	picture = append(picture, make([]byte, 50)...)
	tracks := track("vide", "avc1", 12800, 25*m.Seconds, (uint32(m.Frames)+25*m.Seconds-1)/max(25*m.Seconds, 1), //nolint:gosec // tests stay below 4 GiB
		picture)
	if !m.Silent {
		tracks = append(tracks, track("soun", "mp4a", 48000, 47*m.Seconds, 1, make([]byte, 20))...)
	}
	return Box("moov", Box("mvhd", BE32(0, 0, 0, 1000, m.Seconds*1000, 1<<16, 0, 0, 0),
		BE32(1<<16, 0, 0, 0, 1<<16, 0, 0, 0, 1<<30), make([]byte, 28)), tracks)
}

// Long returns a minute of video (mp42, which net/http detects) with frames of a given
// size, none of them in memory, and its total size.
func Long(frames int64) (content io.Reader, size int64) {
	m := Movie{Brand: "mp42", Width: 1920, Height: 1080, Seconds: 60, Frames: int(frames)}
	head := Box("ftyp", []byte(m.Brand), BE32(512), []byte(m.Brand), []byte("avc1"))
	at := len(head) + len(m.moov(0)) + 8
	head = slices.Concat(head, m.moov(uint32(at)), BE32(uint32(frames+8)), []byte("mdat")) //nolint:gosec // tests stay below 4 GiB
	return io.MultiReader(bytes.NewReader(head), io.LimitReader(pattern{}, frames)), int64(len(head)) + frames
}

type pattern struct{}

func (pattern) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 7
	}
	return len(p), nil
}
