package metadata

import (
	"cmp"
	"errors"
	"io"
	"slices"
	"sort"
)

// Plan describes how to remove the metadata of a file.
type Plan struct {
	Removed []Category
	// Orientation is the EXIF orientation of an image; 1 is upright. Unless
	// Options.KeepOrientation was set, it is removed with everything else.
	Orientation int
	// Credit is the encoded form of what Options.KeepCredit keeps, for an image that is
	// re-encoded; see CreditOffset. nil: nothing.
	Credit []byte

	size  int64
	edits []edit
}

// edit replaces length bytes at an offset by data, then by zeros.
type edit struct {
	at, length int64
	data       []byte
	zeros      int64
}

// Changed reports whether the file is changed at all.
func (p *Plan) Changed() bool { return len(p.edits) > 0 }

// Size is how long the file is afterwards.
func (p *Plan) Size() int64 {
	size := p.size
	for _, e := range p.edits {
		size += int64(len(e.data)) + e.zeros - e.length
	}
	return size
}

func (p *Plan) cut(from, to int64) {
	if to = min(to, p.size); to > from {
		p.edits = append(p.edits, edit{at: from, length: to - from})
	}
}

func (p *Plan) insert(at int64, data []byte) {
	if len(data) > 0 {
		p.edits = append(p.edits, edit{at: at, data: data})
	}
}

func (p *Plan) replace(from, to int64, data []byte) {
	p.edits = append(p.edits, edit{at: from, length: to - from, data: data})
}

// overwrite keeps the file's length.
func (p *Plan) overwrite(at int64, data []byte) {
	p.replace(at, at+int64(len(data)), data)
}

func (p *Plan) zero(from, to int64) {
	if to = min(to, p.size); to > from {
		p.edits = append(p.edits, edit{at: from, length: to - from, zeros: to - from})
	}
}

// settle sorts the edits. Edits overlap only in a file whose parts overlap; then the
// first one takes precedence, and the second one applies to the rest. It merges
// neighbors.
func (p *Plan) settle() {
	slices.SortStableFunc(p.edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	out := p.edits[:0]
	end := int64(0)
	for _, e := range p.edits {
		if over := min(end-e.at, e.length); over > 0 {
			if e.zeros == e.length {
				e.zeros -= over
			}
			e.at, e.length = e.at+over, e.length-over
			e.data = e.data[min(over, int64(len(e.data))):]
			if e.length == 0 && e.zeros == 0 {
				continue
			}
		}
		e.at = max(e.at, end)
		end = e.at + e.length
		if n := len(out); n > 0 && e.data == nil && out[n-1].at+out[n-1].length == e.at &&
			(out[n-1].zeros > 0) == (e.zeros > 0) && (e.zeros > 0 || out[n-1].data == nil) {
			out[n-1].length += e.length
			out[n-1].zeros += e.zeros
			continue
		}
		out = append(out, e)
	}
	p.edits = out
}

// Reader reads the file after the plan. It reads the original on the fly, and is not
// safe for concurrent use.
type Reader struct {
	src    io.ReaderAt
	pieces []piece
	size   int64
	at     int64
}

// piece is a stretch of the file: of the original, of data, or of zeros.
type piece struct {
	start, length int64
	from          int64 // in the original; negative: data or zeros
	data          []byte
}

// NewReader reads the file afterwards. src is the original.
func (p *Plan) NewReader(src io.ReaderAt) *Reader {
	r := &Reader{src: src}
	add := func(length, from int64, data []byte) {
		if length > 0 {
			r.pieces = append(r.pieces, piece{r.size, length, from, data})
			r.size += length
		}
	}
	at := int64(0)
	for _, e := range p.edits {
		add(e.at-at, at, nil)
		add(int64(len(e.data)), -1, e.data)
		add(e.zeros, -1, nil)
		at = e.at + e.length
	}
	add(p.size-at, at, nil)
	return r
}

// ReadAt implements io.ReaderAt.
func (r *Reader) ReadAt(p []byte, offset int64) (read int, err error) {
	if offset < 0 {
		return 0, errors.New("there is nothing before the beginning")
	}
	i := sort.Search(len(r.pieces), func(i int) bool { return r.pieces[i].start+r.pieces[i].length > offset })
	for ; read < len(p) && i < len(r.pieces); i++ {
		part := r.pieces[i]
		within := offset + int64(read) - part.start
		target := p[read:][:min(int64(len(p)-read), part.length-within)]
		switch {
		case part.from >= 0:
			n, err := r.src.ReadAt(target, part.from+within)
			if n < len(target) {
				if err == nil || errors.Is(err, io.EOF) {
					err = io.ErrUnexpectedEOF
				}
				return read + n, err
			}
		case part.data != nil:
			copy(target, part.data[within:])
		default:
			clear(target)
		}
		read += len(target)
	}
	if read < len(p) {
		return read, io.EOF
	}
	return read, nil
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if r.at >= r.size {
		return 0, io.EOF
	}
	n, err := r.ReadAt(p[:min(int64(len(p)), r.size-r.at)], r.at)
	r.at += int64(n)
	return n, err
}

// Seek implements io.Seeker.
func (r *Reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return r.at, errors.New("there is nothing before the beginning")
	}
	r.at = offset
	return offset, nil
}
