// Package verify reads a file like a stranger who looks for a position in it. It shares no
// code with package metadata, so that a mistake there is noticed here.
//
// It looks at every byte that is not part of a picture or of sound.
package verify

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

const (
	maxIndex  = 64 << 20 // bytes of one moov, moof or of a header of WebM that are read
	window    = 1 << 20
	overlap   = 256
	maxRanges = 8 << 20
)

// HasPosition reports whether a file contains a position. An error means that this is not
// known.
func HasPosition(r io.ReaderAt, size int64, mimeType string) (bool, error) {
	f := &file{r: r, size: size, binary: slices.Contains([]string{"video/mp4", "video/quicktime"}, mimeType)}
	var err error
	switch mimeType {
	case "video/mp4", "video/quicktime":
		err = f.mp4()
	case "video/webm":
		err = f.webm(0, size)
	}
	if err != nil {
		return false, err
	}
	f.numbers = mimeType != "application/pdf" // drawings have pairs of decimals
	return f.scan()
}

type file struct {
	r       io.ReaderAt
	size    int64
	binary  bool        // names of boxes count
	numbers bool        // decimals in text count
	sampled [][2]int64  // pictures and sound
	sound   map[int]int // tracks of a WebM: their types
	visited int
}

func (f *file) bytes(from, to int64) ([]byte, error) {
	if to > f.size {
		to = f.size
	}
	if to-from > maxIndex {
		return nil, errors.New("an index is too long")
	}
	p := make([]byte, max(0, to-from))
	if n, err := f.r.ReadAt(p, from); n < len(p) {
		return nil, err
	}
	return p, nil
}

func (f *file) sample(from, length int64) error {
	if n := len(f.sampled); n > 0 && f.sampled[n-1][1] == from {
		f.sampled[n-1][1] += length
		return nil
	}
	if f.sampled = append(f.sampled, [2]int64{from, from + length}); len(f.sampled) > maxRanges {
		return errors.New("it has too many samples")
	}
	return nil
}

// isPicture reports whether a sample is a picture file, which may have a position of its own.
func (f *file) isPicture(at int64) bool {
	p, err := f.bytes(at, at+4)
	return err == nil && (bytes.HasPrefix(p, []byte("\xFF\xD8\xFF")) || bytes.HasPrefix(p, []byte("\x89PNG")))
}

// scan looks at everything between the samples.
func (f *file) scan() (bool, error) {
	slices.SortFunc(f.sampled, func(a, b [2]int64) int { return int(min(1, max(-1, a[0]-b[0]))) })
	at := int64(0)
	for _, s := range append(f.sampled, [2]int64{f.size, f.size}) {
		found, err := f.look(at, min(s[0], f.size))
		if found || err != nil {
			return found, err
		}
		at = max(at, s[1])
	}
	return false, nil
}

func (f *file) look(from, to int64) (bool, error) {
	for from < to {
		end := min(from+window, to)
		p, err := f.bytes(from, end)
		if err != nil {
			return false, err
		}
		if f.contains(p) {
			return true, nil
		}
		if end == to {
			break
		}
		from = end - overlap
	}
	return false, nil
}

func (f *file) contains(p []byte) bool {
	if len(bytes.TrimLeft(p, "\x00")) == 0 {
		return false
	}
	for _, name := range []string{"GPSLatitude", "GPSLongitude", "freeGPS ", "LIGOGPS"} {
		if bytes.Contains(p, []byte(name)) {
			return true
		}
	}
	if f.binary {
		for _, name := range []string{"\xA9xyz", "GPS5", "GPS9", "loci\x00\x00\x00\x00"} {
			if bytes.Contains(p, []byte(name)) {
				return true
			}
		}
	}
	if hasGPSDirectory(p, "II*\x00", binary.LittleEndian) || hasGPSDirectory(p, "MM\x00*", binary.BigEndian) {
		return true
	}
	return f.numbers && (hasNumbers(p) || hasNumbers(bytes.ReplaceAll(p, []byte{0}, nil)))
}

// hasGPSDirectory looks for a TIFF structure whose first directory leads to one of
// positions (CIPA DC-008, 4.6.3).
func hasGPSDirectory(p []byte, head string, order binary.ByteOrder) bool {
	for {
		at := bytes.Index(p, []byte(head))
		if at < 0 {
			return false
		}
		p = p[at:]
		if len(p) >= 8 {
			if first := int(order.Uint32(p[4:])); first > 0 && first+2 <= len(p) {
				for i, count := 0, int(order.Uint16(p[first:])); i < count && first+2+12*i+12 <= len(p); i++ {
					if order.Uint16(p[first+2+12*i:]) == 0x8825 {
						return true
					}
				}
			}
		}
		p = p[4:]
	}
}

// mp4 notes the samples of pictures and sound.
func (f *file) mp4() error {
	sizes := map[uint32]int64{}
	media := map[uint32]bool{}
	for at := int64(0); at+8 <= f.size; {
		head, err := f.bytes(at, at+16)
		if err != nil {
			return err
		}
		length, skip := int64(binary.BigEndian.Uint32(head)), int64(8)
		if length == 1 && len(head) == 16 {
			length, skip = int64(binary.BigEndian.Uint64(head[8:])&(1<<62-1)), 16 //nolint:gosec // masked
		}
		if length == 0 || length < skip || length > f.size-at {
			length = f.size - at
		}
		switch string(head[4:8]) {
		case "moov", "moof":
			body, err := f.bytes(at+skip, at+length)
			if err != nil {
				return err
			}
			if string(head[4:8]) == "moov" {
				err = f.moov(body, sizes, media)
			} else {
				err = f.moof(body, at, sizes, media)
			}
			if err != nil {
				return err
			}
		}
		at += length
	}
	return nil
}

// boxes calls see for each box in p.
func boxes(p []byte, see func(kind string, body []byte)) {
	for len(p) >= 8 {
		length := int(binary.BigEndian.Uint32(p))
		if length < 8 || length > len(p) {
			return
		}
		see(string(p[4:8]), p[8:length])
		p = p[length:]
	}
}

func number(p []byte, at int) int64 {
	if at < 0 || at+4 > len(p) {
		return 0
	}
	return int64(binary.BigEndian.Uint32(p[at:]))
}

func (f *file) moov(body []byte, sizes map[uint32]int64, media map[uint32]bool) (err error) {
	boxes(body, func(kind string, trak []byte) {
		if kind == "mvex" {
			boxes(trak, func(kind string, b []byte) {
				if kind == "trex" {
					sizes[uint32(number(b, 4))] = number(b, 16) //nolint:gosec // of 32 bits
				}
			})
		}
		if kind != "trak" {
			return
		}
		id, handler, tables := uint32(0), "", map[string][]byte{}
		var walk func(p []byte)
		walk = func(p []byte) {
			boxes(p, func(kind string, b []byte) {
				switch kind {
				case "tkhd":
					if id = uint32(number(b, 12)); len(b) > 0 && b[0] == 1 { //nolint:gosec // of 32 bits
						id = uint32(number(b, 20)) //nolint:gosec // of 32 bits
					}
				case "hdlr":
					if handler == "" && len(b) >= 12 {
						handler = string(b[8:12])
					}
				case "mdia", "minf", "stbl":
					walk(b)
				default:
					tables[kind] = b
				}
			})
		}
		walk(trak)
		if handler != "vide" && handler != "soun" && handler != "auxv" && handler != "pict" {
			return
		}
		media[id] = true
		if err == nil {
			err = f.tables(tables, handler == "soun")
		}
	})
	return err
}

// tables follows the tables of one track (ISO/IEC 14496-12, 8.7).
func (f *file) tables(tables map[string][]byte, isSound bool) error {
	sizes, runs := tables["stsz"], tables["stsc"]
	size := func(int64) int64 { return number(sizes, 4) }
	if number(sizes, 4) == 0 {
		size = func(i int64) int64 { return number(sizes, int(12+4*i)) }
	} else if isSound { // in QuickTime, the description says how long a frame is
		frame := int64(1)
		if d := tables["stsd"]; len(d) >= 36 {
			frame = max(1, int64(binary.BigEndian.Uint16(d[32:]))*int64(max(binary.BigEndian.Uint16(d[34:]), 8)/8))
		}
		size = func(int64) int64 { return max(number(sizes, 4), min(frame, 64)) }
	}
	count := number(sizes, 8)
	if number(sizes, 4) == 0 {
		count = min(count, int64(len(sizes))/4)
	}
	if small := tables["stz2"]; small != nil {
		width := int64(1)
		if len(small) > 7 {
			width = int64(small[7])
		}
		count = min(number(small, 8), 2*int64(len(small)))
		size = func(i int64) (value int64) {
			for bit := i * width; bit < (i+1)*width; bit += 4 {
				if at := 12 + bit/8; at < int64(len(small)) {
					value = value<<4 | int64(small[at]>>(4-bit%8)&15)
				}
			}
			return value
		}
	}
	offsets, width := tables["stco"], 4
	if offsets == nil {
		offsets, width = tables["co64"], 8
	}
	sample, row := int64(0), 0
	for chunk := int64(1); chunk <= min(number(offsets, 4), int64(len(offsets)/width)) && sample < count; chunk++ {
		for int64(row)+1 < number(runs, 4) && number(runs, 8+12*(row+1)) <= chunk {
			row++
		}
		at := number(offsets, 8+width*int(chunk-1))
		if width == 8 {
			at = at<<32 | number(offsets, 12+8*int(chunk-1))
		}
		if chunk == 1 && f.isPicture(at) {
			return nil
		}
		each := min(number(runs, 12+12*row), count-sample)
		length := int64(0)
		if number(sizes, 4) != 0 {
			length = each * size(0)
		} else {
			for i := range each {
				length += size(sample + i)
			}
		}
		if err := f.sample(at, length); err != nil {
			return err
		}
		sample += each
	}
	return nil
}

// moof notes the samples of a fragment (8.8).
func (f *file) moof(body []byte, start int64, sizes map[uint32]int64, media map[uint32]bool) (err error) {
	end := start
	boxes(body, func(kind string, traf []byte) {
		if kind != "traf" {
			return
		}
		var id uint32
		base, size := end, int64(0)
		boxes(traf, func(kind string, b []byte) {
			flags := number(b, 0) & 0xFFFFFF
			at := 8
			optional := func(flag int64, width int) int {
				if flags&flag == 0 {
					return -1
				}
				at += width
				return at - width
			}
			switch kind {
			case "tfhd":
				id = uint32(number(b, 4)) //nolint:gosec // of 32 bits
				size = sizes[id]
				if i := optional(1, 8); i >= 0 {
					base = number(b, i)<<32 | number(b, i+4)
				} else if flags&0x20000 != 0 {
					base = start
				}
				optional(2, 4)
				optional(8, 4)
				if i := optional(16, 4); i >= 0 {
					size = number(b, i)
				}
				end = base
			case "trun":
				if i := optional(1, 4); i >= 0 {
					end = base + int64(int32(number(b, i))) //nolint:gosec // signed
				}
				optional(4, 4)
				isPicture := f.isPicture(end)
				for range min(number(b, 4), int64(len(b))+min(f.size/max(size, 1), 1<<20)) {
					one := size
					optional(0x100, 4)
					if i := optional(0x200, 4); i >= 0 {
						one = number(b, i)
					}
					optional(0x400, 4)
					optional(0x800, 4)
					if media[id] && !isPicture && err == nil {
						err = f.sample(end, one)
					}
					end += one
				}
			}
		})
	})
	return err
}

// webm notes the blocks of pictures and sound (RFC 9559, 10).
func (f *file) webm(at, end int64) error {
	if f.sound == nil {
		f.sound = map[int]int{}
	}
	for at < end {
		if f.visited++; f.visited > maxRanges {
			return errors.New("it has too many elements")
		}
		head, err := f.bytes(at, min(at+24, end))
		if err != nil {
			return err
		}
		id, n := vint(head)
		length, m := vint(head[min(n, len(head)):])
		if n == 0 || m == 0 {
			return nil
		}
		start := at + int64(n+m)
		stop := start + length&(1<<(7*m)-1)
		if length&(1<<(7*m)-1) == 1<<(7*m)-1 || stop > end {
			stop = end
		}
		switch id {
		case 0x18538067, 0x1654AE6B, 0x1F43B675, 0xA0:
			if id == 0x1F43B675 && length&(1<<(7*m)-1) == 1<<(7*m)-1 {
				stop = start // its blocks follow as if they were beside it
				break
			}
			err = f.webm(start, stop)
		case 0xAE:
			body, readErr := f.bytes(start, stop)
			if readErr != nil {
				return readErr
			}
			f.track(body)
		case 0xA3, 0xA1:
			track, k := vint(head[min(n+m, len(head)):])
			if kind := f.sound[int(track&(1<<(7*k)-1))]; kind == 1 || kind == 2 {
				err = f.sample(start, stop-start)
			}
		}
		if err != nil {
			return err
		}
		at = stop
	}
	return nil
}

func (f *file) track(body []byte) {
	id, kind := 0, 0
	for len(body) > 0 {
		name, n := vint(body)
		length, m := vint(body[min(n, len(body)):])
		to := int64(n+m) + length&(1<<(7*m)-1)
		if n == 0 || m == 0 || to > int64(len(body)) || to < int64(n+m) {
			break
		}
		if content := body[n+m : to]; len(content) > 0 && name == 0xD7 {
			id = int(content[len(content)-1])
		} else if len(content) > 0 && name == 0x83 {
			kind = int(content[len(content)-1])
		}
		body = body[to:]
	}
	f.sound[id] = kind
}

// vint reads a number with its length marker.
func vint(p []byte) (value int64, length int) {
	if len(p) == 0 || p[0] == 0 {
		return 0, 0
	}
	length = 1
	for mask := byte(0x80); p[0]&mask == 0; mask >>= 1 {
		length++
	}
	if length > len(p) {
		return 0, 0
	}
	for _, b := range p[:length] {
		value = value<<8 | int64(b)
	}
	return value, length
}
