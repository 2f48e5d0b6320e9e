package mediatest

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
)

// The metadata of the files. Secrets lists all of it.
const (
	Camera   = "SecretCam 900"
	Location = "Safe house, District 4"
	Position = "+10.7769+106.7009/"
	Note     = "met the source here"
	// Metadata that a workspace may choose to keep.
	Creator   = "An Nguyễn"
	Credit    = "Dateline Desk"
	Copyright = "© 2026 Newsroom & Partners"
)

// degrees are the numbers of a position in EXIF: rare enough to be searched for.
func degrees() []byte { return BE32(0x0A5EC2E7, 0x01A5EC2E) }

// Secrets lists what a stored file must not contain.
func Secrets() [][]byte {
	return [][]byte{
		degrees(), []byte(Camera), []byte(Location), []byte(Position), []byte(Note), []byte("GPSLatitude"),
		[]byte("SECRET"),
	}
}

// Credits is the metadata that a workspace may choose to keep.
func Credits() [][]byte { return [][]byte{[]byte(Creator), []byte(Credit), []byte("2026 Newsroom")} }

// EXIF is a TIFF structure like those of cameras: with a position, maker notes and a
// thumbnail.
func EXIF(orientation int) []byte {
	type entry struct {
		tag, kind uint16
		value     []byte
	}
	ascii := func(s string) []byte { return append([]byte(s), 0) }
	size := map[uint16]int{2: 1, 3: 2, 4: 4, 5: 8, 7: 1}
	out := []byte("MM\x00*\x00\x00\x00\x08")
	directory := func(entries []entry, last bool) {
		body := binary.BigEndian.AppendUint16(nil, uint16(len(entries))) //nolint:gosec // a few
		heapAt := len(out) + 2 + 12*len(entries) + 4
		var heap []byte
		for _, e := range entries {
			body = binary.BigEndian.AppendUint16(body, e.tag)
			body = binary.BigEndian.AppendUint16(body, e.kind)
			body = append(body, BE32(uint32(len(e.value)/size[e.kind]))...) //nolint:gosec // small
			if len(e.value) <= 4 {
				body = append(body, append(slices.Clone(e.value), 0, 0, 0, 0)[:4]...)
			} else {
				body = append(body, BE32(uint32(heapAt+len(heap)))...) //nolint:gosec // small
				heap = append(heap, e.value...)
				heap = append(heap, make([]byte, len(heap)%2)...)
			}
		}
		next := uint32(heapAt + len(heap)) //nolint:gosec // small
		if last {
			next = 0
		}
		out = append(append(append(out, body...), BE32(next)...), heap...)
	}
	// The directories follow one another; their offsets are computed first.
	first := []entry{
		{0x010E, 2, ascii(Note)},
		{0x010F, 2, ascii("SECRET Works")},
		{0x0110, 2, ascii(Camera)},
		{0x0112, 3, []byte{0, byte(orientation)}}, //nolint:gosec // 1 to 8
		{0x0132, 2, ascii("2026:11:22 10:11:12")},
		{0x013B, 2, ascii(Creator)},
		{0x8298, 2, ascii(Copyright)},
		{0x8769, 4, BE32(0)},
		{0x8825, 4, BE32(0)},
	}
	directory(first, false)
	directory([]entry{{0x0201, 4, BE32(0)}, {0x0202, 4, BE32(0)}}, true)
	inner := len(out)
	directory([]entry{
		{0x927C, 7, []byte("SECRET maker note " + Position)},
		{0x9286, 7, []byte("ASCII\x00\x00\x00" + Note)},
		{0xA431, 2, ascii("SECRET-0001")},
	}, true)
	position := len(out)
	directory([]entry{{1, 2, ascii("N")}, {2, 5, slices.Concat(degrees(), BE32(1, 1, 0, 1))}, {3, 2, ascii("E")}}, true)
	binary.BigEndian.PutUint32(out[8+2+7*12+8:], uint32(inner))    //nolint:gosec // small
	binary.BigEndian.PutUint32(out[8+2+8*12+8:], uint32(position)) //nolint:gosec // small
	return out
}

// XMP is a packet like those of editors.
func XMP() []byte {
	return []byte(`<?xpacket begin="` + "\uFEFF" +
		`" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"
 exif:GPSLatitude="10,46.6N" photoshop:Credit="` + Credit + `" photoshop:City="` + Location + `">
<dc:creator><rdf:Seq><rdf:li>` + Creator + `</rdf:li></rdf:Seq></dc:creator>
<dc:description><rdf:Alt><rdf:li xml:lang="x-default">` + Note + `</rdf:li></rdf:Alt></dc:description>
<dc:rights><rdf:Alt><rdf:li xml:lang="x-default">© 2026 Newsroom &amp; Partners</rdf:li></rdf:Alt></dc:rights>
</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`)
}

// IPTC is the body of an APP13 segment like those of agencies.
func IPTC() []byte {
	iim := []byte("\x1C\x01\x5A\x00\x03\x1B%G")
	for _, field := range []struct {
		dataset byte
		value   string
	}{{80, Creator}, {90, Location}, {110, Credit}, {116, Copyright}, {120, Note}} {
		iim = append(iim, 0x1C, 2, field.dataset, 0, byte(len(field.value))) //nolint:gosec // short
		iim = append(iim, field.value...)
	}
	out := append([]byte("Photoshop 3.0\x008BIM\x04\x04\x00\x00"), BE32(uint32(len(iim)))...) //nolint:gosec // short
	out = append(out, iim...)
	return append(out, make([]byte, len(iim)%2)...)
}

// Profile is a color profile with as much content as the code reads.
func Profile() []byte {
	p := make([]byte, 400)
	copy(p[16:], "RGB ")
	copy(p[36:], "acsp")
	copy(p[128:], "a wide gamut")
	return p
}

// Picture has a red corner at the top left.
func Picture(width, height int) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			c := color.RGBA{byte(x * 255 / width), byte(y * 255 / height), 200, 255} //nolint:gosec // a color
			if x < width/4 && y < height/4 {
				c = color.RGBA{255, 0, 0, 255}
			}
			img.SetRGBA(x, y, c)
		}
	}
	return img
}

// Segment is a marker segment of a JPEG.
func Segment(marker byte, body ...[]byte) []byte {
	content := slices.Concat(body...)
	return slices.Concat([]byte{0xFF, marker}, binary.BigEndian.AppendUint16(nil, uint16(len(content)+2)), content) //nolint:gosec // tests bound it
}

// PlainJPEG is a picture with a color profile and without metadata.
func PlainJPEG(width, height int) []byte {
	var b bytes.Buffer
	_ = jpeg.Encode(&b, Picture(width, height), &jpeg.Options{Quality: 95}) // a Buffer never fails
	return slices.Concat(b.Bytes()[:2], Segment(0xE2, []byte("ICC_PROFILE\x00\x01\x01"), Profile()), b.Bytes()[2:])
}

// JPEG is a picture with all metadata that a JPEG can have.
func JPEG(width, height, orientation int) []byte {
	plain := PlainJPEG(width, height)
	return slices.Concat(plain[:2],
		Segment(0xE0, []byte("JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x01\x01SEC")),
		Segment(0xE1, []byte("Exif\x00\x00"), EXIF(orientation)),
		Segment(0xE1, []byte("http://ns.adobe.com/xap/1.0/\x00"), XMP()),
		Segment(0xE1, []byte("http://ns.adobe.com/xmp/extension/\x00"), []byte("0123456789ABCDEF0123456789ABCDEF"),
			BE32(200, 0), []byte("<x GPSLatitude='SECRET'/>")),
		Segment(0xED, IPTC()),
		Segment(0xE2, []byte("MPF\x00SECRET")),
		Segment(0xEB, []byte("JP SECRET")),
		Segment(0xFE, []byte(Note)),
		plain[2:],
		plain, []byte("SECRET ftypmp42 "+Position)) // a second picture, and a motion photo's video
}

// Chunk is a chunk of a PNG.
func Chunk(kind string, body ...[]byte) []byte {
	content := slices.Concat(append([][]byte{[]byte(kind)}, body...)...)
	out := append(BE32(uint32(len(content)-4)), content...) //nolint:gosec // tests bound it
	return append(out, BE32(crc32.ChecksumIEEE(content))...)
}

// PNG is a picture with all metadata that a PNG can have.
func PNG(width, height, orientation int) []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, Picture(width, height)) // a Buffer never fails
	plain := b.Bytes()
	return slices.Concat(plain[:33], Chunk("gAMA", BE32(45455)),
		Chunk("eXIf", EXIF(orientation)), Chunk("tEXt", []byte("Location\x00"+Location)),
		Chunk("tEXt", []byte("Author\x00"+Creator)), Chunk("tIME", []byte{7, 234, 11, 22, 10, 11, 12}),
		Chunk("iTXt", []byte("XML:com.adobe.xmp\x00\x00\x00\x00\x00"), XMP()), Chunk("prVt", []byte("SECRET")),
		plain[33:], []byte("SECRET"))
}

func riff(kind string, body []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(body))) //nolint:gosec // tests bound it
	return append(append(out, body...), make([]byte, len(body)&1)...)
}

// WebP is a pixel with all metadata that a WebP can have.
func WebP(orientation int) []byte {
	pixel, _ := base64.StdEncoding.DecodeString("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==") // a constant
	body := slices.Concat([]byte("WEBP"), riff("VP8X", []byte{0x2C, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
		riff("ICCP", Profile()), pixel[12:],
		riff("EXIF", EXIF(orientation)), riff("XMP ", XMP()), riff("SECR", []byte("SECRET")))
	return append(riff("RIFF", body), "SECRET"...)
}

// GIF is an animation with comments and XMP.
func GIF() []byte {
	g := &gif.GIF{}
	for range 2 {
		g.Image, g.Delay = append(g.Image,
			image.NewPaletted(image.Rect(0, 0, 30, 20), color.Palette{color.White, color.Black})), append(g.Delay, 15)
	}
	var b bytes.Buffer
	_ = gif.EncodeAll(&b, g) // a Buffer never fails
	plain := b.Bytes()
	at := bytes.Index(plain, []byte("!\xFF\x0BNETSCAPE2.0"))
	trailer := []byte{1}
	for i := 255; i >= 0; i-- {
		trailer = append(trailer, byte(i)) //nolint:gosec // a byte
	}
	xmp := slices.Concat([]byte("!\xFF\x0BXMP DataXMP"), XMP(), trailer, []byte{0})
	comment := slices.Concat([]byte{'!', 0xFE, byte(len(Note))}, []byte(Note), []byte{0})
	return slices.Concat(plain[:at], comment, xmp, plain[at:], []byte("SECRET"))
}
