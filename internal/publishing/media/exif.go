package media

import (
	"bytes"
	"encoding/binary"
	"io"
)

// maxSegments bounds the number of segments read before the image data of a JPEG.
const maxSegments = 200

// jpegSegments calls see for every segment before the image data, until it returns
// false.
// ITU-T T.81, B.1.1
func jpegSegments(r io.ReaderAt, size int64, see func(marker byte, body []byte) (stop bool)) {
	var head [4]byte
	at := int64(2)
	for range maxSegments {
		if _, err := r.ReadAt(head[:], at); err != nil || head[0] != 0xFF {
			return
		}
		marker := head[1]
		if marker == 0xFF { // fill
			at++
			continue
		}
		length := int64(binary.BigEndian.Uint16(head[2:]))
		if marker == 0xDA || marker == 0xD9 || length < 2 || at+2+length > size {
			return
		}
		body := make([]byte, length-2)
		if marker&0xF0 == 0xE0 { // APPn
			if _, err := r.ReadAt(body, at+4); err != nil {
				return
			}
			if see(marker, body) {
				return
			}
		}
		at += 2 + length
	}
}

// jpegExif returns the EXIF data of a JPEG, which is a TIFF file; nil if there is none.
func jpegExif(r io.ReaderAt, size int64) (tiff []byte) {
	jpegSegments(r, size, func(marker byte, body []byte) bool {
		rest, ok := bytes.CutPrefix(body, []byte("Exif\x00\x00"))
		if marker != 0xE1 || !ok {
			return false
		}
		tiff = rest
		return true
	})
	return tiff
}

// orientation returns tag 0x0112 of the first directory; 1 if it is missing or
// invalid. CIPA DC-008 (Exif 2.32), 4.6.4 A
func orientation(tiff []byte) int {
	var order binary.ByteOrder = binary.BigEndian
	switch {
	case bytes.HasPrefix(tiff, []byte("II*\x00")):
		order = binary.LittleEndian
	case !bytes.HasPrefix(tiff, []byte("MM\x00*")):
		return 1
	}
	if len(tiff) < 8 {
		return 1
	}
	at := uint64(order.Uint32(tiff[4:]))
	if at+2 > uint64(len(tiff)) {
		return 1
	}
	count := uint64(order.Uint16(tiff[at:]))
	for i := range count {
		entry := at + 2 + i*12
		if entry+12 > uint64(len(tiff)) {
			return 1
		}
		if order.Uint16(tiff[entry:]) != 0x0112 {
			continue
		}
		if value := order.Uint16(tiff[entry+8:]); value >= 1 && value <= 8 {
			return int(value)
		}
		return 1
	}
	return 1
}
